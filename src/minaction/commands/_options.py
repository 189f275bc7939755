"""The options of every command, one dataclass each. Nothing heavy is imported here, so that help is instant."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, UseAppendAction, arg

Device = Literal["auto", "cpu", "gpu"]


@dataclass(frozen=True, kw_only=True)
class Table:
    """How to read the columns of a table (.csv, .parquet), or pictures."""

    episode: str | None = None
    """Of a table, as the next five: the column that identifies the episode; `episode` or the like by default."""
    time: str | None = None
    """The column with the clock, numbers or dates; `time`, `timestamp` or the like by default."""
    unit: str | None = None
    """The unit of the clock, such as s or ms; inferred from the column by default."""
    states: Annotated[tuple[str, ...], arg(metavar="COLUMN ...")] = ()
    """The columns that form a state; all remaining ones by default."""
    drop: Annotated[tuple[str, ...], arg(metavar="COLUMN ...")] = ()
    """Columns to leave out."""
    missing: Literal["refuse", "drop", "split"] = "refuse"
    """What to do with a missing value: refuse the table, drop the row, or split the episode there."""
    one_hot: Annotated[tuple[str, ...], arg(metavar="COLUMN ...")] = ()
    """Columns of whole numbers that name things (ids, modes): each becomes as many numbers, one of them 1."""
    resize: Annotated[tuple[int, int] | None, arg(metavar="HEIGHT WIDTH")] = None
    """The size to give pictures and videos; that of the recording by default."""


@dataclass(frozen=True)
class Train(Table):
    """Learn a distance.

    For example
      minaction train cliffwalking
      minaction train my_log.npz --seeds 5
      minaction train cliffwalking --objective maddist --steps 50000
      minaction train cliffwalking --objective maddist --set separation_weight=5 encoder.fourier=64
      minaction train log.csv --episode run_id --time stamp --states x y heading --missing split
      minaction train clip.mp4 --resize 64 64
      minaction train MountainCar-v0 --policy random --episodes 300
      minaction train new_log.csv --start-from runs/log-pathdist --steps 1000
      minaction train cliffwalking --set quasimetric=iqe quasimetric.component_size=8 encoder.hidden=256,256
    """

    data: Positional[str]
    """A task (see `minaction tasks`), a file (.npz, .npy, .csv, .parquet, .hdf5, .safetensors), a video,
    the folder of a LeRobot or Minari data set, of Parquet files, of videos or of pictures, or a Gymnasium id with
    --policy."""
    objective: str | None = None
    """What to minimise; `minaction objectives` lists the choices. pathdist by default, or that of --start-from."""
    steps: int | None = None
    """Number of gradient steps; the objective's own default if not given."""
    seeds: int = 1
    """How many seeds to train side by side."""
    first_seed: int = 0
    """The first seed; the others follow it."""
    episodes: int | None = None
    """How many episodes to learn from: the first ones of a file; the task's own number by default."""
    policy: Literal["random"] | None = None
    """Which policy acts in a Gymnasium environment, such as MountainCar-v0, to record its episodes."""
    start_from: Path | None = None
    """Begin with the weights of this run or model file, to continue with new data or for more steps."""
    held_out: float | None = None
    """The share of episodes that is not trained on but used for validation; by default 0.1 for a file with at least 20
    episodes, and 0 for a task."""
    evaluations: int = 50
    """How many times to compare the distance with the truth during training."""
    out: Path | None = None
    """Folder of the run; runs/DATA-OBJECTIVE by default. An interrupted run continues where it stopped."""
    overwrite: bool = False
    """Replace a run that is already in the folder, once the new one is finished."""
    device: Device = "auto"
    """Where to train; auto uses a GPU if there is one."""
    devices: int = 1
    """Number of devices to divide every batch between."""
    track: Annotated[tuple[Literal["tensorboard", "wandb", "mlflow"], ...], arg(metavar="TOOL ...")] = ()
    """Also log to these tools (extra `track`); W&B writes offline and MLflow into the run's folder, unless their
    environment variables say otherwise."""
    set: Annotated[tuple[tuple[str, ...], ...], UseAppendAction, arg(metavar="NAME=VALUE ...")] = ()
    """Hyperparameters to change; those of the encoder and the quasimetric as encoder.NAME and quasimetric.NAME."""


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
    """Measure the number of actions from one state to another, and back.

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
    """Show how far along recorded episodes are, how long they have to go, and where they lost time.

    For example
      minaction progress runs/log-maddist
      minaction progress runs/log-maddist new_log.csv --goal 0.4 1.2 --out progress.csv
      minaction progress runs/arm-pathdist my_lerobot_data --out sarm_progress.parquet --figures episodes
    """

    run: Positional[Path]
    """Folder of a run, or a model file."""
    log: Positional[str | None] = None
    """A file of episodes; the file of the run by default. Columns are those of the run unless others are named."""
    goal: Annotated[tuple[float, ...], arg(metavar="NUMBER ...")] = ()
    """The state to reach, or several one after the other; where most episodes of the log end by default."""
    out: Path = Path("progress.csv")
    """The table to write, .csv or .parquet, with one row per state; NAME-episodes beside it holds the ranking."""
    figures: Path | None = None
    """Folder for a figure of every episode."""
    worst: int = 10
    """How many episodes to show."""


@dataclass(frozen=True)
class Export:
    """Write a model as an ONNX graph or as an offline page, or an agent's policy as an ONNX graph.

    For example
      minaction export runs/cliffwalking-maddist model.onnx
      minaction export runs/cliffwalking-maddist page.html
      minaction export runs/cliffwalking-maddist encoder.onnx --part encoder --seed 2
      minaction export agents/pointmaze-medium agent.onnx
    """

    run: Positional[Path]
    """Folder of a run or of agents, a model file, or an agent file."""
    output: Positional[Path]
    """The .onnx or .html file to write; a page holds up to 500 recorded states."""
    part: Literal["distance", "encoder", "quasimetric"] = "distance"
    """distance: of two states; encoder: states to embeddings; quasimetric: the distance of two embeddings."""
    seed: int | None = None
    """The seed whose model or agent to export; the first one by default."""


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
    """Plan with a run's distance to goals in its maze, and count how often they are reached.

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
    """Episodes per pair."""
    goal: Annotated[tuple[float, ...], arg(metavar="X Y")] = ()
    """Another goal instead, from random starts."""
    distance: Literal["learned", "truth", "euclidean", "untrained"] = "learned"
    """The distance to plan with; all but learned are controls."""
    candidates: int | None = None
    """Number of action sequences to draw for each plan; 100 by default."""
    horizon: int | None = None
    """Number of steps to look ahead; the default depends on the maze, as for the next two."""
    repeat: int | None = None
    """Number of steps for which an action is held (planning for the ball)."""
    interval: int | None = None
    """Number of steps to execute before planning again."""
    seed: int = 0
    """The seed of starts, goals and candidates."""
    device: Device = "auto"
    """Where to compute."""


