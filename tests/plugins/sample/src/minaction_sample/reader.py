"""A reader for text files with one episode to a line."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

import minaction as ma


class Lines(ma.Reader):
    """`#lines`, and then the states of one episode on each line: numbers between spaces."""

    name: ClassVar[str] = "sample-lines"
    suffixes: ClassVar[tuple[str, ...]] = (".lines",)
    signature: ClassVar[bytes] = b"#lines"

    def read(self, path: Path, *, keep_actions: bool = False, memory_map: bool = False) -> ma.Trajectories:
        try:
            first, *lines = path.read_text().splitlines()
            if first != "#lines":
                raise ValueError("it does not begin with #lines")
            return ma.Trajectories.from_episodes([np.array([float(word) for word in line.split()]) for line in lines])
        except (UnicodeDecodeError, ValueError) as error:
            raise ma.InputError(f"{path} is not a file of lines ({error}).") from error
