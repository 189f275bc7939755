"""The explorer's data: every model's distances between all states of its task, beside the true ones, and weights.

A field is a matrix of distances (from, to) in few bytes: whole multiples of a quantum as 16-bit numbers, each stored as
the difference to the one before it, all low bytes and then all high bytes, deflated, in base64.
"""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import KDTree

from .._model import DistanceModel
from .._pages import inline_json
from .._progress import OnProgress
from ..errors import InputError
from ..runtimes._file import read
from ..runtimes.javascript import describe
from ..tasks import Layout, Source, Truth
from ._trials import Trial

UNREACHABLE, UNKNOWN = 65535, 65534  # the codes of infinite distances and of unknown ones
_MOST_LEVELS = 10_000
_FINEST = 0.01
_MOST_INPUTS = 32  # numbers of a state for which there is a field to type in


def explorer_data(
    trials: Sequence[Trial], most_bytes: int, source: Source | None = None, progress: OnProgress | None = None
) -> tuple[dict[str, Any], list[str]]:
    """What the page's explorer needs, and notes on what it leaves out.

    The first seed of every method comes first, so that all methods can be explored even where `most_bytes` do not
    suffice for all seeds. `source` is used for the trials that it belongs to; other data is read or made.
    """
    finished = [trial for trial in trials if trial.model is not None]
    worlds, notes = _worlds(finished, source)
    drawable = [trial for trial in finished if (trial.task, trial.episodes) in worlds]
    usable = [trial for trial in drawable if trial.model is not None and trial.model.exists()]
    notes += _about_models(len(drawable) - len(usable), "not kept with the results and cannot be explored")
    if not usable:
        return {"fields": [], "boards": [], "weights": []}, notes or [_why_nothing(trials)]
    explorer, left_out = _Explorer(), 0
    for done, trial in enumerate(_first_seeds_first(usable), start=1):
        try:
            left_out += not explorer.add(trial, worlds[trial.task, trial.episodes], most_bytes)
        except InputError as error:  # a model of another version, or data that cannot be made here
            notes.append(f"{trial.method} on {trial.task}, seed {trial.seed}, cannot be explored: {error}")
        if progress is not None:
            progress(done, len(usable))
    notes += _about_models(left_out, "left out of the explorer to keep this file small")
    notes += explorer.add_weights(most_bytes)
    order = list(dict.fromkeys(trial.task for trial in usable))
    boards = sorted(explorer.boards.values(), key=lambda board: order.index(board["task"]))
    return {"fields": list(explorer.fields), "boards": boards, "weights": explorer.weights}, notes


def _first_seeds_first(trials: Sequence[Trial]) -> list[Trial]:
    """The trials by their place among those of the same task and method."""
    seen = Counter[tuple[str, str]]()
    placed = []
    for trial in trials:
        placed.append((seen[trial.task, trial.method], trial))
        seen[trial.task, trial.method] += 1
    return [trial for _, trial in sorted(placed, key=lambda one: one[0])]


def _about_models(count: int, what: str) -> list[str]:
    return [f"{count} models were {what}." if count > 1 else f"1 model was {what}."] if count else []


def _why_nothing(trials: Sequence[Trial]) -> str:
    if all(trial.model is None for trial in trials):
        return "There is nothing to explore yet: no training is finished."
    return "There is nothing to explore: it is not known how to draw the states of this data."


class EncodedField(NamedTuple):
    """A matrix of distances in few bytes; see the top of this module."""

    quantum: float
    data: str


@dataclass(frozen=True)
class _TrueFields:
    """The truths beside which all models of one data set are shown."""

    truths: Sequence[Truth]
    fields: dict[str, EncodedField]
    """By the truth's name, between the states of the first truth."""

    @classmethod
    def of(cls, truths: Sequence[Truth]) -> _TrueFields:
        if not truths:
            raise InputError("no truth is known for its data, so there are no states to show.")
        laid = {truth.name: on_states(truth, truths[0]) for truth in truths}
        return cls(truths, {name: encode_field(matrix) for name, matrix in laid.items() if matrix is not None})


@dataclass(frozen=True)
class _World:
    """A task of given size: how to draw it, and the true distances of every seed; each is made once."""

    source: Source
    layout: Layout
    true_fields_by_seed: dict[int, _TrueFields] = field(default_factory=dict)

    def true_fields(self, seed: int) -> _TrueFields:
        key = seed if self.source.fresh else 0
        if key not in self.true_fields_by_seed:
            self.true_fields_by_seed[key] = _TrueFields.of(self.source.truths(seed))
        return self.true_fields_by_seed[key]


def _worlds(trials: Sequence[Trial], given: Source | None) -> tuple[dict[tuple[str, int | None], _World], list[str]]:
    """By task and number of episodes: the worlds that can be drawn; and notes on tasks that cannot be had."""
    worlds: dict[tuple[str, int | None], _World] = {}
    notes = []
    for key in dict.fromkeys((trial.task, trial.episodes) for trial in trials):
        same = given is not None and (given.name, given.episodes) == key
        try:
            source = given if given is not None and same else Source(key[0], episodes=key[1])
            if source.layout is not None:
                worlds[key] = _World(source, source.layout)
        except InputError as error:  # the package that offers the task is broken
            notes.append(f"{key[0]} cannot be explored: {error}")
    return worlds, notes


