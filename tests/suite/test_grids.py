from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from minaction._descriptions import make
from minaction.errors import InputError
from minaction.objectives import make_objective
from minaction.quasimetrics import QUASIMETRICS
from minaction.suite._grids import ABLATIONS, GRID_WORLDS, MAZES, ablations, chosen, paper
from minaction.suite._own_grid import own_grid
from minaction.tasks import get_task
from minaction.training import RunConfig


def test_the_papers_grid_is_every_task_with_every_method() -> None:
    grid = paper()
    tasks, methods = {run.data for run in grid.runs}, {run.method for run in grid.runs}
    assert tasks == {*GRID_WORLDS, *MAZES}
    assert {get_task(name).name for name in tasks} == tasks
    assert methods == {"maddist", "tdmaddist", "qrl", "plandist", "plandist-simple", "hilbert", "tautdist"}
    counts = Counter((run.data, run.method) for run in grid.runs)
    assert set(counts.values()) == {5}
    assert len(counts) == len(tasks) * len(methods)
    assert {run.steps for run in grid.runs if run.data == "cliffwalking"} == {50_000}
    assert {run.steps for run in grid.runs if run.data != "cliffwalking"} == {100_000}


def test_qrl_looks_far_in_mazes_and_near_in_grid_worlds() -> None:
    offsets = {
        run.data: getattr(make_objective(run.objective), "push_offset")  # noqa: B009 (of QRL alone)
        for run in chosen(paper(), ["qrl"]).runs
    }
    assert offsets["cliffwalking"] == offsets["keydoor-gridworld"] == 15
    assert offsets["pointmaze-umaze"] == offsets["ogbench-pointmaze-giant-stitch"] == 500


def test_methods_of_the_paper_are_trained_as_published() -> None:
    kinds = {(run.data, run.method): run for run in (*paper().runs, *ablations().runs)}
    for run in kinds.values():
        objective, published = _objective(run), run.objective != "tautdist"
        assert run.settings.get("averaging") == (0.0 if published else None)
        described = objective.encoder.base if hasattr(objective.encoder, "base") else objective.encoder
        together = "antmaze" in run.data and published
        usual = "none" if run.objective.startswith("hilbert") else "shared" if together else "each"
        assert getattr(described, "scaling") == usual  # noqa: B009 (of an MLP)


def test_no_two_runs_share_a_folder() -> None:
    runs = [*paper().runs, *ablations().runs]
    assert len({(run.data, run.method, run.seeds) for run in runs}) == len(runs)
    assert {len(run.seeds) for run in runs} == {1}


def _objective(run: RunConfig) -> Any:
    return make_objective(run.objective, run.settings)


def test_an_ablation_varies_what_it_says() -> None:
    grid = ablations(seeds=1)
    assert {run.ablation.name for run in grid.runs if run.ablation} == set(ABLATIONS)
    for run in grid.runs:
        objective, ablation = _objective(run), run.ablation
        assert ablation is not None
        match ablation.name:
            case "latent-dimension":
                assert objective.encoder.latent == ablation.value
            case "quasimetric":
                assert objective.quasimetric == make(QUASIMETRICS, ablation.value)
                assert objective.encoder.latent == 256
            case "dataset-size":
                assert run.episodes == ablation.value
            case "random-weight":
                assert objective.separation_weight == ablation.value
            case "constraint-horizon":
                assert objective.constraint_horizon == ablation.value
    networks = [_objective(run) for run in chosen(grid, ["network-size-qrl", "network-size-hilbert"]).runs]
    assert len(networks) == len(set(networks)) == 5
    by_method = Counter((run.objective, run.ablation.name) for run in grid.runs if run.ablation)
    for name in ("latent-dimension", "quasimetric", "dataset-size"):
        assert by_method["maddist", name] == by_method["tdmaddist", name] >= 3


def test_only_narrows_by_every_kind_of_name() -> None:
    grid = paper(seeds=1)
    found = chosen(grid, ["cliffwalking", "keydoor-gridworld", "qrl"])
    assert [(run.data, run.method) for run in found.runs] == [
        ("cliffwalking", "qrl"),
        ("keydoor-gridworld", "qrl"),
    ]
    studies = chosen(ablations(seeds=1), ["quasimetric", "tdmaddist"])
    assert {run.method for run in studies.runs} == {
        f"tdmaddist-quasimetric-{name}" for name in ("simple", "wide-norm", "iqe", "mrn", "pqe", "pqe-gg", "deep-norm")
    }
    assert chosen(grid, []) == grid
    with pytest.raises(InputError, match="'cliffwalking'"):
        chosen(grid, ["clifwalking"])
    with pytest.raises(InputError, match="No run of the suite"):
        chosen(ablations(), ["quasimetric", "random-weight", "cliffwalking", "qrl"])


OWN = """
tasks = ["cliffwalking"]
steps = 30
seeds = 2
episodes = 7
[methods.maddist]
[methods.wide]
objective = "tdmaddist"
settings = { quasimetric = "wide-norm", "encoder.fourier" = 8 }
"""


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OWN)
    grid = own_grid(path)
    assert grid.name == "mine"
    assert [(run.method, run.seeds, run.steps, run.episodes) for run in grid.runs] == [
        (label, (seed,), 30, 7) for label in ("maddist", "wide") for seed in (0, 1)
    ]
    assert [run.objective for run in grid.runs] == ["maddist"] * 2 + ["tdmaddist"] * 2
    assert grid.runs[2].settings == {"quasimetric": "wide-norm", "encoder.fourier": 8}
    changed = own_grid(path, seeds=1, steps=5)
    assert [(run.seeds, run.steps) for run in changed.runs] == [((0,), 5), ((0,), 5)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("steps = 30", "step = 30", "'steps'"),
        ("steps = 30", "steps = 3.5", "whole number"),
        ("steps = 30", "steps = true", "whole number"),
        ("seeds = 2", "seeds = 0", "whole number"),
        ("steps = 30", "steps 30", "line 3"),
        ('["cliffwalking"]', '"cliffwalking"', "list of names"),
        ('["cliffwalking"]', "[]", "list of names"),
        ('["cliffwalking"]', '["clifwalking"]', "'cliffwalking'"),
        ("[methods.maddist]", "[methods.madist]", "'maddist'"),
        ("[methods.maddist]", "[method.maddist]", "'methods'"),
        ("[methods.wide]", '[methods."../wide"]', "letters"),
        ('objective = "tdmaddist"', "objective = 3", "a name"),
        ('objective = "tdmaddist"', 'objectiv = "tdmaddist"', "'objective'"),
        ("{ quasimetric", "{ quasimetrik", "'quasimetric'"),
        ('"encoder.fourier"', '"encoder.furrier"', "'fourier'"),
        ('"wide-norm"', '"wide-nom"', "'wide-norm'"),
        ("tasks =", "# tasks =", "list of names"),
    ],
)
def test_mistakes_in_a_file_are_named(old: str, new: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    assert old in OWN
    path.write_text(OWN.replace(old, new))
    with pytest.raises(InputError, match=r"mine\.toml") as error:
        own_grid(path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        own_grid(tmp_path / "absent.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not TOML"):
        own_grid(tmp_path / "binary.toml")
    (tmp_path / "deep.toml").write_text("x = " + "[" * 100_000)
    with pytest.raises(InputError, match="not TOML: maximum recursion depth"):
        own_grid(tmp_path / "deep.toml")
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(InputError, match="pipe or a device"):
        own_grid(tmp_path / "pipe.toml")