@dataclass(frozen=True)
class Agent:
    """Learn to reach goals from recordings with actions, and see how often that succeeds in OGBench's environments.

    For example
      minaction agent train ogbench-pointmaze-medium-stitch
      minaction agent train log.hdf5 --model runs/log-pathdist --out agents/log
      minaction agent evaluate agents/ogbench-pointmaze-medium-stitch pointmaze-medium-v0 --gif episode.gif
    """

    action: Positional[Literal["train", "evaluate"]]
    """train: a distance (unless --model gives one) and an agent for every seed; evaluate: OGBench's protocol."""
    source: Positional[str]
    """For train: a task or a file with actions; for evaluate: the folder that train wrote, or an agent's file."""
    environment: Positional[str] = ""
    """For evaluate: OGBench's environment, such as antmaze-large-v0."""
    model: Path | None = None
    """For train: a run or a model file; by default a distance is trained first."""
    steps: int | None = None
    """For train: gradient steps of the agent's policy."""
    seeds: int = 1
    """For train: how many agents, each with a distance of its own unless --model gives one."""
    first_seed: int = 0
    """The seeds are this number and the ones after it; for evaluate, that of starts and goals."""
    episodes: int | None = None
    """For train: how many episodes to learn from; for evaluate: how many of each task, OGBench's 50 by default."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5)
    """For evaluate: OGBench's tasks."""
    jobs: int | None = None
    """For evaluate: processes; as many as there are cores by default."""
    gif: Path | None = None
    """For evaluate: a film of the first episode of every task, .gif."""
    out: Path | None = None
    """For train: the folder of the agents; agents/DATA by default."""
    device: Device = "auto"
    """Where to compute."""


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

    grid: Positional[str]
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

    name: Positional[str | None] = None
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
      minaction data draw log.csv visited.png --episode run_id --states x y
      minaction data convert my_log.csv my_log.safetensors
    """

    action: Positional[Literal["list", "make", "info", "draw", "convert"]]
    """list: the data sets that can be made; make: make one (and keep it in the cache); info: describe one;
    draw: a picture of where its states are, in its maze or by their first two numbers (--states);
    convert: write one as .safetensors (ours) or .npz (OGBench's layout)."""
    source: Positional[str] = ""
    """A task or a file."""
    target: Positional[str] = ""
    """For convert and draw: the file to write."""
    episodes: int | None = None
    """For make and draw: how many episodes; the paper's number by default."""
    seed: int = 0
    """For make and draw: the seed; the same seed gives the same bytes."""
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
