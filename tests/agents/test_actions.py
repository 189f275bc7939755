"""What kind of actions a recording has, and how likely they are."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from minaction import InputError, Trajectories
from minaction.agents._actions import Actions


def recording(actions: np.ndarray) -> Trajectories:
    states = np.arange(2 * len(actions), dtype=np.float32).reshape(-1, 2)
    return Trajectories.from_flat(states, actions=actions)


def test_numbers_of_choices_one_hot_choices_and_plain_numbers_are_told_apart() -> None:
    numbered = Actions.of(recording(np.array([[0], [3], [1], [9]])))
    assert (numbered.choices, numbered.one_hot) == (4, False)  # the last of an episode is unused
    one_hot = Actions.of(recording(np.eye(3)[[0, 2, 1, 0]]))
    assert (one_hot.choices, one_hot.one_hot) == (3, True)
    numbers = Actions.of(recording(np.array([[-1.0, 0.5], [1.0, 0.0], [0.0, 0.25], [7.0, 7.0]])))
    assert (numbers.choices, numbers.low, numbers.high) == (0, (-1.0, 0.0), (1.0, 0.5))


@pytest.mark.parametrize("unused", [99.0, np.nan, -1.0])
def test_whatever_stands_after_the_last_state_is_not_used(unused: float) -> None:
    actions = np.array([[0.0], [3.0], [1.0], [unused]])
    targets = Actions.of(recording(actions)).targets(actions)
    assert targets[:3].argmax(axis=1).tolist() == [0, 3, 1]
    assert np.isfinite(targets).all()


def test_a_recording_without_actions_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match="keep_actions"):
        Actions.of(Trajectories.from_flat(np.zeros((3, 2))))


def test_an_action_at_a_bound_counts_as_anything_beyond() -> None:
    kind = Actions((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    output, deviation, target = np.array([[0.3, 0.6, -0.2]]), np.array([0.5, 0.4, 0.3]), np.array([[0.1, 1.0, -1.0]])
    found = kind.loss(jnp.asarray(output), jnp.asarray(deviation), jnp.asarray(target))
    expected = -(norm.logpdf(0.1, 0.3, 0.5) + norm.logsf(1.0, 0.6, 0.4) + norm.logcdf(-1.0, -0.2, 0.3))
    assert float(found[0]) == pytest.approx(expected, rel=1e-5)


def test_noise_before_clipping_does_not_draw_the_likeliest_mean_inwards() -> None:
    random, mean = np.random.default_rng(0), 0.8
    taken = np.clip(mean + random.normal(0.0, 0.5, (20_000, 1)), -1.0, 1.0)
    kind = Actions((-1.0,), (1.0,))
    tried = np.linspace(0.3, 1.2, 91)
    losses = [
        float(kind.loss(jnp.full((len(taken), 1), m), jnp.full(1, 0.5), jnp.asarray(taken)).mean()) for m in tried
    ]
    assert tried[int(np.argmin(losses))] == pytest.approx(mean, abs=0.02)
    assert taken.mean() < mean - 0.1  # which is what least squares would learn


def test_decoding_gives_what_an_environment_takes() -> None:
    assert Actions((0.0,), (2.0,), choices=3).decode(np.array([0.1, 2.0, 0.3])) == 1
    clipped = Actions((-1.0, -1.0), (1.0, 1.0)).decode(np.array([3.0, -0.5]))
    assert clipped.dtype == np.float32
    assert clipped.tolist() == [1.0, -0.5]
