"""`ma.fit`: data of any kind in, a model out that is never wrong in silence."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minaction as ma
from minaction.objectives import make_objective
from minaction.tasks import Truth

SMALL = ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=8), batch_size=16, constraint_batch_size=16)


def test_it_evaluates_and_tells_what_happens(line_walks: ma.Trajectories) -> None:
    truth = Truth.between("observed", "steps", *ma.observed_distance(line_walks))
    told: list[ma.Event] = []
    model = ma.fit(
        line_walks,
        SMALL,
        steps=20,
        seeds=[0, 4],
        truths=[truth],
        evaluations=2,
        name="walks",
        on_event=told.append,
        progress=False,
    )
    assert [one.provenance.seed for one in model] == [0, 4]
    assert {one.provenance.data for one in model} == {"walks"}
    evaluated = [event for event in told if isinstance(event, ma.Evaluated)]
    assert [event.step for event in evaluated] == [10, 20]
    found = evaluated[-1].measurements[1].evaluations[0]
    assert (found.seed, found.truth, found.unit) == (4, "observed", "steps")
    assert found.agreement["pearson"] == pytest.approx(ma.evaluate(model[1], [truth])["observed"].pearson)
    assert f"({truth.name})" in evaluated[-1].note
    end = told[-1]
    assert isinstance(end, ma.Finished)
    assert list(end.models) == model
    assert any(isinstance(event, ma.Progressed) for event in told)


def test_data_by_name_and_by_path_brings_its_truths(log_file: Path) -> None:
    for data, truths in (
        ("cliffwalking", ["true", "observed"]),
        (log_file, ["observed"]),
        (str(log_file), ["observed"]),
    ):
        told: list[Any] = []
        model = ma.fit(data, SMALL, steps=2, evaluations=1, on_event=told.append, progress=False)
        (evaluated,) = (event for event in told if isinstance(event, ma.Evaluated))
        assert [one.truth for one in evaluated.measurements[0].evaluations] == truths
        assert model.provenance.data == str(data)


@pytest.mark.parametrize("objective", [SMALL, ma.MadDist, "maddist"])
def test_an_objective_is_an_object_a_class_or_a_name(objective: Any, line_walks: ma.Trajectories) -> None:
    model = ma.fit(line_walks, objective, steps=1, progress=False)
    assert model.provenance.objective == "maddist"


def test_one_seed_learns_what_it_learns_beside_another(line_walks: ma.Trajectories) -> None:
    alone = ma.fit(line_walks, SMALL, steps=20, seed=4, progress=False)
    _, beside = ma.fit(line_walks, SMALL, steps=20, seeds=[0, 4], progress=False)
    states = line_walks.distinct.states
    np.testing.assert_allclose(alone.pairwise(states, states), beside.pairwise(states, states), rtol=1e-3, atol=1e-3)


_OTHERS = ("maddist", "tdmaddist", "tautdist", "plandist", "qrl", "hilbert")


@pytest.mark.parametrize(
    ("objective", "rate"),
    [
        ("pathdist", 1.0),
        *((name, 1e3) for name in ("pathdist", *_OTHERS)),
        *(pytest.param(name, 1.0, marks=pytest.mark.slow) for name in _OTHERS),
    ],
)
def test_a_model_is_never_made_of_nan_nor_of_zeros_nor_absurd(
    objective: str, rate: float, line_walks: ma.Trajectories
) -> None:
    wild = make_objective(objective, {"learning_rate": rate, "batch_size": 16})
    told: list[Any] = []
    with contextlib.suppress(ma.InputError):
        model = ma.fit(line_walks, wild, steps=30, on_event=told.append, progress=False)
        states = line_walks.distinct.states
        found = model.pairwise(states, states)
        assert found.any()
        assert found.max() < 1e3 * line_walks.num_states
        return
    assert isinstance(told[-1], ma.Diverged)
    assert "lower the learning rate" in str(told[-1].error)


def test_divergence_is_an_error(line_walks: ma.Trajectories) -> None:
    wild = make_objective(SMALL, {"learning_rate": 1e30, "clip_norm": None})
    with pytest.raises(ma.InputError, match="became infinite or NaN"):
        ma.fit(line_walks, wild, steps=20, progress=False)


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"seeds": []}, {"evaluations": 0}, {"seed": -1}])
def test_nothing_to_do_is_refused(wrong: dict[str, Any], line_walks: ma.Trajectories) -> None:
    with pytest.raises(ma.InputError, match="at least one"):
        ma.fit(line_walks, SMALL, progress=False, **{"steps": 1, **wrong})


def test_a_number_of_seeds_is_refused_with_the_way_out(line_walks: ma.Trajectories) -> None:
    with pytest.raises(ma.InputError, match=r"at least one seed \(seeds=\[0\]\)"):
        ma.fit(line_walks, SMALL, steps=1, seeds=3, progress=False)  # type: ignore[call-overload]
