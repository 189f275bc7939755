"""What can be typed: one dataclass per command. Nothing heavy is imported here, so that help comes at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, UseAppendAction, arg

Device = Literal["auto", "cpu", "gpu"]


@dataclass(frozen=True, kw_only=True)
class Table:
    """What the columns of a table (.csv, .parquet) are."""

    episode: str | None = None
    """Of a table, as the following: the column that tells episodes apart; `episode` by default."""
    time: str | None = None
    """The column with the clock, numbers or dates; `time`, `timestamp` or the like by default."""
    unit: str | None = None
    """Of the clock, such as s or ms; told from the column by default."""
    states: Annotated[tuple[str, ...], arg(metavar="COLUMN ...")] = ()
    """The columns that make a state; all that are left by default."""
    drop: Annotated[tuple[str, ...], arg(metavar="COLUMN ...")] = ()
    """Columns to leave out."""
    missing: Literal["refuse", "drop", "split"] = "refuse"
    """Where a value is missing: refuse the table, drop the row, or split the episode there."""


@dataclass(frozen=True)
class Train(Table):
    """Learn a distance.

    For example
      minaction train cliffwalking
      minaction train my_log.npz --seeds 5
      minaction train cliffwalking --objective maddist --steps 50000
      minaction train cliffwalking --objective maddist --set separation_weight=5 encoder.fourier=64
      minaction train log.csv --episode run_id --time stamp --states x y heading --missing split
      minaction train cliffwalking --set quasimetric=iqe quasimetric.component_size=8 encoder.hidden=256,256
    """

    data: Positional[str]
    """A task (see `minaction tasks`) or a file: .npz, .npy, .csv, .parquet, .hdf5, .safetensors."""
    objective: str = "pathdist"
    """What is minimised; `minaction objectives` lists them."""
    steps: int | None = None
    """Gradient steps; as many as the objective needs by default."""
    seeds: int = 1
    """How many independent trainings to run side by side."""
    first_seed: int = 0
    """The seeds are this number and the ones after it."""
    episodes: int | None = None
    """How many episodes to learn from: of a task, its own number by default; of a file, the first so many."""
    held_out: float | None = None
    """The share of episodes that is not trained on but judges the result; by default 0.1 of a file with at least 20
    episodes, and 0 of a task."""
    evaluations: int = 50
    """How many times on the way the distance is compared with the truth."""
    out: Path | None = None
    """Folder of the run; runs/DATA-OBJECTIVE by default. An interrupted run goes on where it stopped."""
    overwrite: bool = False
    """Replace a run that is already in the folder, once the new one is finished."""
    device: Device = "auto"
    """Where to train; auto takes a GPU where there is one."""
    devices: int = 1
    """Share every batch out among so many devices."""
    track: Annotated[tuple[Literal["tensorboard", "wandb", "mlflow"], ...], arg(metavar="TOOL ...")] = ()
    """Also log to these tools (extra `track`); W&B writes offline and MLflow into the run's folder, unless their
    environment variables say otherwise."""
    set: Annotated[tuple[tuple[str, ...], ...], UseAppendAction, arg(metavar="NAME=VALUE ...")] = ()
    """Hyperparameters that are to differ from the defaults; those of encoder and quasimetric behind a dot."""


@dataclass(frozen=True)
class Evaluate:
    """Compare a run's models with the truth, overall and by range of true distance.

    For example
      minaction evaluate runs/cliffwalking-maddist
    """

    run: Positional[Path]
    """Folder of a run, or of one run of a suite."""


@dataclass(frozen=True)
class Distance:
    """How many actions lead from one state to another, and back.

    For example
      minaction distance runs/cliffwalking-maddist --from 0 1 --to 1 0.667
    """

    run: Positional[Path]
    """Folder of a run, or a model file."""
    source: Annotated[tuple[float, ...], arg(name="from", metavar="NUMBER ...")]
    """The state to start from."""
    target: Annotated[tuple[float, ...], arg(name="to", metavar="NUMBER ...")]
    """The state to reach."""


@dataclass(frozen=True)
class Progress(Table):
    """How far along recorded episodes are, how long they have to go, and where they lost time.

    For example
      minaction progress runs/log-maddist
      minaction progress runs/log-maddist new_log.csv --goal 0.4 1.2 --out progress.csv
    """

    run: Positional[Path]
    """Folder of a run, or a model file."""
    log: Positional[str | None] = None
    """A file of episodes; that of the run by default, whose columns are taken too unless other ones are named."""
    goal: Annotated[tuple[float, ...], arg(metavar="NUMBER ...")] = ()
    """The state to reach; wherever an episode of the log ends, if not given."""
    out: Path = Path("progress.csv")
    """The table to write, .csv or .parquet: a row for every state."""
    worst: int = 10
    """How many episodes to show."""


@dataclass(frozen=True)
class Export:
    """Write a model as an ONNX graph or as an offline page, which answer without this package.

    For example
      minaction export runs/cliffwalking-maddist model.onnx
      minaction export runs/cliffwalking-maddist page.html
      minaction export runs/cliffwalking-maddist encoder.onnx --part encoder --seed 2
    """

    run: Positional[Path]
    """Folder of a run, or a model file."""
    output: Positional[Path]
    """The .onnx or .html file to write; a page holds up to 500 recorded states."""
    part: Literal["distance", "encoder", "quasimetric"] = "distance"
    """distance: of two states; encoder: states to embeddings; quasimetric: the distance of two embeddings."""
    seed: int | None = None
    """Which of a run's models; that of its first seed by default."""


