"""The contract of a reader: which files it takes, and how episodes come out of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ...registry import Registry
from .._dataset import Trajectories
from ._columns import TableOptions


def _own() -> Mapping[str, Any]:
    from ._formats import FORMATS

    return {reader.name: reader for reader in FORMATS}


READERS: Registry[Any] = Registry("reader", "minaction.readers", _own)
"""Every reader by name."""


class Reader(ABC):
    """Reads recorded episodes from files of one format.

    To add a format, derive a class with a `name` and `suffixes`, implement `read`, and register it with
    `minaction.register` or under the entry-point group `minaction.readers`; `minaction.read` and the command line then
    take such files.

    >>> from pathlib import Path
    >>> import numpy as np
    >>> import minaction as ma
    >>> class WhitespaceText(ma.Reader):
    ...     name = "text-example"
    ...     suffixes = (".walk",)
    ...
    ...     def read(self, path, *, keep_actions=False, memory_map=False):
    ...         return ma.Trajectories.from_flat(np.loadtxt(path))
    >>> _ = ma.register(WhitespaceText)
    >>> _ = Path("/tmp/minaction-example.walk").write_text("0 0\\n0 1\\n1 1\\n")
    >>> ma.read("/tmp/minaction-example.walk")
    Trajectories(1 episode, 3 states of 2 numbers)
    """

    family: ClassVar[Registry[Any]] = READERS
    name: ClassVar[str]
    """What the format is called."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """The endings of its files, in lower case, with the dot."""
    signature: ClassVar[bytes] = b""
    """The first bytes of its files, by which one with another ending is recognised; empty where there are none."""
    mappable: ClassVar[bool] = False
    """Whether `read` can leave the states in the file (`memory_map`)."""

    def takes_folder(self, path: Path) -> bool:
        """Whether `path`, a folder or a file inside one, is a data set of this format that is a folder."""
        del path
        return False

    @abstractmethod
    def read(self, path: Path, *, keep_actions: bool = False, memory_map: bool = False) -> Trajectories:
        """The episodes in the file at `path`.

        Args:
            path: the file, which exists, or the folder.
            keep_actions: whether to keep the actions, if there are any.
            memory_map: whether to leave the states in the file; asked for only where `mappable`.

        Raises:
            InputError: where the file cannot be used, in one sentence that names it.
        """


class ImageReader(Reader):
    """A reader of pictures, which can give them another size, and count them instead of reading their clock."""

    mappable = True

    @abstractmethod
    def read(
        self,
        path: Path,
        *,
        keep_actions: bool = False,
        memory_map: bool = False,
        resize: tuple[int, int] | None = None,
        unit: str | None = None,
    ) -> Trajectories:
        """The frames at `path`, with the height and width `resize`, or as recorded if None.

        Where they have a clock, `unit` is that of time: seconds if None, "frames" to count them instead.
        """


class TableReader(Reader):
    """A reader of tables, which lets a person say what each column is."""

    resizes: ClassVar[bool] = False
    """Whether a column may hold pictures, to which `table.resize` gives another size."""

    def columns(self, path: Path) -> list[str]:
        """What the columns of the table at `path` are called, without reading all of it; empty if that is not known."""
        del path
        return []

    @abstractmethod
    def read(
        self,
        path: Path,
        *,
        keep_actions: bool = False,
        memory_map: bool = False,
        table: TableOptions | None = None,
    ) -> Trajectories:
        """The episodes in the file at `path`; `table` says which columns are what, its names do if None."""
