"""`minaction distance` between pictures, and between frames of videos."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import minaction as ma
from minaction.cli import main


def frame(place: int) -> np.ndarray:
    """A dark square on a line of places, 12 x 16."""
    image = np.full((12, 16, 3), 220, np.uint8)
    image[4:8, place : place + 4] = (60, 40, 30)
    return image


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, a picture of the size that it knows, one that is twice as large, and a video."""
    path = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(0)
    walks = [np.clip(6 + np.cumsum(random.choice([-1, 1], 30)), 0, 12) for _ in range(8)]
    data = ma.Trajectories.from_episodes([np.stack([frame(place) for place in walk]) for walk in walks])
    tiny = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
    ma.fit(data, tiny, steps=2, progress=False).save(path / "model.safetensors")
    Image.fromarray(frame(3)).save(path / "here.png")
    Image.fromarray(frame(9).repeat(2, axis=0).repeat(2, axis=1)).save(path / "there.png")
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What a command that succeeds prints."""
    assert main([str(word) for word in arguments]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What is said to a bad input: one sentence, exit code 2."""
    assert main([str(word) for word in arguments]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_pictures_are_given_the_size_of_the_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = ma.load(folder / "model.safetensors")
    text = said(
        capsys, "distance", folder / "model.safetensors", "--from", folder / "here.png", "--to", folder / "there.png"
    )
    assert f"from -> to: {float(model.distance(frame(3), frame(9))):.2f} actions" in text
    assert "warning" not in text  # both were recorded


def test_a_frame_of_a_video_is_named_by_its_number(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    av = pytest.importorskip("av")
    with av.open(str(folder / "clip.mkv"), "w") as container:
        stream = container.add_stream("ffv1", rate=10)
        stream.width, stream.height, stream.pix_fmt = 16, 12, "bgr0"
        for place in range(12):
            for packet in stream.encode(av.VideoFrame.from_ndarray(frame(place), "rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    model, ask = ma.load(folder / "model.safetensors"), ("distance", folder / "model.safetensors", "--from")
    text = said(capsys, *ask, folder / "clip.mkv", 2, "--to", folder / "clip.mkv", 11)
    assert f"from -> to: {float(model.distance(frame(2), frame(11))):.2f} actions" in text
    assert "no frame 12" in refused(capsys, *ask, folder / "clip.mkv", 12, "--to", folder / "here.png")
    assert "say which of its frames" in refused(capsys, *ask, folder / "clip.mkv", "--to", folder / "here.png")


def test_progress_is_asked_for_on_the_way_to_a_picture(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(folder / "film.npy", np.stack([frame(place) for place in range(10)]))
    ask = ("progress", folder / "model.safetensors", folder / "film.npy", "--out", folder / "along.csv", "--goal")
    assert "likely" not in said(capsys, *ask, folder / "here.png")
    here = np.array(Image.open(folder / "here.png"))
    expected = ma.load(folder / "model.safetensors").remaining(frame(9), here)
    last = (folder / "along.csv").read_text().splitlines()[-1]
    assert float(last.split(",")[4]) == pytest.approx(float(expected), rel=1e-4)
    assert "There is no file" in refused(capsys, *ask, folder / "nowhere.png")


def test_what_is_no_picture_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask, here = ("distance", folder / "model.safetensors", "--from"), folder / "here.png"
    assert "There is no file" in refused(capsys, *ask, folder / "nowhere.png", "--to", here)
    assert "neither a number nor a picture" in refused(capsys, *ask, folder / "model.safetensors", "--to", here)
    assert "single picture" in refused(capsys, *ask, here, 3, "--to", here)
    assert "Give one picture" in refused(capsys, *ask, here, here, here, "--to", here)
    assert "12 x 16 x 3" in refused(capsys, *ask, 1, 2, "--to", here)


def test_a_model_of_numbers_takes_no_pictures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ma.Trajectories.from_episodes([[[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]])
    path = folder / "numbers.safetensors"
    ma.fit(data, ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8)), steps=1, progress=False).save(path)
    assert "takes states of 2 numbers" in refused(
        capsys, "distance", path, "--from", folder / "here.png", "--to", -1, "0.5"
    )
    assert "from -> to" in said(capsys, "distance", path, "--from", "-1", "0.5", "--to", "1e-3", "-2.5")


def test_coverage_of_images_knows_what_was_recorded_from_another_scene(folder: Path) -> None:
    model = ma.load(folder / "model.safetensors")
    assert (model.coverage(np.stack([frame(place) for place in range(13)])) < 1).all()
    assert model.coverage(255 - frame(3)) > 3
