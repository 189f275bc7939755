"""Videos and folders of pictures, read from real files: what comes out, and one sentence for each that is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

import minaction as ma
from minaction.cli import main
from minaction.trajectories import read_file
from minaction.trajectories.readers import _video


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def moving(count: int, height: int = 48, width: int = 64) -> np.ndarray:
    """A bright square that goes to the right, (count, height, width, 3)."""
    frames = np.full((count, height, width, 3), 30, np.uint8)
    for k, frame in enumerate(frames):
        frame[16:32, 2 * k % (width - 16) : 2 * k % (width - 16) + 16] = (220, 120, 40)
    return frames


def write_video(
    path: Path,
    frames: np.ndarray,
    *,
    rate: int = 25,
    stamps: Sequence[int] | None = None,
    options: dict[str, str] | None = None,
) -> Path:
    """Encode `frames` as the ending of the path says, to be shown at `stamps`, 0, 1, 2, ... if None, over `rate`."""
    with av.open(str(path), "w", options=options or {}) as container:
        stream = container.add_stream("gif" if path.suffix == ".gif" else "mpeg4", rate=rate)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "rgb8" if path.suffix == ".gif" else "yuv420p"
        if path.suffix != ".gif":
            stream.bit_rate = 4_000_000
        for k, frame in enumerate(frames):
            shown = av.VideoFrame.from_ndarray(frame, format="rgb24")
            shown.pts = k if stamps is None else stamps[k]
            container.mux(stream.encode(shown))
        container.mux(stream.encode())
    return path


def write_pictures(folder: Path, frames: np.ndarray) -> Path:
    """`frames` as PNG files, whose numbers have no zeros before them."""
    folder.mkdir(parents=True)
    for k, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / f"frame{k}.png")
    return folder


@pytest.mark.parametrize("ending", ["mp4", "mkv", "avi", "mov"])
def test_a_video_is_an_episode(tmp_path: Path, ending: str) -> None:
    frames = moving(30)
    data = ma.read(write_video(tmp_path / f"clip.{ending}", frames))
    assert data.states.shape == frames.shape
    assert data.states.dtype == np.uint8
    assert data.num_episodes == 1
    assert np.abs(data.states.astype(int) - frames).mean() < 6  # what the encoder lost
    assert data.times is not None
    np.testing.assert_allclose(data.times - data.times[0], np.arange(30) / 25, atol=1e-6)
    assert data.time_unit == "s"


def test_frames_are_at_the_times_at_which_they_are_shown(tmp_path: Path) -> None:
    stamps = [0, 1, 2, 10, 11, 12, 30]  # the camera paused twice
    path = write_video(tmp_path / "clip.mp4", moving(7), stamps=stamps)
    for data in (ma.read(path), ma.read(path, memory_map=True), ma.read(path, unit="seconds")):
        assert data.times is not None
        np.testing.assert_allclose(data.times, np.array(stamps) / 25, atol=1e-6)
        assert data.time_unit == "s"


@pytest.mark.parametrize("ending", ["mkv", "gif"])
def test_a_constant_rate_is_one_where_the_clock_of_the_format_rounds(tmp_path: Path, ending: str) -> None:
    path = write_video(tmp_path / f"clip.{ending}", moving(40), rate=30)
    with av.open(str(path)) as film:
        rounded = np.diff([frame.time or 0.0 for frame in film.decode(video=0)])
    assert np.ptp(rounded) > 5e-4
    times = ma.read(path).times
    assert times is not None
    np.testing.assert_allclose(np.diff(times), 1 / 30, rtol=0.01)
    assert np.ptp(np.diff(times)) < 1e-9


def test_frames_may_be_counted_instead(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.mp4", moving(5))
    for unit in ("frames", "steps", ""):
        data = ma.read(path, unit=unit)
        assert data.times is None
        assert data.time_unit == ""
    with pytest.raises(ma.InputError, match=r"clip\.mp4, a film, counts seconds, not ms; leave out --unit"):
        ma.read(path, unit="ms")
    folder = write_pictures(tmp_path / "run", moving(3))
    assert ma.read(folder, unit="frames").time_unit == ""
    with pytest.raises(ma.InputError, match="run holds pictures, which are counted in steps"):
        ma.read(folder, unit="s")


@pytest.mark.parametrize("times", [[None] * 4, [0.0, 0.1, 0.1, 0.2], [0.0, 0.2, 0.1, 0.3]])
def test_frames_without_a_clock_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: list[float | None]
) -> None:
    def stamped(*_: object) -> Iterator[tuple[np.ndarray, float | None]]:
        return zip(moving(4), times, strict=True)

    path = write_video(tmp_path / "clip.mp4", moving(4))
    monkeypatch.setattr(_video, "frames_of", stamped)
    for _ in range(2):  # decoded, and kept
        with pytest.warns(UserWarning, match=r"clip\.mp4 does not say when each frame is shown"):
            data = ma.read(path)
        assert data.times is None
    assert ma.read(path, unit="frames").lengths.tolist() == [4]
    with pytest.raises(ma.InputError, match="leave out --unit"):
        ma.read(path, unit="s")


def test_a_model_of_a_film_answers_in_seconds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_video(tmp_path / "clip.mp4", moving(30))
    quick = ["--steps", "1", "--evaluations", "1", "--objective", "maddist", "--set", "encoder=mlp", "encoder.hidden=8"]
    for unit, answered in (((), "s"), (("--unit", "frames"), "actions")):
        run = str(tmp_path / f"run-{answered}")
        assert main(["train", str(path), *unit, "--resize", "12", "16", *quick, "--out", run]) == 0
        capsys.readouterr()
        assert main(["distance", run, "--from", str(path), "2", "--to", str(path), "9"]) == 0
        line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("from -> to"))
        assert line.split()[-1] == answered


def test_a_video_is_resized_and_mapped(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.mp4", moving(12))
    data = ma.read(path, resize=(24, 32), memory_map=True)
    assert data.states.shape == (12, 24, 32, 3)
    assert data.is_mapped
    assert not ma.read(path, resize=(24, 32)).is_mapped
    expected = moving(12).reshape(12, 24, 2, 32, 2, 3).mean(axis=(2, 4))
    assert np.abs(data.states - expected).mean() < 6


def test_frames_are_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_video(tmp_path / "clip.mp4", moving(6))
    first = ma.read(path)
    monkeypatch.setattr(av, "open", lambda *_: pytest.fail("it was decoded again"))
    np.testing.assert_array_equal(ma.read(path).states, first.states)
    monkeypatch.undo()


def test_a_folder_of_videos_has_one_episode_each(tmp_path: Path) -> None:
    for k, count in ((2, 5), (10, 7)):
        (tmp_path / "clips").mkdir(exist_ok=True)
        write_video(tmp_path / "clips" / f"run{k}.mp4", moving(count))
    assert ma.read(tmp_path / "clips").lengths.tolist() == [5, 7]


def test_a_folder_of_pictures_is_an_episode_in_natural_order(tmp_path: Path) -> None:
    frames = moving(12)
    data = ma.read(write_pictures(tmp_path / "run", frames))
    np.testing.assert_array_equal(data.states, frames)
    assert data.num_episodes == 1
    half = ma.read(tmp_path / "run", resize=(24, 32))
    np.testing.assert_allclose(half.states, frames.reshape(12, 24, 2, 32, 2, 3).mean(axis=(2, 4)), atol=1)


def test_folders_of_pictures_are_episodes(tmp_path: Path) -> None:
    for k, count in ((9, 4), (10, 3)):
        write_pictures(tmp_path / "runs" / f"episode{k}", moving(count))
    (tmp_path / "runs" / "notes").mkdir()
    data = ma.read(tmp_path / "runs", memory_map=True)
    assert data.lengths.tolist() == [4, 3]
    assert data.is_mapped


def test_grey_and_opaque_pictures_are_read(tmp_path: Path) -> None:
    (tmp_path / "grey").mkdir()
    (tmp_path / "opaque").mkdir()
    for k, frame in enumerate(moving(3)):
        Image.fromarray(frame).convert("L").save(tmp_path / "grey" / f"{k}.png")
        Image.fromarray(frame).convert("RGBA").save(tmp_path / "opaque" / f"{k}.png")
    assert ma.read(tmp_path / "grey").state_shape == (48, 64)
    np.testing.assert_array_equal(ma.read(tmp_path / "opaque").states, moving(3))


# ---------------------------------------------------------------- what is wrong


def refusal(path: Path, **options: object) -> str:
    """The one sentence, and nothing left in the cache."""
    with pytest.raises(ma.InputError) as found:
        ma.read(path, **options)  # type: ignore[arg-type]
    assert "\n" not in str(found.value)
    cache = path.parent / "cache" / "minaction" / "frames"
    assert not cache.exists() or not list(cache.iterdir())
    return str(found.value)


def test_pictures_of_different_sizes(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "run", moving(3))
    Image.fromarray(moving(1, 32, 32)[0]).save(folder / "frame1.png")
    message = refusal(folder)
    assert "frame1.png is 32 x 32 pixels in colour" in message
    assert "--resize" in message
    assert ma.read(folder, resize=(24, 24)).state_shape == (24, 24, 3)


def test_pictures_that_are_partly_transparent(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "run", moving(3))
    Image.fromarray(np.dstack([moving(1)[0], np.full((48, 64), 128, np.uint8)])).save(folder / "frame2.png")
    assert "frame2.png has four channels" in refusal(folder)


def test_pictures_of_sixteen_bits(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "run", moving(3))
    Image.fromarray(np.zeros((48, 64), np.uint16)).save(folder / "frame2.png")
    assert "8 bits per channel" in refusal(folder)


def test_a_broken_picture(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "run", moving(5))
    whole = (folder / "frame3.png").read_bytes()
    (folder / "frame3.png").write_bytes(whole[: len(whole) // 2])
    assert "frame3.png cannot be read as a picture" in refusal(folder)
    (folder / "frame3.png").write_bytes(b"no picture at all")
    assert "frame3.png cannot be read as a picture" in refusal(folder)


def test_pictures_beside_folders_of_them(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "run", moving(2))
    write_pictures(folder / "more", moving(2))
    assert "as well as folders" in refusal(folder)


@pytest.mark.parametrize(
    ("ending", "options"), [("mp4", {}), ("mp4", {"movflags": "faststart"}), ("mkv", {}), ("avi", {})]
)
def test_a_truncated_video(tmp_path: Path, ending: str, options: dict[str, str]) -> None:
    random = np.random.default_rng(0)
    noise = random.integers(0, 256, (60, 48, 64, 3)).astype(np.uint8)  # which does not compress to nothing
    path = write_video(tmp_path / f"clip.{ending}", noise, options=options)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    message = refusal(path)
    assert "truncated" in message
    assert path.name in message


def test_a_video_without_pictures(tmp_path: Path) -> None:
    path = tmp_path / "sound.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        sound.rate = 8000
        container.mux(stream.encode(sound))
    assert "only sound" in refusal(path)


def test_a_video_of_one_frame(tmp_path: Path) -> None:
    clip = write_video(tmp_path / "clip.mp4", moving(1))
    with pytest.raises(ma.InputError, match=f"^{clip}: every episode has a single frame"):
        ma.read(clip)


def test_the_package_for_videos_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_video(tmp_path / "clip.mp4", moving(3))
    monkeypatch.setitem(sys.modules, "av", None)
    assert "pip install 'minaction[video]'" in refusal(path)


def test_only_pictures_are_resized_and_have_no_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "walk.npy", np.zeros((4, 2)))
    assert "cannot be resized" in refusal(tmp_path / "walk.npy", resize=(8, 8))
    folder = write_pictures(tmp_path / "run", moving(3))
    assert "is not a table" in refusal(folder, states=["x"])
    assert "a height and a width" in refusal(folder, resize=(8,))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ma.InputError, match="no Parquet files, videos or pictures"):
        read_file(tmp_path / "empty")


def test_the_command_line_reads_videos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_video(tmp_path / "clip.mp4", moving(30))
    assert main(["data", "info", str(path), "--resize", "24", "32"]) == 0
    assert "24 x 32 x 3" in capsys.readouterr().out
    assert main(["data", "convert", str(path), str(tmp_path / "clip.safetensors")]) == 0
    assert ma.read(tmp_path / "clip.safetensors").state_shape == (48, 64, 3)
    path.write_bytes(path.read_bytes()[:500])
    assert main(["data", "info", str(path)]) == 2
