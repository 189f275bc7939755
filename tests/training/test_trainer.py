from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from minaction._model import DistanceModel
from minaction._trees import named_leaves
from minaction.encoders import MLP
from minaction.errors import InputError
from minaction.evaluation import evaluate
from minaction.exact import observed_distance
from minaction.objectives import MadDist, TautDist
from minaction.tasks import Truth
from minaction.training import Trainer, fit
from minaction.trajectories import Trajectories

SMALL = MadDist(encoder=MLP(hidden=(32,), latent=16), batch_size=32, constraint_batch_size=64)


def weights(trainer: Trainer) -> dict[str, np.ndarray]:
    return named_leaves(trainer.state.network)


def assert_same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


def test_the_same_seed_gives_the_same_weights_however_the_training_is_cut(line_walks: Trajectories) -> None:
    whole = Trainer(SMALL, line_walks, steps=30, seeds=[3])
    whole.advance(30)
    cut = Trainer(SMALL, line_walks, steps=30, seeds=[3])
    for length in (1, 12, 17):
        cut.advance(length)
    assert_same(weights(whole), weights(cut))


def test_models_have_the_mean_of_the_latest_weights(line_walks: Trajectories) -> None:
    trainer = Trainer(replace(SMALL, averaging=0.5), line_walks, steps=6, seeds=[3])
    name = "encoder.perceptron.layers.0.weight"
    assert np.array_equal(named_leaves(trainer.models()[0].network)[name], weights(trainer)[name][0])
    expected = np.zeros(())
    for step in range(6):
        trainer.advance(1)
        expected = expected + (weights(trainer)[name][0] - expected) / (1 + 0.5 * step)
    found = named_leaves(trainer.models()[0].network)
    np.testing.assert_allclose(found[name], expected, rtol=1e-5, atol=1e-7)
    assert not np.allclose(found[name], weights(trainer)[name][0], rtol=1e-5, atol=1e-7)
    scale = "encoder.scale.scale"
    np.testing.assert_array_equal(found[scale], weights(trainer)[scale][0])


def test_models_can_have_the_last_weights(line_walks: Trajectories) -> None:
    trainer = Trainer(replace(SMALL, averaging=0.0), line_walks, steps=4, seeds=[3])
    trainer.advance(4)
    last = {name: values[0] for name, values in weights(trainer).items()}
    assert_same(last, named_leaves(trainer.models()[0].network))
    averaged = Trainer(SMALL, line_walks, steps=4, seeds=[3])
    averaged.advance(4)
    assert_same(weights(trainer), weights(averaged))  # averaging does nothing to the training itself


def test_seeds_differ(line_walks: Trajectories) -> None:
    trainer = Trainer(SMALL, line_walks, steps=2, seeds=[0, 1])
    trainer.advance(2)
    first = weights(trainer)["encoder.perceptron.layers.0.weight"]
    assert not np.array_equal(first[0], first[1])


def test_seeds_side_by_side_learn_what_each_learns_alone(line_walks: Trajectories) -> None:
    together = Trainer(SMALL, line_walks, steps=20, seeds=[4, 9])
    together.advance(20)
    alone = Trainer(SMALL, line_walks, steps=20, seeds=[9])
    alone.advance(20)
    if jax.default_backend() == "cpu":
        assert_same(*({name: values[-1] for name, values in weights(trainer).items()} for trainer in (alone, together)))
    assert_alike(alone.models()[0], together.models()[1], line_walks.distinct.states)


def assert_alike(first: DistanceModel, second: DistanceModel, states: np.ndarray) -> None:
    """Equal but for rounding: Adam turns the last bit of a tiny gradient into a step of full size."""
    expected = first.pairwise(states, states)
    np.testing.assert_allclose(second.pairwise(states, states), expected, atol=0.02 * expected.max())


def test_encoding_distinct_states_once_gives_the_same_gradients(line_walks: Trajectories) -> None:
    gradients = []
    for distinct in (True, False):
        trainer = Trainer(SMALL, line_walks, steps=10, encode_distinct=distinct)
        tables, states = trainer._data if trainer._replicas.batched else trainer._data[0]
        batch = SMALL.sample(jax.random.key(5), tables)
        distance = jax.tree.map(lambda leaf: leaf[0], trainer.state.network)
        gradients.append(
            named_leaves(jax.grad(lambda d, s=states, b=batch: SMALL.loss(d, (), b, s, jnp.zeros(()))[0])(distance))
        )
    for name, values in gradients[0].items():
        np.testing.assert_allclose(values, gradients[1][name], rtol=1e-4, atol=1e-5, err_msg=name)


