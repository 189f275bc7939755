"""The command line: parses and calls. Heavy imports stay inside `minaction.commands`, so that help comes at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import OmitArgPrefixes, Positional, arg, subcommand

from . import __version__
from .errors import InputError

Device = Literal["auto", "cpu", "gpu"]


@dataclass(frozen=True)
class Train:
    """Learn a distance.

    Examples:
      minaction train cliffwalking
      minaction train cliffwalking --seeds 5 --steps 50000
      minaction train my_log.npz --objective tdmaddist
      minaction train cliffwalking --set separation_weight=5 fourier_features=64
    """

    data: Positional[str]
    """A task (see `minaction tasks`) or a file: .npz, .npy, .csv, .parquet, .hdf5, .safetensors."""
    objective: str = "maddist"
    """What is minimised; `minaction objectives` lists them."""
    steps: int = 50_000
    """Gradient steps."""
    seeds: int = 1
    """How many independent trainings to run side by side."""
    first_seed: int = 0
    """The seeds are this number and the ones after it."""
    evaluations: int = 50
    """How many times on the way the distance is compared with the truth."""
    out: Path | None = None
    """Folder of the run; runs/DATA-OBJECTIVE by default. An interrupted run goes on where it stopped."""
    overwrite: bool = False
    """Replace a run that is already in the folder."""
    device: Device = "auto"
    """Where to train; auto takes a GPU where there is one."""
    set: Annotated[tuple[str, ...], arg(metavar="NAME=VALUE")] = field(default=())
    """Hyperparameters of the objective or its network that are to differ from the defaults."""


@dataclass(frozen=True)
class Evaluate:
    """Compare a run's models with the truth, overall and by range of true distance.

    Example: minaction evaluate runs/cliffwalking-maddist
    """

    run: Positional[Path]
    """Folder of a run."""


@dataclass(frozen=True)
class Distance:
    """How many actions lead from one state to another, and back.

    Example: minaction distance runs/cliffwalking-maddist --from 0 1 --to 1 0.667
    """

    run: Positional[Path]
    """Folder of a run, or a model file."""
    source: Annotated[tuple[float, ...], arg(name="from", metavar="NUMBER ...")]
    """The state to start from."""
    target: Annotated[tuple[float, ...], arg(name="to", metavar="NUMBER ...")]
    """The state to reach."""


@dataclass(frozen=True)
class Plan:
    """Let a planner follow a run's distance to goals in its maze, and count how often it gets there.

    Examples:
      minaction plan runs/ogbench-pointmaze-medium-stitch-maddist
      minaction plan RUN --tasks 1 3 --episodes 50
      minaction plan RUN --distance truth
      minaction plan RUN --goal 20 20
    """

    run: Positional[Path]
    """Folder of a run on one of OGBench's PointMazes."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5)
    """OGBench's start-goal pairs."""
    episodes: int = 10
    """Episodes for each pair."""
    goal: Annotated[tuple[float, ...], arg(metavar="X Y")] = ()
    """A goal of your own instead, from random starts."""
    distance: Literal["learned", "truth", "euclidean", "untrained"] = "learned"
    """What to follow; the others are controls."""
    candidates: int | None = None
    """Action sequences drawn for each plan; 100 by default."""
    horizon: int | None = None
    """Steps to look ahead; the maze's default if not given, as for the next two."""
    repeat: int | None = None
    """Steps for which a drawn action is held."""
    interval: int | None = None
    """Steps to execute before planning again."""
    seed: int = 0
    """Of starts, goals and candidates."""
    device: Device = "auto"
    """Where to compute."""


@dataclass(frozen=True)
class Data:
    """Make, inspect and convert data sets.

    Examples:
      minaction data list
      minaction data make ogbench-pointmaze-giant-stitch
      minaction data info my_log.npz
      minaction data convert my_log.csv my_log.safetensors
    """

    action: Positional[Literal["list", "make", "info", "convert"]]
    """list: the data sets that can be made; make: make one (and keep it in the cache); info: describe one;
    convert: write one as .safetensors (ours) or .npz (OGBench's layout)."""
    source: Positional[str] = ""
    """A task or a file."""
    target: Positional[str] = ""
    """For convert: the file to write."""
    episodes: int | None = None
    """For make: how many episodes; the paper's number by default."""
    seed: int = 0
    """For make: the seed; the same seed gives the same bytes."""
    keep_actions: bool = False
    """Carry actions along where the source has them."""


@dataclass(frozen=True)
class Tasks:
    """List the tasks: data that can be made, with the truth to judge a distance by."""


@dataclass(frozen=True)
class Objectives:
    """List the objectives and their hyperparameters."""


@dataclass(frozen=True)
class Doctor:
    """Show versions, devices and which extras are installed."""


Command = (
    Annotated[Train, subcommand("train")]
    | Annotated[Evaluate, subcommand("evaluate")]
    | Annotated[Distance, subcommand("distance")]
    | Annotated[Plan, subcommand("plan")]
    | Annotated[Data, subcommand("data")]
    | Annotated[Tasks, subcommand("tasks")]
    | Annotated[Objectives, subcommand("objectives")]
    | Annotated[Doctor, subcommand("doctor")]
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, or 2 after one sentence on what was wrong with the input."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments in (["--version"], ["-V"]):
        print(f"minaction {__version__}")
        return 0
    command = tyro.cli(
        OmitArgPrefixes[Command],  # type: ignore[arg-type]
        prog="minaction",
        description="Learn how many actions apart any two states are, from recorded state sequences alone.",
        args=arguments,
    )
    choose_device(getattr(command, "device", "auto"))
    try:
        return run(command)
    except InputError as error:
        print(f"minaction: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("minaction: stopped; the same command goes on from the last checkpoint.", file=sys.stderr)
        return 130


def run(command: object) -> int:
    """Hand a parsed command to the module that carries it out."""
    from . import commands

    match command:
        case Train():
            return commands.train(command)
        case Evaluate():
            return commands.evaluate(command)
        case Distance():
            return commands.distance(command)
        case Plan():
            return commands.plan(command)
        case Data():
            return commands.data(command)
        case Tasks():
            return commands.tasks()
        case Objectives():
            return commands.objectives()
        case Doctor():
            return commands.doctor()
    raise TypeError(f"unknown command {command!r}")


def choose_device(device: Device) -> None:
    """Tell JAX, before it starts, where to compute; what is already set in the environment stands with auto."""
    if device != "auto":
        os.environ["JAX_PLATFORMS"] = device