@dataclass
class _Explorer:
    """Boards and fields, one model after another; equal fields are kept once."""

    boards: dict[str, dict[str, Any]] = field(default_factory=dict)
    fields: dict[EncodedField, int] = field(default_factory=dict)
    """Every field with its place in the list."""
    files: list[tuple[dict[str, Any], Path]] = field(default_factory=list)
    """Every model on a board, and its file."""
    weights: list[dict[str, Any]] = field(default_factory=list)

    def add(self, trial: Trial, world: _World, most_bytes: int) -> bool:
        """Add a model's field and the true ones beside it, unless they do not fit."""
        true = world.true_fields(trial.seed)
        judged = true.truths[0]
        assert trial.model is not None
        model = DistanceModel.load(trial.model)
        learned = encode_field(model.pairwise(judged.sources, judged.targets))
        together = dict.fromkeys([*self.fields, learned, *true.fields.values()])
        if sum(len(one.data) for one in together) > most_bytes:
            return False
        self.fields = {one: place for place, one in enumerate(together)}
        if trial.task not in self.boards:
            self.boards[trial.task] = _board(trial.task, world.layout, true.truths)
        board = self.boards[trial.task]
        board["models"].append(
            {
                "method": trial.method,
                "seed": trial.seed,
                "field": self.fields[learned],
                "truths": {name: self.fields[one] for name, one in true.fields.items()},
            }
        )
        self.files.append((board["models"][-1], trial.model))
        return True

    def add_weights(self, most_bytes: int) -> list[str]:
        """Add the weights of as many models as fit, so that the page itself can compute their distances."""
        left, without = most_bytes - sum(len(one.data) for one in self.fields), 0
        for model, path in self.files:
            try:
                described = describe(read(path))
            except InputError:  # an encoder or a quasimetric of somebody's own
                continue
            if described["size"] > _MOST_INPUTS:
                continue
            size = len(inline_json(described))
            if size > left:
                without += 1
                continue
            left -= size
            model["weights"] = len(self.weights)
            self.weights.append(described)
        return _about_models(
            without,
            "too large for this file to answer about any state; `minaction export RUN page.html` has a page of its own",
        )


def _board(task: str, layout: Layout, truths: Sequence[Truth]) -> dict[str, Any]:
    judged = truths[0]
    return {
        "task": task,
        "regions": regions(layout, judged.sources),
        "states": [_numbers(state) for state in judged.sources],
        "units": {truth.name: truth.unit for truth in truths},
        "models": [],
    }


def _numbers(state: np.ndarray) -> list[float]:
    """What a state is asked about by, in as few digits as its type tells apart; the first few of many."""
    flat = np.ravel(state)
    shown = flat if flat.size <= _MOST_INPUTS else flat[:4]
    return [float(str(number)) for number in shown]


def on_states(truth: Truth, judged: Truth) -> np.ndarray | None:
    """A truth as a matrix between the states of another, NaN for states it does not have; None if it has none."""
    places = {state.tobytes(): k for k, state in enumerate(truth.sources)}
    index = np.array([places.get(state.tobytes(), -1) for state in judged.sources])
    if (index < 0).all():
        return None
    known = (index >= 0)[:, None] & (index >= 0)[None, :]
    return np.where(known, truth.distances[np.ix_(index, index)], np.nan)


def regions(layout: Layout, states: np.ndarray) -> list[list[int]]:
    """For every state the pixels that show it, as rectangles: row, column, height, width, and so on.

    Where there are as many states as pixels, each state has its own; otherwise a pixel shows the nearest state.
    """
    one_each = len(states) == len(layout.states)
    flat, drawn = (rows.reshape(len(rows), -1) for rows in (states, layout.states))
    owner = np.arange(len(states)) if one_each else KDTree(flat).query(drawn)[1]
    return [_rectangles(layout.pixels[owner == k]) for k in range(len(states))]


def _rectangles(pixels: np.ndarray) -> list[int]:
    """Runs of pixels along the rows; those of equal extent in successive rows are merged."""
    above_runs: dict[tuple[int, int], list[int]] = {}
    found: list[list[int]] = []
    for row in np.unique(pixels[:, 0]):
        columns = np.sort(pixels[pixels[:, 0] == row, 1])
        these_runs = {}
        for run in np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1):
            extent = (int(run[0]), len(run))
            above = above_runs.get(extent)
            if above is not None and above[0] + above[2] == row:
                above[2] += 1
            else:
                above = [int(row), extent[0], 1, extent[1]]
                found.append(above)
            these_runs[extent] = above
        above_runs = these_runs
    return [number for rectangle in found for number in rectangle]


def encode_field(distances: np.ndarray) -> EncodedField:
    """A matrix (n, n) of distances in few bytes; infinite means unreachable, and NaN unknown."""
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
