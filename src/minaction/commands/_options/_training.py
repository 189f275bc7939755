"""Options of learning a distance, and of reading a table: `train`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, UseAppendAction, arg

from ._devices import Device
from ._repeated import Names

Tool = Literal["tensorboard", "wandb", "mlflow"]


@dataclass(frozen=True, kw_only=True)
class Table:
    """How to read the columns of a table (.csv, .tsv, .parquet), or pictures."""

    episode: Annotated[Names, arg(metavar="COLUMN ...")] = ()
    """Of a table, as the next seven: the column that identifies the episode, or several that do so together;
    `episode` or the like by default. Without a name, all rows are one episode."""
    time: str | None = None
    """The column with the clock, numbers or dates; `time`, `timestamp` or the like by default."""
    unit: str | None = None
    """The unit of the clock, such as s or ms; inferred from the column by default. Of videos: s by default, or
    frames, to count them instead."""
    states: Annotated[Names, arg(metavar="COLUMN ...")] = ()
    """The columns that form a state; all remaining ones by default."""
    drop: Annotated[Names, arg(metavar="COLUMN ...")] = ()
    """Columns to leave out."""
    missing: Literal["refuse", "drop", "split"] = "refuse"
    """What to do with a missing value: refuse the table, drop the row, or split the episode there."""
    one_hot: Annotated[Names, arg(metavar="COLUMN ...")] = ()
    """Columns of whole numbers that name things (ids, modes): each becomes as many numbers, one of them 1."""
    success: str | None = None
    """The column that says, in any row of an episode, that it succeeded; `success` or the like by default."""
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

    data: Annotated[Positional[str], arg(metavar="DATA")]
    """A task (see `minaction tasks`), a file (.npz, .npy, .csv, .tsv, .parquet, .hdf5, .safetensors), a video,
    the folder of a LeRobot or Minari data set, of Parquet files, of videos or of pictures, or a Gymnasium id with
    --policy."""
    objective: str | None = None
    """What to minimise; `minaction objectives` lists the choices. pathdist by default, or that of --start-from."""
    steps: int | None = None
    """Number of gradient steps. If not given, the objective's own default; pathdist then stops earlier if held-out
    episodes show no further gain."""
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
    track: Annotated[tuple[tuple[Tool, ...], ...], UseAppendAction, arg(metavar="TOOL ...")] = ()
    """Also log to these tools (extra `track`); W&B writes offline and MLflow into the run's folder, unless their
    environment variables say otherwise."""
    set: Annotated[Names, arg(metavar="NAME=VALUE ...")] = ()
    """Hyperparameters to change; those of the encoder and the quasimetric as encoder.NAME and quasimetric.NAME."""
