from __future__ import annotations

from pathlib import Path

import pytest

from minaction.commands._options import Reproduce
from minaction.commands._recipes import RECIPES, recipe
from minaction.commands._reproduce import reproduce
from minaction.errors import InputError


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_has_something_to_train_with_five_seeds_as_the_paper(name: str) -> None:
    runs = RECIPES[name].runs(None, None).runs
    assert runs
    assert {run.seeds for run in runs} == {(seed,) for seed in range(5)}
    assert len({(run.data, run.method, run.seeds) for run in runs}) == len(runs)


def test_a_recipe_keeps_to_the_task_and_the_method_that_its_figure_shows() -> None:
    navigate, td = RECIPES["random-weight-navigate"].runs(1, None), RECIPES["quasimetric-tdmaddist"].runs(1, None)
    assert {run.data for run in navigate.runs} == {"ogbench-antmaze-medium-navigate"}
    assert [run.method for run in td.runs] == [
        f"tdmaddist-quasimetric-{name}" for name in ("simple", "wide-norm", "iqe", "mrn", "pqe", "pqe-gg", "deep-norm")
    ]


def test_main_curves_are_the_three_tasks_of_the_figure_with_every_method() -> None:
    runs = RECIPES["main-curves"].runs(1, None).runs
    assert len({run.data for run in runs}) == 3
    assert len(runs) == 3 * 7


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'table-1'"):
        recipe("table1")


def test_the_list_names_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(Reproduce(list=True)) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in RECIPES)


@pytest.mark.slow
def test_a_figure_from_nothing_and_again_without_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Reproduce(
        "network-size-hilbert", seeds=1, steps=20, runs=tmp_path / "runs", out=tmp_path / "out", jobs=1, device="cpu"
    )
    assert reproduce(asked) == 0
    assert "About" in capsys.readouterr().out, "it says beforehand what it costs"
    made = {path.name for path in (tmp_path / "out" / "network-size-hilbert").iterdir()}
    assert "report.html" in made
    assert any(name.startswith("ablation-") and name.endswith(".svg") for name in made)
    models = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("seed-*.safetensors")}
    assert len(models) == 2
    assert reproduce(asked) == 0
    assert "2 of 2 runs are finished" in capsys.readouterr().out
    assert models == {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("seed-*.safetensors")}