@dataclass(frozen=True)
class Card:
    """Write the card of a model as Markdown: data, method, settings, how right it is, licence, how to load it.

    For example
      minaction card runs/cliffwalking-pathdist
      minaction card runs/my_log-pathdist -o CARD.md --licence cc-by-4.0
      minaction card runs/my_log-pathdist --folder hub/my-distance
    """

    run: Positional[Path]
    """Folder of a run, or a model file."""
    output: Annotated[Path | None, arg(aliases=["-o"])] = None
    """The file to write; printed by default."""
    folder: Path | None = None
    """A folder to write for the Hugging Face Hub instead: the card, the weights, and what they are."""
    licence: str = ""
    """Of the model: an SPDX identifier, such as mit or cc-by-4.0."""
    seed: int | None = None
    """Which of a run's models; that of its first seed by default."""


@dataclass(frozen=True)
class Plan:
    """Let a planner follow a run's distance to goals in its maze, and count how often it gets there.

    For example
      minaction plan runs/ogbench-pointmaze-medium-stitch-maddist
      minaction plan RUN --tasks 1 3 --episodes 50
      minaction plan RUN --distance truth
      minaction plan RUN --goal 20 20
    """

    run: Positional[Path]
    """Folder of a run on one of OGBench's mazes."""
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
    """Steps for which a drawn action is held (the ball's planner)."""
    interval: int | None = None
    """Steps to execute before planning again."""
    seed: int = 0
    """Of starts, goals and candidates."""
    device: Device = "auto"
    """Where to compute."""


@dataclass(frozen=True)
class Suite:
    """Train a whole grid of tasks, methods and seeds into one folder of runs.

    Given again after an interruption, the same command goes on where it stopped; a finished run is never trained
    twice. On a cluster every machine needs this package with its extra `ray`.

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

    grid: Positional[str]
    """paper: every task with every method; ablations: the paper's ablations; or a .toml file."""
    seeds: int | None = None
    """Seeds of every task and method; 5, as in the paper, unless the file says otherwise."""
    steps: int | None = None
    """Gradient steps; as many as the paper by default: 50,000 on CliffWalking, 100,000 elsewhere."""
    only: Annotated[tuple[str, ...], arg(metavar="NAME,...")] = ()
    """Names of tasks, methods or ablations to which to keep."""
    dry_run: bool = False
    """Show what would be trained and how long it will take, from finished runs or short trials; write nothing."""
    out: Path | None = None
    """Folder of the suite; runs/NAME by default."""
    backend: Literal["local", "ray"] = "local"
    """Where to train: on this machine, or on a Ray cluster."""
    address: str | None = None
    """Of the Ray cluster; the one of this machine, started if need be, by default."""
    jobs: int | None = None
    """Programs at a time on this machine; as many as it has cores and memory for, or one on a GPU, by default."""
    replicas: int | None = None
    """Runs side by side in one program; as many as pay by default: 20 on a GPU, on a CPU the seeds of one method."""
    device: Device = "auto"
    """Where to train; auto takes GPUs where there are some."""


@dataclass(frozen=True)
class Reproduce:
    """Reproduce one table or figure of the paper: say what it costs, train what is missing, draw it.

    For example
      minaction reproduce --list
      minaction reproduce latent-dimension --dry-run
      minaction reproduce main-curves --seeds 3
      minaction reproduce table-1 --episodes 10
    """

    name: Positional[str | None] = None
    """Which one; `--list` shows them."""
    list: bool = False
    """List them and leave."""
    seeds: int | None = None
    """Seeds of each training; 5, as in the paper, by default."""
    steps: int | None = None
    """Gradient steps; as many as the paper by default."""
    episodes: int = 50
    """For planning: episodes for each of the five start-goal pairs of a maze."""
    dry_run: bool = False
    """Say what it costs and leave."""
    runs: Path = Path("runs")
    """Folder of the suites; runs in runs/paper and runs/ablations are used again."""
    out: Path = Path("reproduced")
    """Folder for figures, tables and page, in a folder with the reproduction's name."""
    backend: Literal["local", "ray"] = "local"
    """Where to train: on this machine, or on a Ray cluster."""
    address: str | None = None
    """Of the Ray cluster."""
    jobs: int | None = None
    """Programs at a time on this machine."""
    replicas: int | None = None
    """Runs side by side in one program; as many as pay by default."""
    device: Device = "auto"
    """Where to train."""


@dataclass(frozen=True)
class Report:
    """One page to look at: curves, verdicts, and an explorer of the learned distances.

    For example
      minaction report runs/* -o report.html
      minaction report runs/paper -o report.html --figures figures --tables tables
    """

    runs: Positional[tuple[Path, ...]]
    """Folders of runs and of suites, in any mix."""
    output: Annotated[Path, arg(aliases=["-o"])] = Path("report.html")
    """The page: a single file that opens offline."""
    figures: Path | None = None
    """Folder for the curves as PNG and SVG."""
    tables: Path | None = None
    """Folder for the tables as Markdown and LaTeX."""
    device: Device = "auto"
    """Where to compute."""


@dataclass(frozen=True)
class Data(Table):
    """Make, inspect and convert data sets.

    For example
      minaction data list
      minaction data make ogbench-pointmaze-giant-stitch
      minaction data info my_log.npz
      minaction data draw ogbench-antmaze-medium-explore visited.png
      minaction data convert my_log.csv my_log.safetensors
    """

    action: Positional[Literal["list", "make", "info", "draw", "convert"]]
    """list: the data sets that can be made; make: make one (and keep it in the cache); info: describe one;
    draw: a picture of where its states are, for mazes; convert: write one as .safetensors (ours) or .npz (OGBench's
    layout)."""
    source: Positional[str] = ""
    """A task or a file."""
    target: Positional[str] = ""
    """For convert and draw: the file to write."""
    episodes: int | None = None
    """For make and draw: how many episodes; the paper's number by default."""
    seed: int = 0
    """For make and draw: the seed; the same seed gives the same bytes."""
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
