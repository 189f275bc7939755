"""What every objective must do inside the one trainer, checked for all presets with tiny networks."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from minaction._descriptions import make
from minaction._distance import Distance
from minaction._trees import named_leaves
from minaction.encoders import MLP, Ensemble, Projected
from minaction.objectives import OBJECTIVES, Objective, TrainingObjective, make_objective
from minaction.objectives._states import RecordedStates, States, as_table, with_more
from minaction.quasimetrics import IQE, QUASIMETRICS
from minaction.testing import check_objective
from minaction.training._trainer import Trainer
from minaction.trajectories._dataset import Trajectories

STEPS, CHUNK = 60, 20
SMALL = MLP(hidden=(16,), latent=8)
TINY: dict[str, dict[str, Any]] = {
    "pathdist": {"encoder": replace(SMALL, fourier=4), "batch_size": 32, "bound_batch_size": 32},
    "tautdist": {"encoder": replace(SMALL, fourier=4), "batch_size": 32, "bound_batch_size": 32},
    "maddist": {"encoder": SMALL, "batch_size": 32, "constraint_batch_size": 32},
    "tdmaddist": {"encoder": SMALL, "batch_size": 32, "constraint_batch_size": 32},
    "plandist": {"encoder": SMALL, "batch_size": 32},
    "qrl": {
        "encoder": Projected(replace(SMALL, activation="relu"), hidden=(), latent=16),
        "quasimetric": IQE(component_size=4),
        "batch_size": 32,
    },
    "hilbert": {
        "encoder": Ensemble(MLP(hidden=(16,), latent=8, activation="gelu", layer_norm=True, scaling="none")),
        "batch_size": 32,
    },
}
# The loss of TautDist need not fall: a weight in it rises, and so does the length that slack is measured by.
FALLING = {"tautdist": "strain"}
EXPECTED_TERMS = {
    "pathdist": {"path", "embedding", "bound"},
    "tautdist": {"slack", "strain", "overstretched", "above_median", "median"},
    "maddist": {"trajectory", "separation", "constraint"},
    "tdmaddist": {"trajectory", "random_goal", "constraint", "bootstrap_tighter"},
    "plandist": {"trajectory", "constraint"},
    "qrl": {"push", "constraint", "violation", "multiplier"},
    "hilbert": {"expectile", "value_low", "value_high"},
}


def tiny(preset: str) -> Objective:
    return make_objective(preset, {**TINY[OBJECTIVES[preset].name], "learning_rate": 3e-3})


def chain_walks() -> Trajectories:
    """Random walks on a chain of twelve states, one episode of a single state among them."""
    generator = np.random.default_rng(0)
    episodes = []
    for length in (40, 1, 25, 60, 2):
        position = np.clip(np.cumsum(generator.choice([-1, 1, 1], size=length)), 0, 11)
        episodes.append(np.stack([position, (position % 3)], axis=1))
    return Trajectories.from_episodes(episodes)


@dataclass(frozen=True)
class Run:
    """A training of two seeds from beginning to end, and what it was at the first stop."""

    trainer: Trainer
    terms: list[dict[str, np.ndarray]]
    checkpoint: Any
    first_stop: dict[str, np.ndarray]
    end: dict[str, np.ndarray]


def tensors(trainer: Trainer) -> dict[str, np.ndarray]:
    state = trainer.state._replace(keys=jax.random.key_data(trainer.state.keys))
    return {name: np.array(leaf) for name, leaf in named_leaves(state).items()}


def start(preset: str, data: Trajectories) -> Trainer:
    return Trainer(tiny(preset), data, steps=STEPS, seeds=[0, 1])


@pytest.fixture(scope="module")
def data() -> Trajectories:
    return chain_walks()


# The variants compile to programs of their own but differ from the others in numbers alone.
VARIANTS = ("maddist-gain", "tdmaddist-paper-table", "plandist-simple", "qrl-long", "qrl-nn2", "qrl-nn3", "hilbert-nn2")


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.slow if name in VARIANTS else ()) for name in OBJECTIVES],
)
def run(request: pytest.FixtureRequest, data: Trajectories, tmp_path_factory: pytest.TempPathFactory) -> Run:
    trainer = start(request.param, data)
    checkpoint = tmp_path_factory.mktemp("run") / "checkpoint.safetensors"
    terms = [trainer.advance(CHUNK)]
    trainer.save(checkpoint)
    first_stop = tensors(trainer)
    while trainer.step < STEPS:
        terms.append(trainer.advance(CHUNK))
    return Run(trainer, terms, checkpoint, first_stop, tensors(trainer))


def assert_same_bits(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


# ---------------------------------------------------------------- the public contract


def test_every_objective_has_a_tiny_version_here() -> None:
    assert set(TINY) == {objective.name for objective in OBJECTIVES.values()}


@pytest.mark.parametrize(
    "preset", [pytest.param(name, marks=pytest.mark.slow if "-" in name else ()) for name in OBJECTIVES]
)
def test_every_member_keeps_the_public_contract(preset: str) -> None:
    check_objective(tiny(preset))


# ---------------------------------------------------------------- training


def test_every_term_is_finite_for_every_seed_and_the_loss_falls(run: Run) -> None:
    names = EXPECTED_TERMS[run.trainer.objective.name]
    for terms in run.terms:
        assert set(terms) == names | {"loss"}
        for name, values in terms.items():
            assert values.shape == (2,), name
            assert np.isfinite(values).all(), name
    falling = FALLING.get(run.trainer.objective.name, "loss")
    assert (run.terms[-1][falling] < run.terms[0][falling]).all()


def test_seeds_differ(run: Run) -> None:
    weights = [leaf for name, leaf in run.end.items() if name.startswith("network.encoder") and name.endswith("weight")]
    assert any(np.any(leaf[0] != leaf[1]) for leaf in weights)


def test_the_same_seeds_give_the_same_bits_and_a_resumed_training_ends_like_an_uninterrupted_one(
    run: Run, data: Trajectories
) -> None:
    again = Trainer(run.trainer.objective, data, steps=STEPS, seeds=[0, 1])
    again.advance(CHUNK)
    assert_same_bits(tensors(again), run.first_stop)
    again.advance(CHUNK)  # somewhere else, so that restoring has to undo something
    again.restore(run.checkpoint)
    assert again.step == CHUNK
    assert_same_bits(tensors(again), run.first_stop)
    while again.step < STEPS:
        again.advance(CHUNK)
    assert_same_bits(tensors(again), run.end)


def test_the_trained_model_is_a_distance(run: Run, data: Trajectories) -> None:
    for model in run.trainer.models():
        found = model.pairwise(data.distinct.states, data.distinct.states)
        assert np.isfinite(found).all()
        assert (found >= 0).all()
        np.testing.assert_allclose(np.diag(found), 0, atol=1e-6)
        assert found.max() > 0


# ---------------------------------------------------------------- what a batch means


@eqx.filter_jit
@eqx.filter_value_and_grad
def value_and_gradient(distance: Distance, objective: TrainingObjective, extra: Any, batch: Any, states: States) -> Any:
    return objective.loss(distance, extra, batch, states, jnp.asarray(0.5))[0]


def gradient_of(run: Run, batch: Any, states: States, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Loss and gradient of one seed as it stands, the gradient as one vector."""
    distance, extra = jax.tree.map(lambda leaf: leaf[seed], (run.trainer.state.network, run.trainer.state.extra))
    value, gradient = value_and_gradient(distance, run.trainer.objective, extra, batch, states)
    return np.asarray(value), np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(gradient)])