def test_a_seed_learns_from_its_own_data(line_walks: Trajectories) -> None:
    other = Trajectories.from_episodes([line_walks.episode(0) * 3 + 100, line_walks.episode(1)[:7]])
    trainer = Trainer(SMALL, [line_walks, other], steps=10, seeds=[0, 1])
    trainer.advance(10)
    alone = Trainer(SMALL, other, steps=10, seeds=[1])
    alone.advance(10)
    assert_alike(alone.models()[0], trainer.models()[1], other.states)


def test_restoring_a_checkpoint_goes_on_to_the_same_weights(line_walks: Trajectories, tmp_path: Path) -> None:
    undisturbed = Trainer(SMALL, line_walks, steps=20, seeds=[0, 1])
    undisturbed.advance(20)
    first = Trainer(SMALL, line_walks, steps=20, seeds=[0, 1])
    first.advance(9)
    first.save(tmp_path / "checkpoint.safetensors")
    second = Trainer(SMALL, line_walks, steps=20, seeds=[0, 1])
    second.restore(tmp_path / "checkpoint.safetensors")
    assert second.step == 9
    second.advance(11)
    assert_same(weights(undisturbed), weights(second))


@pytest.mark.parametrize("change", ["steps", "seeds", "settings", "data"])
def test_a_checkpoint_of_something_else_is_refused(change: str, line_walks: Trajectories, tmp_path: Path) -> None:
    Trainer(SMALL, line_walks, steps=20).save(tmp_path / "checkpoint.safetensors")
    other = Trainer(
        replace(SMALL, separation_weight=3.0) if change == "settings" else SMALL,
        line_walks.first(5) if change == "data" else line_walks,
        steps=21 if change == "steps" else 20,
        seeds=[7] if change == "seeds" else [0],
    )
    with pytest.raises(InputError, match=change):
        other.restore(tmp_path / "checkpoint.safetensors")


def test_memory_mapped_data_trains_to_the_same_weights(line_walks: Trajectories, tmp_path: Path) -> None:
    line_walks.save(tmp_path / "walks.safetensors")
    mapped = Trajectories.load(tmp_path / "walks.safetensors", memory_map=True)
    assert mapped.is_mapped
    fed = Trainer(SMALL, mapped, steps=20, seeds=[0, 1])
    held = Trainer(SMALL, line_walks, steps=20, seeds=[0, 1], encode_distinct=False)
    for length in (8, 8, 4):
        fed.advance(length)
        held.advance(length)
    for name, values in weights(held).items():
        np.testing.assert_allclose(values, weights(fed)[name], rtol=1e-4, atol=1e-6, err_msg=name)


def test_elapsed_times_count_instead_of_steps(line_walks: Trajectories) -> None:
    """The semi-Markov case: where every step takes 5, distances come out five times as long."""
    times = np.concatenate([5.0 * np.arange(length) for length in line_walks.lengths])
    slow = Trajectories.from_flat(line_walks.states, line_walks.offsets, times)
    states, distances = observed_distance(slow)
    objective = TautDist(encoder=MLP(hidden=(64,), latent=32, fourier=8), learning_rate=2e-3)
    model = fit(slow, objective, steps=1500, progress=False)
    found = evaluate(model, [Truth.between("observed", "steps", states, distances)])["observed"]
    assert distances.max() == 45
    assert found.pearson > 0.99
    assert 0.95 < found.mean_ratio < 1.05


@pytest.mark.parametrize(("steps", "seeds"), [(0, [0]), (-3, [0]), (5, []), (5, [-1]), (5, [1 << 32])])
def test_nothing_to_do_is_refused(steps: int, seeds: list[int], line_walks: Trajectories) -> None:
    with pytest.raises(InputError):
        Trainer(SMALL, line_walks, steps=steps, seeds=seeds)
