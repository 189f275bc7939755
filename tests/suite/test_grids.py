from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from minaction.errors import InputError
from minaction.objectives import make_objective
from minaction.suite._cells import Cell, grouped
from minaction.suite._grids import ABLATIONS, Grid, ablations, chosen, existing, paper
from minaction.suite._own_grid import own_grid
from minaction.tasks import all_tasks


def test_the_papers_grid_is_every_task_with_every_method() -> None:
    grid = paper()
    tasks, methods = {cell.task for cell in grid.cells}, {cell.method.label for cell in grid.cells}
    assert tasks >= set(all_tasks())
    assert methods == {"maddist", "tdmaddist", "qrl", "plandist", "plandist-simple", "hilbert", "tautdist"}
    counts = Counter((cell.task, cell.method.label) for cell in grid.cells)
    assert set(counts.values()) == {5}
    assert len(counts) == len(tasks) * len(methods)
    assert {cell.steps for cell in grid.cells if cell.task == "cliffwalking"} == {50_000}
    assert {cell.steps for cell in grid.cells if cell.task != "cliffwalking"} == {100_000}


def test_qrl_looks_far_in_mazes_and_near_in_grid_worlds() -> None:
    offsets = {
        cell.task: getattr(make_objective(cell.method.objective), "push_offset")  # noqa: B009 (of QRL alone)
        for cell in chosen(paper(), ["qrl"]).cells
    }
    assert offsets["cliffwalking"] == offsets["keydoor-gridworld"] == 15
    assert offsets["pointmaze-umaze"] == offsets["ogbench-pointmaze-giant-stitch"] == 500


def test_methods_of_the_paper_are_trained_as_published() -> None:
    for cell in (*paper().cells, *ablations().cells):
        published = cell.method.objective != "tautdist"
        assert cell.method.settings.get("averaging") == (0.0 if published else None)
        together = "antmaze" in cell.task and published and "hilbert" not in cell.method.objective
        assert cell.method.settings.get("scaling") == ("shared" if together else None)


def test_no_two_cells_share_a_folder_or_a_group_that_they_should_not() -> None:
    cells = [*paper().cells, *ablations().cells]
    assert len({(cell.task, cell.method.label, cell.seed) for cell in cells}) == len(cells)
    for group in grouped(cells):
        assert len({str({**cell.as_dict(), "seed": None}) for cell in group.cells}) == 1


def _objective(cell: Cell) -> object:
    return make_objective(cell.method.objective, cell.method.settings)


def test_an_ablation_varies_what_it_says() -> None:
    grid = ablations(seeds=1)
    assert {cell.ablation.name for cell in grid.cells if cell.ablation} == set(ABLATIONS)
    for cell in grid.cells:
        objective, ablation = make_objective(cell.method.objective, cell.method.settings), cell.ablation
        assert ablation is not None
        match ablation.name:
            case "latent-dimension":
                assert objective.network.latent_size == ablation.value
            case "quasimetric":
                assert (objective.quasimetric, objective.network.latent_size) == (ablation.value, 256)
            case "dataset-size":
                assert cell.episodes == ablation.value
            case "random-weight":
                assert getattr(objective, "separation_weight") == ablation.value  # noqa: B009
            case "constraint-horizon":
                assert getattr(objective, "constraint_horizon") == ablation.value  # noqa: B009
    networks = [_objective(cell) for cell in chosen(grid, ["network-size-qrl", "network-size-hilbert"]).cells]
    assert len(networks) == len(set(networks)) == 5
    by_method = Counter((cell.method.objective, cell.ablation.name) for cell in grid.cells if cell.ablation)
    for name in ("latent-dimension", "quasimetric", "dataset-size"):
        assert by_method["maddist", name] == by_method["tdmaddist", name] >= 3


def test_only_narrows_by_every_kind_of_name() -> None:
    grid = paper(seeds=1)
    found = chosen(grid, ["cliffwalking", "keydoor-gridworld", "qrl"])
    assert [(cell.task, cell.method.label) for cell in found.cells] == [
        ("cliffwalking", "qrl"),
        ("keydoor-gridworld", "qrl"),
    ]
    studies = chosen(ablations(seeds=1), ["quasimetric", "tdmaddist"])
    assert {cell.method.label for cell in studies.cells} == {
        f"tdmaddist-quasimetric-{name}" for name in ("simple", "wide-norm", "iqe-maxmean")
    }
    assert chosen(grid, []) == grid
    with pytest.raises(InputError, match="'cliffwalking'"):
        chosen(grid, ["clifwalking"])
    with pytest.raises(InputError, match="Nothing in the suite"):
        chosen(ablations(), ["quasimetric", "random-weight", "cliffwalking", "qrl"])


def test_tasks_of_another_version_are_left_out() -> None:
    real, gone = paper(seeds=1).cells[0], Cell("not-a-task", paper(seeds=1).cells[0].method, 0, 10)
    assert existing(Grid("mine", (real, gone))) == (Grid("mine", (real,)), ["not-a-task"])


OWN = """
tasks = ["cliffwalking"]
steps = 30
seeds = 2
episodes = 7
[methods.maddist]
[methods.wide]
objective = "tdmaddist"
settings = { quasimetric = "wide-norm" }
"""


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OWN)
    grid = own_grid(path)
    assert grid.name == "mine"
    assert [(cell.method.label, cell.seed, cell.steps, cell.episodes) for cell in grid.cells] == [
        (label, seed, 30, 7) for label in ("maddist", "wide") for seed in (0, 1)
    ]
    assert [cell.method.objective for cell in grid.cells] == ["maddist"] * 2 + ["tdmaddist"] * 2
    assert grid.cells[2].method.settings == {"quasimetric": "wide-norm"}
    changed = own_grid(path, seeds=1, steps=5)
    assert [(cell.seed, cell.steps) for cell in changed.cells] == [(0, 5), (0, 5)]


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
