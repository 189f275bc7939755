"""Model cards: inside every file, from the command line, and in a folder for the Hub."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction._files import read_tensors
from minaction.cli import main
from minaction.errors import InputError
from minaction.runtimes.numpy import load as load_numpy
from minaction.trajectories import Trajectories


@pytest.fixture(scope="module")
def model() -> ma.DistanceModel:
    return ma.fit("cliffwalking", ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8)), steps=2, progress=False)


def test_a_file_has_a_card_that_says_what_is_known(model: ma.DistanceModel, tmp_path: Path) -> None:
    model.save(tmp_path / "cliff.safetensors")
    text = read_tensors(tmp_path / "cliff.safetensors", "model")[1]["card"]
    found = ma.load(tmp_path / "cliff.safetensors")
    assert found.agreement == model.agreement
    assert found.card() == text
    made = model.provenance
    pearson = model.agreement["true (steps)"]["pearson"]
    for said in (
        f"| name | {made.data} |",
        f"| fingerprint | {made.data_fingerprint} |",
        "| episodes trained on | 100 |",
        f"| states | {made.states:,} |",
        "| unit of distances | actions |",
        "| objective | maddist |",
        "| gradient steps | 2 |",
        "hidden=\\[8\\]",
        f"- Beside the true (steps) distances of 1,332 pairs: Pearson {pearson:.3f}, ",
        "minaction.runtimes.numpy",
        "Not stated",
    ):
        assert said in text, text


def test_columns_units_and_health_are_said(tmp_path: Path, line_walks: Trajectories) -> None:
    episodes = [np.asarray(line_walks[k].states) for k in range(len(line_walks))]
    times = [np.arange(len(one)) / 10 for one in episodes]
    data = Trajectories.from_episodes(episodes, times=times, time_unit="s", columns=["a|b_c"])
    model = ma.fit(data, ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8)), steps=2, progress=False, name="logs")
    text = model.card("cc-by-4.0")
    assert "| columns | a&#124;b\\_c |" in text
    assert model.health is not None
    assert "How long it takes, in s, to get from one state to another" in text
    assert "held-out episodes" in text
    assert f"shortest paths over the recording: {model.health.agreement:.3f}." in text
    assert "cc-by-4.0" in text


def test_a_folder_for_the_hub_loads_everywhere(model: ma.DistanceModel, tmp_path: Path) -> None:
    folder = tmp_path / "hub" / "cliff"
    model.save(folder, licence="MIT")
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "config.json", "model.safetensors"]
    readme = (folder / "README.md").read_text()
    _, front, text = readme.split("---\n", 2)
    assert 'license: "mit"' in front
    assert "library_name: minaction" in front
    assert text.lstrip().startswith("# Minimum action distance of cliffwalking")
    config = json.loads((folder / "config.json").read_text())
    assert config["encoder"] == model.architecture.as_dict()["encoder"]
    there = np.asarray(model.distance([0.0, 0.0], [1.0, 0.0]))
    for load in (ma.load, ma.DistanceModel.load, load_numpy):
        np.testing.assert_allclose(load(folder).distance([0.0, 0.0], [1.0, 0.0]), there, rtol=1e-5)
    model.save(folder)  # again, over itself
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("{}")
    with pytest.raises(InputError, match="something else"):
        model.save(tmp_path / "other")


def test_the_command_writes_prints_and_refuses(
    model: ma.DistanceModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(tmp_path / "model.safetensors")
    model.save(source)
    assert main(["card", source]) == 0
    assert capsys.readouterr().out == model.card()
    assert main(["card", source, "-o", str(tmp_path / "card.md"), "--licence", "mit"]) == 0
    assert (tmp_path / "card.md").read_text() == model.card("mit")
    assert main(["card", source, "--folder", str(tmp_path / "hub")]) == 0
    assert main(["card", str(tmp_path / "hub")]) == 0
    capsys.readouterr()
    asked = [main(["distance", path, "--from", "0", "1", "--to", "1", "1"]) for path in (source, str(tmp_path / "hub"))]
    assert asked == [0, 0]
    from_file, from_folder = capsys.readouterr().out.split("from -> to")[1:]
    assert from_file == from_folder
    log = ["cliffwalking", "--goal", "1", "1", "--out", str(tmp_path / "progress.csv")]
    assert main(["progress", str(tmp_path / "hub"), *log]) == 0
    assert ma.fit("cliffwalking", start_from=tmp_path / "hub", steps=1, progress=False).provenance.steps
    assert main(["card", source, "--seed", "1"]) == 2
    assert main(["card", source, "--folder", str(tmp_path / "a"), "-o", str(tmp_path / "b")]) == 2
    assert main(["card", str(tmp_path / "missing")]) == 2
