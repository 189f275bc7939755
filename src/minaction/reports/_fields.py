"""The explorer's data: every model's distances between all states of its task, beside the true ones.

A field is a matrix of distances (from, to), kept in few bytes: whole multiples of a quantum as 16-bit numbers, each
less the one before it, low bytes first and high bytes behind them, deflated, in base64.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import KDTree

from .._model import DistanceModel
from ..tasks import Layout, Truth, all_tasks
from ..trajectories import Trajectories
from ._records import Record

UNREACHABLE, UNKNOWN = 65535, 65534  # the codes of infinite distances, and of those that nobody can tell
_MOST_LEVELS = 10_000
_FINEST = 0.01

TruthsOf = Callable[[Record], Sequence[Truth]]
Progress = Callable[[int, int], None]


def task_truths(record: Record) -> list[Truth]:
    """What a record of a task is judged by, made anew."""
    task = all_tasks()[record.task]
    if task.fresh_data_per_seed:
        return task.truths(task.trajectories(record.seed, record.episodes))
    # Where all seeds share one data set it is large, and the truth comes from the maze alone.
    layout = task.layout()
    assert layout is not None
    return task.truths(Trajectories.from_episodes([layout.states[:2]]))


def explorer_data(
    records: Sequence[Record], most_bytes: int, truths_of: TruthsOf = task_truths, progress: Progress | None = None
) -> tuple[dict[str, Any], list[str]]:
    """What the page's explorer needs, and what has to be said about what is missing.

    First seeds come first, so that every method can be looked at even where `most_bytes` do not suffice for all.
    """
    finished = [record for record in records if record.model is not None]
    layouts = _layouts(finished)
    drawable = [record for record in finished if record.task in layouts]
    usable = [record for record in drawable if record.model is not None and record.model.exists()]
    notes = _about_models(len(drawable) - len(usable), "not kept with the results, and cannot be explored")
    if not usable:
        return {"fields": [], "boards": []}, notes or [_why_nothing(records)]
    places = {id(record): sum(_same(record, other) for other in usable[:k]) for k, record in enumerate(usable)}
    explorer, left_out = _Explorer(layouts), 0
    judges: dict[tuple[str, int, int | None], _Judge] = {}
    for done, record in enumerate(sorted(usable, key=lambda one: places[id(one)])):
        fresh = all_tasks()[record.task].fresh_data_per_seed
        key = (record.task, record.seed if fresh else 0, record.episodes)
        if key not in judges:
            judges[key] = _Judge.of(truths_of(record))
        left_out += not explorer.add(record, judges[key], most_bytes)
        if progress is not None:
            progress(done + 1, len(usable))
    notes += _about_models(left_out, "left out of the explorer to keep this file small")
    order = list(dict.fromkeys(record.task for record in usable))
    boards = sorted(explorer.boards.values(), key=lambda board: order.index(board["task"]))
    return {"fields": list(explorer.fields), "boards": boards}, notes


def _about_models(count: int, what: str) -> list[str]:
    return [f"{count} models were {what}." if count > 1 else f"1 model was {what}."] if count else []


def _layouts(records: Sequence[Record]) -> dict[str, Layout]:
    """The layouts of the records' tasks that have one; made once, because a world is searched for its states."""
    tasks = {record.task: all_tasks()[record.task] for record in records if record.task in all_tasks()}
    return {name: layout for name, task in tasks.items() if (layout := task.layout()) is not None}


def _why_nothing(records: Sequence[Record]) -> str:
    if all(record.model is None for record in records):
        return "There is nothing to explore yet: no training is finished."
    return "There is nothing to explore: it is not known how to draw the states of this data."


def _same(one: Record, other: Record) -> bool:
    return (one.task, one.method) == (other.task, other.method)


class EncodedField(NamedTuple):
    """A matrix of distances in few bytes; see above."""

    quantum: float
    data: str


@dataclass(frozen=True)
class _Judge:
    """What all models of one data set are shown beside."""

    truths: Sequence[Truth]
    fields: dict[str, EncodedField]
    """By the truth's name, between the states of the first."""

    @classmethod
    def of(cls, truths: Sequence[Truth]) -> _Judge:
        laid = {truth.name: on_states(truth, truths[0]) for truth in truths}
        return cls(truths, {name: encode_field(matrix) for name, matrix in laid.items() if matrix is not None})


