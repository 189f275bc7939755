"""Every reader through one set of checks, each on a file of its format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from minaction.testing import check_reader
from minaction.trajectories import READERS, Trajectories

STATES = np.random.default_rng(0).normal(size=(12, 2)).astype(np.float32)
ENDS = np.isin(np.arange(12), (4, 11))


def _safetensors(path: Path) -> None:
    Trajectories.from_flat(STATES, [0, 5, 12], actions=STATES).save(path)


def _npz(path: Path) -> None:
    np.savez(path, states=STATES, offsets=[0, 5, 12])


def _npy(path: Path) -> None:
    np.save(path, STATES)


def _hdf5(path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["observations"], file["terminals"], file["actions"] = STATES, ENDS, STATES


def _csv(path: Path) -> None:
    rows = [f"{k // 6},{x:.6f},{y:.6f}" for k, (x, y) in enumerate(STATES)]
    path.write_text("episode,x,y\n" + "\n".join(rows) + "\n")


def _parquet(path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"episode": np.arange(12) // 6, "x": STATES[:, 0], "y": STATES[:, 1]}
    parquet.write_table(arrow.table(columns), path)


def _video(path: Path) -> None:
    av = pytest.importorskip("av")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.height, stream.width, stream.pix_fmt = 32, 32, "yuv420p"
        for shade in range(0, 240, 20):
            frame = av.VideoFrame.from_ndarray(np.full((32, 32, 3), shade, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


FILES: dict[str, Callable[[Path], None]] = {
    "safetensors": _safetensors,
    "npz": _npz,
    "npy": _npy,
    "hdf5": _hdf5,
    "csv": _csv,
    "parquet": _parquet,
    "video": _video,
}


def test_every_reader_of_files_is_among_them() -> None:
    assert set(READERS) == {*FILES, "minari", "lerobot", "images"}  # which read folders; tests/trajectories has them


@pytest.mark.parametrize("name", FILES)
def test_every_member_keeps_the_public_contract(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"log{READERS[name].suffixes[0]}"
    FILES[name](path)
    check_reader(name, path)