def test_recorded_distinct_and_fed_states_give_the_same_gradient(run: Run, data: Trajectories) -> None:
    errors = np.array([_gradient_errors(run, data, seed) for seed in range(2)])
    assert errors.max() < 1e-3
    # Where a unit is 0 to rounding for some state, it may count or not: that does not happen to both seeds.
    assert (errors.min(axis=0) < 1e-5).all(), errors


def _gradient_errors(run: Run, data: Trajectories, seed: int) -> list[float]:
    """How far the gradients by distinct states, on both kinds of devices, and by fed states are off, of one seed."""
    table = jax.tree.map(jnp.asarray, run.trainer.objective.tables(data))
    batch, more = run.trainer.objective.sample(jax.random.key(5), table), run.trainer.objective.more_states(table)
    states = with_more(data.states, more)
    leaves, structure = jax.tree.flatten(batch)
    rows, renumbered, position = [], [], 0
    for leaf in leaves:
        if not jnp.issubdtype(leaf.dtype, jnp.integer):
            assert (leaf >= 0).all()  # times that passed; lengths of paths, which lead from a state to itself too
            assert run.trainer.objective.name == "pathdist" or (leaf > 0).all()
            renumbered.append(leaf)
            continue
        assert 0 <= leaf.min() <= leaf.max() < len(states)
        rows.append(states[np.ravel(leaf)])
        renumbered.append(jnp.arange(position, position + leaf.size).reshape(leaf.shape))
        position += leaf.size
    recorded = gradient_of(run, batch, RecordedStates(jnp.asarray(states)), seed)
    fed = RecordedStates(jnp.asarray(np.concatenate(rows)))
    assert len(data.distinct) < 13
    errors = []
    for other in (
        gradient_of(run, batch, as_table(data, more), seed),
        gradient_of(run, batch, as_table(data, more, on_cpu=True), seed),
        gradient_of(run, jax.tree.unflatten(structure, renumbered), fed, seed),
    ):
        np.testing.assert_allclose(other[0], recorded[0], rtol=1e-5)
        errors.append(float(np.linalg.norm(other[1] - recorded[1]) / np.linalg.norm(recorded[1])))
    return errors


# ---------------------------------------------------------------- a description of itself


@pytest.mark.parametrize("preset", OBJECTIVES)
def test_an_objective_describes_itself_and_cannot_be_changed(preset: str) -> None:
    objective = OBJECTIVES[preset]
    assert json.loads(json.dumps(objective.hyperparameters()))["batch_size"] > 0
    assert type(objective).__doc__
    assert "d(" in type(objective).__doc__ or "V_k(" in type(objective).__doc__  # type: ignore[operator]
    assert hash(objective) == hash(make_objective(preset))
    with pytest.raises(FrozenInstanceError):
        objective.learning_rate = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("preset", "quasimetric"),
    [
        ("maddist", "wide-norm"),  # QRL trains IQE above
        *(pytest.param("maddist", name, marks=pytest.mark.slow) for name in ("iqe-sum", "iqe", "l2")),
        *(pytest.param("tdmaddist", name, marks=pytest.mark.slow) for name in ("iqe-sum", "iqe", "wide-norm", "l2")),
        *(pytest.param("qrl", name, marks=pytest.mark.slow) for name in ("simple", "wide-norm", "iqe-sum")),
    ],
)
def test_other_quasimetrics_train_as_well(preset: str, quasimetric: str, data: Trajectories) -> None:
    smaller = {"component_size": 4} if quasimetric.startswith("iqe") else {}
    settings = {**TINY[preset], "quasimetric": replace(make(QUASIMETRICS, quasimetric), **smaller)}
    trainer = Trainer(make_objective(preset, settings), data, steps=4)
    assert all(np.isfinite(values).all() for values in trainer.advance(4).values())
