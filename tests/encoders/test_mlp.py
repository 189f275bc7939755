"""What an encoder does before it is trained: statistics, Fourier features, activations."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from minaction._descriptions import make
from minaction.encoders import ENCODERS, MLP, _inputs, input_statistics
from minaction.encoders._fourier import FourierFeatures, lowered
from minaction.encoders._mlp import MLPModule
from minaction.encoders._perceptron import selu
from minaction.errors import InputError


def test_selu_and_its_gradient_are_those_of_jax() -> None:
    x = jnp.concatenate([jnp.linspace(-30, 30, 2001), jnp.array([-1e30, 1e30, -1e-30, 1e-30])])
    np.testing.assert_allclose(selu(x), jax.nn.selu(x), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(selu))(x), jax.vmap(jax.grad(jax.nn.selu))(x), rtol=1e-5, atol=1e-6)


def test_the_rate_is_the_typical_change_of_a_step_and_knows_where_episodes_end() -> None:
    slow, fast, still = np.arange(8) % 4, np.tile([0.0, 10.0], 4), np.ones(8)  # two episodes of four states
    states = np.stack([slow, fast, still], axis=1).astype(np.float32)
    found = input_statistics(states, np.array([0, 4, 8]))
    np.testing.assert_allclose(found.rate, [1 / slow.std(), 10 / fast.std(), 0], rtol=1e-6)
    assert input_statistics(states).rate[0] > found.rate[0], "as one episode it would jump back in the middle"


def test_more_rows_than_are_looked_at_are_cut_where_episodes_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_inputs, "_MOST_ROWS", 25)
    states = np.tile(np.arange(10, dtype=np.float32)[:, None], (4, 1))  # four walks along ten cells
    assert not input_statistics(states, np.array([0, 10, 20, 30, 40])).misleading


def test_a_single_state_has_no_rate() -> None:
    np.testing.assert_array_equal(input_statistics(np.ones((1, 2), np.float32)).rate, [0, 0])


def test_only_inputs_that_change_much_faster_than_the_slowest_get_lower_frequencies() -> None:
    found = lowered(2.0, jnp.array([0.01, 0.03, 0.3, 0.0]), most=3.0)
    np.testing.assert_allclose(found, [2.0, 2.0, 0.2, 2.0], rtol=1e-5)
    np.testing.assert_array_equal(lowered(2.0, jnp.zeros(3), most=3.0), np.full(3, 2.0))


def test_noise_gets_no_frequencies_and_what_a_step_changes_much_gets_lower_ones() -> None:
    random = np.random.default_rng(0)
    remembered = np.array([0.0, 0.3, 0.8])  # correlation from one step to the next
    states = random.normal(size=(40_000, 3))
    for k in range(1, len(states)):
        states[k] = remembered * states[k - 1] + np.sqrt(1 - remembered**2) * states[k]
    rate = input_statistics(states.astype(np.float32)).rate
    np.testing.assert_allclose(lowered(2.0, rate, most=100.0), [0, 2 * 2 * 0.3, 2], atol=0.08)


def test_frequencies_have_the_spread_asked_for_input_by_input() -> None:
    features = FourierFeatures(20_000, jnp.array([2.0, 0.1]), key=jax.random.key(0))
    assert np.asarray(features.frequencies).std(axis=0) == pytest.approx([2.0, 0.1], rel=0.03)


def test_a_span_of_frequencies_has_every_scale_equally_often() -> None:
    features = FourierFeatures(40_000, jnp.array([2.0]), span=64.0, key=jax.random.key(0))
    plain = FourierFeatures(40_000, jnp.array([2.0]), key=jax.random.key(0))
    divided = np.asarray(plain.frequencies / features.frequencies)[:, 0]
    share = np.histogram(np.log2(divided), bins=6, range=(0, 6))[0] / len(divided)
    np.testing.assert_allclose(share, 1 / 6, atol=0.01)


BOARDS = np.array(list(itertools.permutations(range(5))), np.float32)


def _waves(states: np.ndarray, codes: float) -> np.ndarray:
    """The features of all boards, (boards, frequencies, 2), of an encoder that is built for `states`."""
    described = MLP(hidden=(), latent=3, fourier=200, fourier_unit="step", fourier_span=40.0, fourier_codes=codes)
    encoder = described.build(input_statistics(states), key=jax.random.key(0))
    assert isinstance(encoder, MLPModule)
    assert encoder.fourier is not None
    waves = np.asarray(encoder.fourier(encoder.scale(jnp.asarray(BOARDS))))[:, BOARDS.shape[1] :]
    return waves.reshape(len(BOARDS), 2, 200).transpose(0, 2, 1)


def _greatest_likeness(waves: np.ndarray) -> float:
    """Of any two boards."""
    flat = waves.reshape(len(waves), -1)
    return float(np.triu(flat @ flat.T / flat.shape[1], 1).max())


def test_where_looks_mislead_some_features_give_each_state_a_code_of_its_own() -> None:
    order = np.random.default_rng(0).permutation(len(BOARDS))
    waves = _waves(np.tile(BOARDS[order], (5, 1)), codes=0.5)
    assert _greatest_likeness(waves[:, 100:]) < 0.5
    assert _greatest_likeness(waves[:, :100]) > 0.8, "or there was no need"


def test_where_states_do_not_repeat_or_look_alike_beside_each_other_there_are_no_codes() -> None:
    once = BOARDS[np.random.default_rng(0).permutation(len(BOARDS))]
    swapped = [0]  # by two tiles that follow each other, which is as alike as boards get
    random = np.random.default_rng(1)
    number = {board.tobytes(): k for k, board in enumerate(BOARDS)}
    for _ in range(3000):
        tile, board = random.integers(4), BOARDS[swapped[-1]].copy()
        low, high = board == tile, board == tile + 1
        board[low], board[high] = tile + 1, tile
        swapped.append(number[board.tobytes()])
    for states in (once, BOARDS[swapped]):
        np.testing.assert_array_equal(_waves(states, codes=0.5), _waves(states, codes=0.0))


def test_a_share_of_codes_is_between_0_and_1() -> None:
    with pytest.raises(InputError, match="fourier_codes of an MLP is a share from 0 to 1, not 2"):
        MLP(fourier_codes=2.0)


def _scaled(states: np.ndarray, scaling: str) -> np.ndarray:
    described = MLP(hidden=(), latent=3, scaling=scaling)  # type: ignore[arg-type]
    encoder = described.build(input_statistics(states), key=jax.random.key(0))
    assert isinstance(encoder, MLPModule)
    return np.asarray(encoder.scale(jnp.asarray(states)))


def test_inputs_are_scaled_each_by_itself_or_all_by_one_number_or_by_range_or_not_at_all() -> None:
    states = np.random.default_rng(0).normal([5, -1, 3], [6, 0.5, 0], (2000, 3)).astype(np.float32)
    each, shared = _scaled(states, "each"), _scaled(states, "shared")
    np.testing.assert_allclose(each.std(axis=0), [1, 1, 0], atol=1e-5)
    np.testing.assert_allclose(shared.mean(axis=0), 0, atol=1e-5)
    assert np.sqrt((shared[:, :2].std(axis=0) ** 2).mean()) == pytest.approx(1, rel=1e-5), (
        "what never changes is left out"
    )
    ratio = states[:, 0].std() / states[:, 1].std()
    assert shared[:, 0].std() / shared[:, 1].std() == pytest.approx(ratio, rel=1e-4)
    by_range = _scaled(states, "range")
    np.testing.assert_allclose(by_range.min(axis=0), 0, atol=1e-5)
    assert by_range.max() == pytest.approx(1, rel=1e-5)
    assert by_range[:, 0].std() / by_range[:, 1].std() == pytest.approx(ratio, rel=1e-4)
    np.testing.assert_array_equal(_scaled(states, "none"), states)


def test_an_unknown_scaling_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InputError, match="scaling should be one of 'each', 'shared', 'range', 'none', not 'share'"):
        make(ENCODERS, {"name": "mlp", "scaling": "share"})


def test_statistics_have_the_shape_of_a_state() -> None:
    images = np.random.default_rng(0).integers(0, 256, (30, 4, 5, 3), dtype=np.uint8)
    found = input_statistics(images)
    assert found.mean.shape == found.scale.shape == found.rate.shape == (4, 5, 3)
    np.testing.assert_allclose(found.mean, images.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.scale, images.std(axis=0), rtol=1e-5)
    change = np.diff(images.astype(float), axis=0)
    np.testing.assert_allclose(found.rate, np.sqrt((change**2).mean(axis=0)) / images.std(axis=0), rtol=1e-5)
    assert found.flattened().mean.shape == (60,)
