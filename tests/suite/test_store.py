from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from minaction.errors import InputError
from minaction.suite._cells import Ablation, Cell, Group, Method
from minaction.suite._store import Store, locked
from minaction.suite._work import Event, pack, train_group, unpack

SMALL = Method("small", "maddist", {"stages": [8, 4], "batch_size": 8, "constraint_batch_size": 8})
CELL = Cell("cliffwalking", SMALL, 0, 20, episodes=5, ablation=Ablation("dataset-size", "episodes", 5))
PAIR = Group((CELL, replace(CELL, seed=1)))


def ignore(event: Event) -> None:
    """Tell nobody."""


def trained(store: Store, group: Group) -> Path:
    folder = store.prepare(group)
    assert train_group(group.name, folder, group.config, ignore).kind == "finished"
    return folder


def test_a_finished_run_becomes_cells(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with store.opened("mine"):
        folder = trained(store, PAIR)
        run = {path.name: path.read_bytes() for path in folder.iterdir()}
        store.keep(PAIR)
    assert not folder.exists()
    assert json.loads((store.path / "suite.json").read_text())["name"] == "mine"
    results = json.loads(run["results.json"])
    for k, cell in enumerate(PAIR.cells):
        kept = store.path / "cells" / "cliffwalking" / "small" / f"seed-{k}"
        assert {path.name for path in kept.iterdir()} == {
            "config.json",
            "metrics.jsonl",
            "model.safetensors",
            "results.json",
        }
        assert (kept / "model.safetensors").read_bytes() == run[f"seed-{k}.safetensors"]
        rows = [json.loads(line) for line in (kept / "metrics.jsonl").read_text().splitlines()]
        assert rows == [row for row in map(json.loads, run["metrics.jsonl"].splitlines()) if row["seed"] == k]
        own = json.loads((kept / "results.json").read_text())
        assert own["agreement"] == results["agreement"][k] == rows[-1]["agreement"]
        assert {"seconds", "steps_per_second", "device", "version", "by_range"} <= set(own)
        config = json.loads((kept / "config.json").read_text())
        assert config == cell.as_dict()
        assert config["ablation"] == {"name": "dataset-size", "parameter": "episodes", "value": 5}
    assert store.left(PAIR.cells) == []


def test_a_move_that_was_killed_is_finished_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store")
    with store.opened("mine"):
        folder = trained(store, PAIR)
        model = (folder / "seed-1.safetensors").read_bytes()
        rename = Path.rename

        def dies_at_the_second(self: Path, target: Path) -> Path:
            if target.name == "seed-1":
                raise KeyboardInterrupt
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", dies_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            store.keep(PAIR)
        monkeypatch.undo()
    assert store.has(PAIR.cells[0])
    assert not store.has(PAIR.cells[1])
    assert store.left(PAIR.cells) == [PAIR], "it is gone on with as it was begun, not as a group of one"
    with store.opened("mine"):
        assert train_group(PAIR.name, store.prepare(PAIR), PAIR.config, ignore).kind == "finished"
        store.keep(PAIR)
    assert (store.folder(PAIR.cells[1]) / "model.safetensors").read_bytes() == model
    assert not folder.exists()


def test_what_is_under_way_comes_first_with_its_own_seeds(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    first = replace(CELL, method=replace(SMALL, label="another"))
    cells = [first, *(replace(CELL, seed=seed) for seed in range(4))]
    with store.opened("mine"):
        trained(store, PAIR)
        assert store.left(cells) == [PAIR, Group((first,))]
        store.keep(PAIR)
        assert store.left(cells) == [Group((first,)), Group(tuple(cells[3:]))]


def test_a_folder_that_was_hardly_begun_is_cleared_away(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with store.opened("mine"):
        half = store.work_folder(PAIR.name)
        half.mkdir(parents=True)
        (half / "seed-0.safetensors").write_text("left from a removal that was killed")
    with store.opened("mine"):
        assert not half.exists()


def test_other_settings_are_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with store.opened("mine"):
        trained(store, PAIR)
        for changed in (
            replace(CELL, steps=30),
            replace(CELL, episodes=6),
            replace(CELL, method=Method("small", "qrl")),
        ):
            with pytest.raises(InputError, match=r"small on cliffwalking with .* --out"):
                store.check([changed])
        store.keep(PAIR)
    store.check(PAIR.cells)
    with pytest.raises(InputError, match="with steps 20, not 30"):
        store.check([replace(CELL, steps=30)])


def test_a_failure_is_noted_and_may_be_tried_with_other_settings(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    wild = replace(CELL, method=Method("small", "maddist", {**SMALL.settings, "learning_rate": 1e30}))
    with store.opened("mine"):
        failed = train_group(PAIR.name, store.prepare(Group((wild,))), Group((wild,)).config, ignore)
        assert failed.kind == "failed"
        assert "learning rate" in failed.text
        store.note_failure(Group((wild,)), failed.text, failed.details)
        noted = json.loads((store.path / "failures" / "cliffwalking--small.json").read_text())
        assert (noted["task"], noted["method"], noted["seeds"]) == ("cliffwalking", "small", [0])
        assert "Traceback" in noted["traceback"]
        store.check(PAIR.cells)
        assert store.left(PAIR.cells) == [PAIR]
        trained(store, PAIR)
        store.keep(PAIR)
    assert list((store.path / "failures").iterdir()) == []


def test_folders_that_are_no_store_of_this_format(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "suite.json").write_text(json.dumps({"format": 99, "version": "7.0", "name": "paper"}))
    with pytest.raises(InputError, match=r"another format \(99, made by minaction 7\.0"):
        Store(other)
    (other / "suite.json").write_text("[]")
    with pytest.raises(InputError, match="another format"):
        Store(other)
    (other / "suite.json").unlink()
    (other / "letter.txt").write_text("Dear Anna")
    with pytest.raises(InputError, match="not a store"):
        Store(other)
    assert Store(tmp_path / "absent").left([CELL]) == [Group((CELL,))]
    assert not (tmp_path / "absent").exists(), "looking writes nothing"


def test_one_suite_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with store.opened("mine"), pytest.raises(InputError, match="Another minaction"), store.opened("mine"):
        pass
    with locked(tmp_path, wait=False):
        pass


def test_a_run_travels_as_bytes(tmp_path: Path) -> None:
    files = {"config.json": b"{}", "results.json": b"[1]", "seed-0.safetensors": b"\0\1"}
    unpack(files, tmp_path / "there")
    assert pack(tmp_path / "there") == files
