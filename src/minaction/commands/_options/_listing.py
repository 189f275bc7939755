"""Options of data sets, and of what there is: `data`, `tasks`, `objectives`, `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from ._training import Table


@dataclass(frozen=True)
class Data(Table):
    """Make, inspect and convert data sets.

    For example
      minaction data list
      minaction data make ogbench-pointmaze-giant-stitch
      minaction data info my_log.npz
      minaction data draw ogbench-antmaze-medium-explore visited.png
      minaction data draw log.csv visited.png --episode run_id --states x y
      minaction data convert my_log.csv my_log.safetensors
    """

    action: Positional[Literal["list", "make", "info", "draw", "convert"]]
    """list: the data sets that can be made; make: make one (and keep it in the cache); info: describe one;
    draw: a picture of where its states are, in its maze or by their first two numbers (--states);
    convert: write one as .safetensors (ours) or .npz (OGBench's layout)."""
    source: Annotated[Positional[str], arg(metavar="[SOURCE]")] = ""
    """A task or a file."""
    target: Annotated[Positional[str], arg(metavar="[TARGET]")] = ""
    """For convert and draw: the file to write."""
    episodes: int | None = None
    """How many episodes: the first ones of a file, all by default; the paper's number of a task."""
    seed: int = 0
    """Of a task: the seed; the same seed gives the same bytes."""
    keep_actions: bool = False
    """Keep actions if the source has them."""


@dataclass(frozen=True)
class Tasks:
    """List the tasks: data sets that can be made, with true distances to compare with."""


@dataclass(frozen=True)
class Objectives:
    """List the objectives and their hyperparameters."""


@dataclass(frozen=True)
class Doctor:
    """Show versions, devices and which extras are installed."""
