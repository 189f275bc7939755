"""The formats that this package reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...errors import InputError
from .._dataset import Trajectories
from ._arrays import read_npy, read_npz
from ._base import ImageReader, Reader, TableReader
from ._columns import TableOptions
from ._d4rl import read_hdf5
from ._image_folder import is_image_folder, read_image_folder
from ._lerobot import is_lerobot, read_lerobot
from ._minari import minari_folder, read_minari
from ._parquet import SUFFIXES, map_parquet, parquet_columns, parquet_files, read_parquet
from ._robot_hdf5 import episode_files
from ._tables import csv_columns, read_csv
from ._video import SUFFIXES as VIDEOS
from ._video import read_video, video_files


class Safetensors(Reader):
    """Files written by this package."""

    name = "safetensors"
    suffixes = (".safetensors",)
    mappable = True

    def read(self, path: Path, *, keep_actions: bool = False, memory_map: bool = False) -> Trajectories:
        data = Trajectories.load(path, memory_map=memory_map)
        return data if keep_actions or data.actions is None else replace(data, actions=None)


class Npz(Reader):
    """Archives of NumPy arrays, OGBench's among them."""

    name = "npz"
    suffixes = (".npz",)
    signature = b"PK\x03\x04"

    def read(self, path: Path, *, keep_actions: bool = False, memory_map: bool = False) -> Trajectories:
        return read_npz(path, keep_actions)


class Npy(Reader):
    """One NumPy array of states."""

    name = "npy"
    suffixes = (".npy",)
    signature = b"\x93NUMPY"
    mappable = True

    def read(self, path: Path, *, keep_actions: bool = False, memory_map: bool = False) -> Trajectories:
        return read_npy(path, memory_map)


class Hdf5(Reader):
    """HDF5 in the layouts of D4RL, robomimic and ALOHA, of which the last is a folder of files."""

    name = "hdf5"
    suffixes = (".h5", ".hdf5")
    signature = b"\x89HDF"

    def takes_folder(self, path: Path) -> bool:
        return path.is_dir() and bool(episode_files(path))

    def read(self, path: Path, *, keep_actions: bool = False, memory_map: bool = False) -> Trajectories:
        return read_hdf5(path, keep_actions)


class Csv(TableReader):
    """A log as text, separated by commas, semicolons or tabs."""

    name = "csv"
    suffixes = (".csv", ".tsv")

    def columns(self, path: Path) -> list[str]:
        return csv_columns(path)

    def read(
        self,
        path: Path,
        *,
        keep_actions: bool = False,
        memory_map: bool = False,
        table: TableOptions | None = None,
    ) -> Trajectories:
        return read_csv(path, keep_actions, table)


class Parquet(TableReader):
    """A log as a Parquet table, or as a folder of them."""

    name = "parquet"
    suffixes = SUFFIXES
    signature = b"PAR1"
    mappable = True

    def takes_folder(self, path: Path) -> bool:
        return path.is_dir() and bool(parquet_files(path))

    def columns(self, path: Path) -> list[str]:
        return parquet_columns(path)

    def read(
        self,
        path: Path,
        *,
        keep_actions: bool = False,
        memory_map: bool = False,
        table: TableOptions | None = None,
    ) -> Trajectories:
        return (map_parquet if memory_map else read_parquet)(path, keep_actions, table)


class Minari(Reader):
    """The folder of a Minari data set, or the file inside it."""

    name = "minari"

    def takes_folder(self, path: Path) -> bool:
        return self._folder(path) is not None

    def read(self, path: Path, *, keep_actions: bool = False, memory_map: bool = False) -> Trajectories:
        folder = self._folder(path)
        if folder is None:
            raise InputError(f"{path} is not a Minari data set; give the folder that holds its metadata.json.")
        return read_minari(folder, keep_actions)

    @staticmethod
    def _folder(path: Path) -> Path | None:
        if path.name == "main_data.hdf5":
            return minari_folder(path.parent)
        return minari_folder(path) if path.is_dir() else None


class LeRobot(TableReader):
    """The folder of a LeRobot data set."""

    name = "lerobot"
    resizes = True

    def takes_folder(self, path: Path) -> bool:
        return is_lerobot(path)

    def read(
        self,
        path: Path,
        *,
        keep_actions: bool = False,
        memory_map: bool = False,
        table: TableOptions | None = None,
    ) -> Trajectories:
        if not is_lerobot(path):
            raise InputError(f"{path} is not a LeRobot data set; give the folder that holds its meta/info.json.")
        return read_lerobot(path, keep_actions, table)


class Video(ImageReader):
    """A video, or a folder of them, one per episode."""

    name = "video"
    suffixes = VIDEOS

    def takes_folder(self, path: Path) -> bool:
        return path.is_dir() and bool(video_files(path))

    def read(
        self,
        path: Path,
        *,
        keep_actions: bool = False,
        memory_map: bool = False,
        resize: tuple[int, int] | None = None,
        unit: str | None = None,
    ) -> Trajectories:
        return read_video(path, resize, unit, memory_map)


class ImageFolder(ImageReader):
    """A folder of pictures, or a folder of such folders, one per episode."""

    name = "images"

    def takes_folder(self, path: Path) -> bool:
        return is_image_folder(path)

    def read(
        self,
        path: Path,
        *,
        keep_actions: bool = False,
        memory_map: bool = False,
        resize: tuple[int, int] | None = None,
        unit: str | None = None,
    ) -> Trajectories:
        return read_image_folder(path, resize, unit, memory_map)


FORMATS: tuple[Reader, ...] = (
    Safetensors(),
    Npz(),
    Npy(),
    Hdf5(),
    Csv(),
    Minari(),
    LeRobot(),
    Parquet(),
    Video(),
    ImageFolder(),
)
