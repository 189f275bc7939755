"""Options of many runs: `suite`, `reproduce`, `report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from ._devices import Device


@dataclass(frozen=True)
class Suite:
    """Train a grid of tasks, methods and seeds into one folder of runs.

    After an interruption, the same command continues where it stopped; a finished run is never trained again. On a
    cluster every machine needs this package with its extra `ray`.

    For example
      minaction suite paper --dry-run
      minaction suite paper --only cliffwalking,keydoor-gridworld --seeds 2 --steps 2000
      minaction suite ablations --only latent-dimension
      minaction suite my_grid.toml --jobs 4
      minaction suite paper --backend ray --address 10.0.0.1:6379

    and a file of your own
      tasks = ["cliffwalking"]
      seeds = 3
      steps = 20000
      [methods.maddist]
      [methods.wide]
      objective = "maddist"
      settings = { quasimetric = "wide-norm" }
    """

    grid: Annotated[Positional[str], arg(metavar="GRID")]
    """paper: every task with every method; ablations: the paper's ablations; or a .toml file."""
    seeds: int | None = None
    """Seeds per task and method; 5, as in the paper, unless the file says otherwise."""
    steps: int | None = None
    """Number of gradient steps; those of the paper by default: 50,000 on CliffWalking, 100,000 elsewhere."""
    only: Annotated[tuple[str, ...], arg(metavar="NAME,...")] = ()
    """Train only these tasks, methods or ablations."""
    dry_run: bool = False
    """Show what would be trained and how long it will take, from finished runs or short trials; write nothing."""
    out: Path | None = None
    """Folder of the suite; runs/NAME by default."""
    backend: Literal["local", "ray"] = "local"
    """Where to train: on this machine, or on a Ray cluster."""
    address: str | None = None
    """Of the Ray cluster, or auto for the one that runs on this machine; by default one is started for the suite."""
    jobs: int | None = None
    """Number of worker processes on this machine; by default one on a GPU, and as many as cores and memory allow on a
    CPU."""
    replicas: int | None = None
    """Number of runs to train in one program; by default 20 on a GPU, and the seeds of one method on a CPU."""
    device: Device = "auto"
    """Where to train; auto uses a GPU if there is one."""


@dataclass(frozen=True)
class Reproduce:
    """Reproduce one table or figure of the paper: estimate the time, train what is missing, draw it.

    For example
      minaction reproduce --list
      minaction reproduce latent-dimension --dry-run
      minaction reproduce main-curves --seeds 3
      minaction reproduce table-1 --episodes 10
    """

    name: Annotated[Positional[str | None], arg(metavar="[NAME]")] = None
    """Which one; `--list` shows them."""
    list: bool = False
    """List all tables and figures and exit."""
    seeds: int | None = None
    """Seeds per task and method; 5, as in the paper, by default."""
    steps: int | None = None
    """Number of gradient steps; those of the paper by default."""
    episodes: int = 50
    """For planning: episodes for each of the five start-goal pairs of a maze."""
    dry_run: bool = False
    """Show how long it would take and exit."""
    runs: Path = Path("runs")
    """Folder of the suites; runs in runs/paper and runs/ablations are reused."""
    out: Path = Path("reproduced")
    """Figures, tables and page are written to a subfolder of this one, named after the reproduction."""
    backend: Literal["local", "ray"] = "local"
    """Where to train: on this machine, or on a Ray cluster."""
    address: str | None = None
    """The address of the Ray cluster."""
    jobs: int | None = None
    """Number of worker processes on this machine."""
    replicas: int | None = None
    """Number of runs to train in one program."""
    device: Device = "auto"
    """Where to train."""


@dataclass(frozen=True)
class Report:
    """Write a page with curves, verdicts, and an explorer of the learned distances.

    For example
      minaction report runs/* -o report.html
      minaction report runs/paper -o report.html --figures figures --tables tables
    """

    runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUNS ...")]
    """Folders of runs and of suites, in any mix."""
    output: Annotated[Path, arg(aliases=["-o"])] = Path("report.html")
    """The page: a single file that opens offline."""
    figures: Path | None = None
    """Folder for the curves as PNG and SVG."""
    tables: Path | None = None
    """Folder for the tables as Markdown and LaTeX."""
    device: Device = "auto"
    """Where to compute."""
