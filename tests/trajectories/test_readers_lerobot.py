"""LeRobot data sets that LeRobot's own writer wrote: 0.3.3 the one in version 2.1, 0.4.4 that in version 3.0.

Both hold three episodes of 5, 6 and 7 frames at 10 frames a second; frame k of episode e has the state (e, k, k % 2),
the effort (k / 2, -e) and the action (k, e). Statistics, which are not read, were removed. Cameras are added here, as
LeRobot documents its layout.
"""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

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


def picture(episode: int, frame: int) -> np.ndarray:
    """A square whose place tells the frame and whose brightness the episode, (32, 48, 3)."""
    image = np.full((32, 48, 3), 20, np.uint8)
    image[8:16, 4 * frame : 4 * frame + 8] = 100 + 60 * episode
    return image


def add_camera(folder: Path, key: str, dtype: str) -> None:
    """A camera in the documented layout: an episode to a file in version 2, all in one file in version 3."""
    info = json.loads((folder / "meta/info.json").read_text())
    info["features"][key] = {"dtype": dtype, "shape": [3, 32, 48], "names": ["c", "h", "w"]}
    (folder / "meta/info.json").write_text(json.dumps(info))
    if dtype == "image":
        for file in sorted((folder / "data").rglob("*.parquet")):
            table = pq.read_table(file)
            rows = zip(table["episode_index"].to_pylist(), table["frame_index"].to_pylist(), strict=True)
            cells = [{"bytes": as_png(picture(e, k)), "path": None} for e, k in rows]
            pq.write_table(table.append_column(key, pa.array(cells)), file)
        return
    for e in range(3):
        if info["codebase_version"] == "v2.1":
            write_video(folder / f"videos/chunk-000/{key}/episode_{e:06d}.mp4", [(e, k) for k in range(5 + e)])
    if info["codebase_version"] == "v3.0":
        write_video(folder / f"videos/{key}/chunk-000/file-000.mp4", FRAMES)
        write_places(folder, key, [0.0, 0.5, 1.1])


def write_places(folder: Path, key: str, begins: list[float]) -> None:
    """Where the video of each episode begins, as version 3 says it."""
    places = {f"videos/{key}/{name}": [0, 0, 0] for name in ("chunk_index", "file_index")}
    table = pa.table({"episode_index": [0, 1, 2], **places, f"videos/{key}/from_timestamp": begins})
    path = folder / "meta/episodes/chunk-000/file-000.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def as_png(image: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "png")
    return file.getvalue()


def write_video(path: Path, frames: list[tuple[int, int]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 48, 32, "yuv420p", 4_000_000
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture(*frame), format="rgb24")))
        container.mux(stream.encode())


CAMERA = "observation.images.cam1"


@pytest.fixture
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("dtype", ["video", "image"])
def test_a_camera_is_a_state_of_its_own(folder, dtype):
    add_camera(folder, CAMERA, dtype)
    assert ma.read(folder).state_shape == (5,), "the numbers, unless the camera is named"
    data = ma.read(folder, states=[CAMERA], keep_actions=True)
    assert data.states.dtype == np.uint8
    assert data.lengths.tolist() == [5, 6, 7]
    expected = np.stack([picture(e, k) for e, k in FRAMES])
    assert np.abs(data.states.astype(int) - expected).mean() < (6 if dtype == "video" else 1e-9)
    assert data.times is not None
    np.testing.assert_allclose(data.times, [k / 10 for _, k in FRAMES], atol=1e-6)
    assert data.time_unit == "s"
    np.testing.assert_array_equal(data.actions, [(k, e) for e, k in FRAMES])
    assert ma.read(folder, states=[CAMERA], resize=(16, 24)).state_shape == (16, 24, 3)


@pytest.mark.usefixtures("_own_cache")
def test_two_cameras_are_two_recordings(folder):
    for key in (CAMERA, "observation.images.cam2"):
        add_camera(folder, key, "image")
        ma.read(folder, states=[key])
    kept = {path.name.partition("-")[0] for path in (folder.parent / "cache/minaction/frames").iterdir()}
    assert kept == {CAMERA, "observation.images.cam2"}


@pytest.mark.usefixtures("_own_cache")
def test_what_is_wrong_with_a_camera_is_said(folder):
    add_camera(folder, CAMERA, "video")
    assert "makes a state by itself" in refusal(folder, states=[CAMERA, "observation.state"])
    assert "Only what a camera saw can be resized".lower() in refusal(folder, resize=(8, 8)).lower()
    video = sorted((folder / "videos").rglob("*.mp4"))[-1]
    frames = FRAMES if "v3.0" in (folder / "meta/info.json").read_text() else FRAMES[11:]
    write_video(video, frames[:-1])
    assert "has 17 frames, but the files below data/ hold 18" in refusal(folder, states=[CAMERA])
    shutil.rmtree(folder / "videos")
    assert f"no videos of '{CAMERA}'" in refusal(folder, states=[CAMERA])


@pytest.mark.usefixtures("_own_cache")
def test_videos_in_another_order_than_the_rows_are_refused(tmp_path):
    folder = Path(shutil.copytree(HERE / "v3.0", tmp_path / "arm"))
    add_camera(folder, CAMERA, "video")
    write_places(folder, CAMERA, [0.6, 0.0, 1.1])
    assert "not in the order of the episodes" in refusal(folder, states=[CAMERA])
