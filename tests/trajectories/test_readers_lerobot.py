"""LeRobot data sets that LeRobot's own writer wrote: 0.3.3 the one in version 2.1, 0.4.4 that in version 3.0.

Both hold three episodes of 5, 6 and 7 frames at 10 frames a second; frame k of episode e has the state (e, k, k % 2),
the effort (k / 2, -e) and the action (k, e). Statistics, which are not read, were removed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction.cli import main

HERE = Path(__file__).parent / "lerobot"
VERSIONS = ("v2.1", "v3.0")
FRAMES = [(e, k) for e in range(3) for k in range(5 + e)]


def refusal(path: Path, **options) -> str:
    with pytest.raises(ma.InputError) as caught:
        ma.read(path, **options)
    return str(caught.value)


@pytest.fixture(params=VERSIONS)
def folder(request, tmp_path) -> Path:
    return Path(shutil.copytree(HERE / request.param, tmp_path / "arm"))


@pytest.mark.parametrize("version", VERSIONS)
def test_all_low_dimensional_observations_are_the_state(version):
    data = ma.read(HERE / version, keep_actions=True)
    assert data.lengths.tolist() == [5, 6, 7]
    expected = np.array([(e, k, k % 2, 0.5 * k, -e) for e, k in FRAMES], np.float32)
    np.testing.assert_array_equal(data.states, expected)
    assert data.states.dtype == np.float32
    assert data.times is not None
    np.testing.assert_allclose(data.times, [k / 10 for _, k in FRAMES], atol=1e-6)
    assert data.time_unit == "s"
    np.testing.assert_array_equal(data.actions, [(k, e) for e, k in FRAMES])
    assert data.columns == (
        "observation.state.shoulder",
        "observation.state.elbow",
        "observation.state.gripper",
        "observation.effort.shoulder",
        "observation.effort.elbow",
    )
    assert ma.read(HERE / version).actions is None


@pytest.mark.parametrize("version", VERSIONS)
def test_keys_are_chosen_by_name(version):
    chosen = ma.read(HERE / version, states=["observation.state"])
    assert chosen.columns == tuple(f"observation.state.{name}" for name in ("shoulder", "elbow", "gripper"))
    dropped = ma.read(HERE / version, drop=["observation.effort"])
    assert dropped.fingerprint == chosen.fingerprint


def test_both_layouts_hold_the_same():
    first, second = (ma.read(HERE / version) for version in VERSIONS)
    assert first.fingerprint == second.fingerprint


def test_more_episodes_than_names_have_zeros_stay_in_order(tmp_path):
    folder = Path(shutil.copytree(HERE / "v2.1", tmp_path / "arm"))
    (folder / "data/chunk-000/episode_000002.parquet").rename(folder / "data/chunk-000/episode_1000000.parquet")
    assert ma.read(folder).lengths.tolist() == [5, 6, 7]


def test_what_is_missing_is_said(folder):
    assert "'observation.stat' is not among its keys; choose among 'observation.state'" in refusal(
        folder, states=["observation.stat"]
    )
    info = json.loads((folder / "meta/info.json").read_text())
    info["features"]["observation.images.top"] = {"dtype": "video", "shape": [96, 96, 3], "names": None}
    (folder / "meta/info.json").write_text(json.dumps(info))
    assert ma.read(folder).state_shape == (5,)
    assert "holds videos" in refusal(folder, states=["observation.images.top"])
    (folder / "meta/info.json").write_text(json.dumps({**info, "total_frames": 30}))
    assert "counts 30 frames, but the files below data/ hold 18" in refusal(folder)
    shutil.rmtree(folder / "data")
    assert "download the data set again" in refusal(folder)


def test_it_is_trained_on_from_the_command_line(folder, tmp_path, capsys):
    command = ["train", str(folder), "--states", "observation.state", "--objective", "maddist", "--steps", "2"]
    small = ["--set", "encoder.hidden=8", "encoder.latent=8", "--evaluations", "1"]
    assert main([*command, *small, "--out", str(tmp_path / "run")]) == 0
    model = ma.load(tmp_path / "run")
    assert model.unit == "s"
    assert model.columns[0] == "observation.state.shoulder"
    capsys.readouterr()
    assert main(["train", str(folder), "--states", "observation.images.top", "--out", str(tmp_path / "other")]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "info",
    [
        "5",
        "[]",
        '{"codebase_version": "v3.0"}',
        '{"codebase_version": "v3.0", "features": 3}',
        '{"codebase_version": "v3.0", "features": {"observation.state": {"dtype": "float32", "shape": ["x"]}}}',
        '{"codebase_version": "v3.0", "features": {"observation.state": null}}',
    ],
)
def test_a_broken_description_is_refused_in_a_sentence(tmp_path, info):
    folder = Path(shutil.copytree(HERE / "v3.0", tmp_path / "arm"))
    (folder / "meta/info.json").write_text(info)
    assert "\n" not in refusal(folder)
