"""Another unit of states or times, or another origin, gives the same model up to the unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minaction as ma
from minaction._units import Units
from minaction.encoders import input_statistics
from minaction.objectives import make_objective

OBJECTIVES = ("maddist", "tdmaddist", "tautdist", "plandist", "qrl", "hilbert", "pathdist")
SMALL = {
    "hilbert": {"encoder.base.hidden": [64], "encoder.base.latent": 16},
    "qrl": {
        "encoder": {"name": "mlp", "hidden": [64], "latent": 64},
        "quasimetric": {"name": "iqe", "component_size": 8},
    },
}
STEPS = 40
SCALINGS = ("each", "shared", "range")  # "none" takes numbers as they are


def recording(seed: int = 0) -> ma.Trajectories:
    """A walk among cells that repeat, and the time of each step."""
    random = np.random.default_rng(seed)
    episodes, times = [], []
    for _ in range(12):
        moves = random.integers(-1, 2, (60, 2))
        place, states = np.zeros(2), []
        for move in moves:
            place = np.clip(place + move, 0, 7)
            states.append(place)
        episodes.append(np.array(states))
        times.append(np.cumsum(1.0 + random.integers(0, 2, 60) * 0.5))
    return ma.Trajectories.from_episodes(episodes, times=times)


def changed(data: ma.Trajectories, states: float = 1.0, times: float = 1.0, shift: float = 0.0) -> ma.Trajectories:
    spread = data.states.std()
    assert data.times is not None
    return ma.Trajectories.from_flat(data.states * states + shift * spread, data.offsets, data.times * times)


def distances(objective: str, data: ma.Trajectories, tmp_path) -> np.ndarray:
    settings = SMALL.get(objective, {"encoder.hidden": [64], "encoder.latent": 64})
    trainer = ma.Trainer(make_objective(objective, settings), data, steps=STEPS)
    trainer.advance(STEPS)
    path = tmp_path / "model.safetensors"
    trainer.models()[0].save(path)
    model = ma.load(path)
    states = data.distinct.states[:30]
    return np.asarray(model.pairwise(states, states), np.float64)


# That every objective is given the same numbers is shown below; these two show what becomes of them.
@pytest.mark.parametrize(
    "objective",
    [pytest.param(name, marks=() if name in ("pathdist", "hilbert") else pytest.mark.slow) for name in OBJECTIVES],
)
def test_units_and_origin_change_nothing_but_the_unit(objective: str, tmp_path) -> None:
    data = recording()
    plain = distances(objective, data, tmp_path)
    apart = plain > 0
    for change in (
        {"states": 1e-9},
        {"states": 1e9},
        {"times": 1e-9},
        {"times": 1e9},
        {"shift": 1e9},
        {"shift": 1e9, "times": 1e-3, "states": 1e-7 * 1e7},
    ):
        found = distances(objective, changed(data, **change), tmp_path) / change.get("times", 1.0)
        assert np.corrcoef(found[apart], plain[apart])[0, 1] > 0.998, change
        np.testing.assert_allclose(found[apart].mean() / plain[apart].mean(), 1.0, atol=0.01, err_msg=str(change))


SCALE = st.floats(-9, 9).map(lambda exponent: 10.0**exponent)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 1000), scale=SCALE, shift=st.floats(-1e9, 1e9), times=SCALE, scaling=st.sampled_from(SCALINGS)
)
def test_a_network_sees_the_same_numbers_whatever_the_unit_and_the_origin(
    seed: int, scale: float, shift: float, times: float, scaling: str
) -> None:
    """Trainings start from what an encoder and an objective are given: if that is the same, so is all that follows."""
    data = recording(seed)
    other = changed(data, states=scale, times=times, shift=shift * scale)
    found = []
    for item in (data, other):
        units = Units.of(item)
        statistics = input_statistics(item.states, item.offsets, units.origin).flattened().scaled(scaling)
        seen = (np.asarray(units.centred(item.states), np.float32) - statistics.mean) / statistics.scale
        found.append((seen, statistics.rate, units.in_steps(item).times))
    (seen, rate, steps), (other_seen, other_rate, other_steps) = found
    np.testing.assert_allclose(other_seen, seen, atol=1e-3)
    np.testing.assert_allclose(other_rate, rate, rtol=1e-3)
    np.testing.assert_allclose(other_steps, steps, rtol=1e-6)


def test_ordinary_data_have_ordinary_units() -> None:
    for task in ("cliffwalking", "noisy-gridworld"):
        units = Units.of(ma.get_task(task).trajectories(seed=1, episodes=5))
        assert units.origin is None
        assert units.time == 1.0


def test_a_constant_input_is_no_reason_for_an_origin() -> None:
    states = np.column_stack([np.full(50, 0.1), np.arange(50.0) % 7])
    assert Units.of(ma.Trajectories.from_flat(states)).origin is None


def test_a_type_too_coarse_for_its_numbers_is_warned_about() -> None:
    states = (1e9 + 100 * np.random.default_rng(0).normal(size=(50, 2))).astype(np.float32)
    with pytest.warns(UserWarning, match="float64"):
        Units.of(ma.Trajectories.from_flat(states))


def test_a_mapped_file_far_from_zero_gives_the_same_model(tmp_path) -> None:
    data = changed(recording(), shift=1e9)
    data.save(tmp_path / "data.safetensors")
    mapped = ma.Trajectories.load(tmp_path / "data.safetensors", memory_map=True)
    settings = {"encoder.hidden": [32], "encoder.latent": 32}
    found = []
    for item in (data, mapped):
        trainer = ma.Trainer(make_objective("maddist", settings), item, steps=10, encode_distinct=False)
        trainer.advance(10)
        found.append(trainer.models()[0].pairwise(data.states[:20], data.states[:20]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3, atol=1e-3)