@dataclass
class _Explorer:
    """Boards and fields as they gather; equal fields are kept once."""

    layouts: dict[str, Layout]
    boards: dict[str, dict[str, Any]] = field(default_factory=dict)
    fields: dict[EncodedField, int] = field(default_factory=dict)
    """Every field with its place among them."""

    def add(self, record: Record, judge: _Judge, most_bytes: int) -> bool:
        """Add a model's field and the true ones beside it, unless that would be too much."""
        judged = judge.truths[0]
        assert record.model is not None
        model = DistanceModel.load(record.model)
        learned = encode_field(model.pairwise(judged.sources, judged.targets))
        together = dict.fromkeys([*self.fields, learned, *judge.fields.values()])
        if sum(len(one.data) for one in together) > most_bytes:
            return False
        self.fields = {one: place for place, one in enumerate(together)}
        if record.task not in self.boards:
            self.boards[record.task] = _board(record.task, self.layouts[record.task], judge.truths)
        board = self.boards[record.task]
        board["models"].append(
            {
                "method": record.method,
                "seed": record.seed,
                "field": self.fields[learned],
                "truths": {name: self.fields[one] for name, one in judge.fields.items()},
            }
        )
        return True


def _board(task: str, layout: Layout, truths: Sequence[Truth]) -> dict[str, Any]:
    judged = truths[0]
    return {
        "task": task,
        "regions": regions(layout, judged.sources),
        "states": [[float(f"{number:.4g}") for number in state[:4]] for state in judged.sources],
        "units": {truth.name: truth.unit for truth in truths},
        "models": [],
    }


def on_states(truth: Truth, judged: Truth) -> np.ndarray | None:
    """A truth as a matrix between the states of another, NaN where it does not know them; None if it knows none."""
    places = {state.tobytes(): k for k, state in enumerate(truth.sources)}
    index = np.array([places.get(state.tobytes(), -1) for state in judged.sources])
    if (index < 0).all():
        return None
    known = (index >= 0)[:, None] & (index >= 0)[None, :]
    return np.where(known, truth.distances[np.ix_(index, index)], np.nan)


def regions(layout: Layout, states: np.ndarray) -> list[list[int]]:
    """For every state the pixels that show it, as rectangles: row, column, height, width, and so on.

    Where there are as many states as pixels they belong to each other; else a pixel belongs to the nearest state.
    """
    one_each = len(states) == len(layout.states)
    owner = np.arange(len(states)) if one_each else KDTree(states).query(layout.states)[1]
    return [_rectangles(layout.pixels[owner == k]) for k in range(len(states))]


def _rectangles(pixels: np.ndarray) -> list[int]:
    """Runs along the rows, those of equal extent in successive rows made one."""
    open_runs: dict[tuple[int, int], list[int]] = {}
    found: list[list[int]] = []
    for row in np.unique(pixels[:, 0]):
        columns = np.sort(pixels[pixels[:, 0] == row, 1])
        goes_on = {}
        for run in np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1):
            extent = (int(run[0]), len(run))
            above = open_runs.get(extent)
            if above is not None and above[0] + above[2] == row:
                above[2] += 1
            else:
                above = [int(row), extent[0], 1, extent[1]]
                found.append(above)
            goes_on[extent] = above
        open_runs = goes_on
    return [number for rectangle in found for number in rectangle]


def encode_field(distances: np.ndarray) -> EncodedField:
    """A matrix (n, n) of distances in few bytes; infinite ones are unreachable, NaN nobody can tell."""
    distances = np.asarray(distances, dtype=np.float64)
    finite = np.isfinite(distances)
    known = distances[finite]
    longest = float(known.max()) if known.size else 0.0
    quantum = _FINEST
    while longest / quantum > _MOST_LEVELS:
        quantum *= 10
    if np.array_equal(known, np.round(known)):
        quantum = max(1.0, quantum)
    codes = np.where(np.isnan(distances), UNKNOWN, UNREACHABLE)
    codes[finite] = np.round(known / quantum)
    changes = np.diff(codes.ravel(), prepend=0).astype(np.uint16)  # modulo 2^16, as the page adds them up
    planes = np.concatenate([changes & 255, changes >> 8]).astype(np.uint8)
    return EncodedField(round(quantum, 2), base64.b64encode(zlib.compress(planes.tobytes(), 9)).decode())
