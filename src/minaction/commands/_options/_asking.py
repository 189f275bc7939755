"""Options of asking a trained model and passing it on: `evaluate`, `distance`, `progress`, `export`, `card`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from ._training import Table


@dataclass(frozen=True)
class Evaluate:
    """Compare a run's models with the truth, overall and by range of true distance.

    For example
      minaction evaluate runs/cliffwalking-maddist
    """

    run: Annotated[Positional[Path], arg(metavar="RUN")]
    """Folder of a run, or of one run of a suite."""


@dataclass(frozen=True)
class Distance:
    """Measure the number of actions from one state to another, and back.

    For example
      minaction distance runs/cliffwalking-maddist --from 0 1 --to 1 0.667
      minaction distance runs/clips-pathdist --from here.png --to clips/3.mp4 120
    """

    run: Annotated[Positional[Path], arg(metavar="RUN")]
    """Folder of a run, or a model file."""
    source: Annotated[tuple[str, ...], arg(name="from", metavar="NUMBER ...")]
    """The state to start from: numbers, a picture, or a video and the number of a frame, counted from 0."""
    target: Annotated[tuple[str, ...], arg(name="to", metavar="NUMBER ...")]
    """The state to reach, likewise."""


@dataclass(frozen=True)
class Progress(Table):
    """Show how far along recorded episodes are, how long they have to go, and where they lost time.

    For example
      minaction progress runs/log-maddist
      minaction progress runs/log-maddist new_log.csv --goal 0.4 1.2 --out progress.csv
      minaction progress runs/arm-pathdist my_lerobot_data --out sarm_progress.parquet --figures episodes
    """

    run: Annotated[Positional[Path], arg(metavar="RUN")]
    """Folder of a run, or a model file."""
    log: Annotated[Positional[str | None], arg(metavar="[LOG]")] = None
    """A file of episodes; the file of the run by default. Columns are those of the run unless others are named."""
    goal: Annotated[tuple[str, ...], arg(metavar="NUMBER ...")] = ()
    """The state to reach: numbers, or those of several states one after the other, or a picture, or a video and the
    number of a frame; by default where the episodes end that succeeded, or, if the log does not say, most."""
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

    run: Annotated[Positional[Path], arg(metavar="RUN")]
    """Folder of a run or of agents, a model file, or an agent file."""
    output: Annotated[Positional[Path], arg(metavar="OUTPUT")]
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

    run: Annotated[Positional[Path], arg(metavar="RUN")]
    """Folder of a run, or a model file."""
    output: Annotated[Path | None, arg(aliases=["-o"])] = None
    """The file to write; printed by default."""
    folder: Path | None = None
    """A folder to write for the Hugging Face Hub instead: the card, the weights, and what they are."""
    licence: str = ""
    """Of the model: an SPDX identifier, such as mit or cc-by-4.0."""
    seed: int | None = None
    """Which of a run's models; that of its first seed by default."""
