"""What the page about a person's own recording shows: a sample of states with all their distances, and episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._image_axes import is_image
from .._mapped import read_rows
from .._model import DistanceModel
from .._remaining import Progress
from ..trajectories import Trajectories
from ._fields import encode_field
from ._pictures import picture_sheet

_MOST_STATES = 400  # on the map; all their distances are on the page
_MOST_EPISODES, _MOST_POINTS = 300, 200  # of the timeline, and of one of its curves
_MOST_COLUMNS = 64  # of a state that can be shown as numbers
_LEVELS = 9000


def map_data(model: DistanceModel, data: Trajectories) -> dict[str, Any]:
    """Some recorded states, where they lie, and how far they are from each other."""
    shown = min(_MOST_STATES, data.num_states)
    rows = np.sort(np.random.default_rng(0).choice(data.num_states, shown, replace=False))
    states = read_rows(data.states, rows)
    episode = np.searchsorted(data.offsets, rows, side="right") - 1
    distances = model.pairwise(states, states)
    longest = float(distances.max()) or 1.0
    columns = _columns(data)
    flat = states.reshape(len(states), -1)[:, : len(columns)]
    return {
        "columns": columns,
        "values": [[_short(value) for value in row] for row in flat.T.tolist()],
        "projection": [[_short(value) for value in row] for row in _projection(np.asarray(model.embed(states))).T],
        "episodes": [data.episode_name(k) for k in episode.tolist()],
        "frames": (rows - data.offsets[episode]).tolist(),
        "field": encode_field(np.round(distances * (_LEVELS / longest))),
        "scale": longest / _LEVELS,
        "axes": _widest(flat),
        "pictures": picture_sheet(states) if is_image(data.state_shape) else None,
    }


def timelines(model: DistanceModel, data: Trajectories) -> tuple[list[dict[str, Any]], int]:
    """The remaining time along episodes, evenly chosen where there are many; and how many episodes are left out."""
    chosen = np.unique(np.linspace(0, len(data) - 1, _MOST_EPISODES).astype(int))
    goals = model.usual_ends(data)
    found = [_timeline(data.episode_name(k), model.progress(data[k], goals)) for k in chosen.tolist()]
    return found, len(data) - len(chosen)


def _timeline(name: str, along: Progress) -> dict[str, Any]:
    rows = np.unique(np.linspace(0, len(along.times) - 1, _MOST_POINTS).astype(int))
    clock = along.times - along.times[0]
    return {
        "episode": name,
        "rows": rows.tolist(),
        "clock": [_short(value) for value in clock[rows].tolist()],
        "remaining": [_short(value) for value in along.remaining[rows].tolist()],
        "done": [round(value, 3) for value in along.done[rows].tolist()],
        "lost": _short(along.lost),
        "finished": along.finished_at,
        "stretches": [
            [_short(clock[one.start]), _short(clock[min(one.stop, len(clock) - 1)]), _short(one.lost)]
            for one in along.stretches
        ],
    }


def facts(data: Trajectories, model: DistanceModel) -> list[tuple[str, str]]:
    """What was read, line by line."""
    unit, durations = model.unit or "steps", data.durations
    covered = model.health.recorded_share if model.health is not None else None
    found = [
        ("episodes", f"{len(data):,}"),
        ("states", f"{data.num_states:,}"),
        ("episode length", f"{_span(data.lengths, '{:,}')} states"),
        ("duration", f"{_span(durations, '{:.4g}')} {unit}, median {np.median(durations):.4g}"),
        ("clock", "none: steps are counted" if data.times is None else f"recorded, in {unit}"),
        ("held out", "nothing" if model.health is None else f"{model.health.episodes} episodes"),
    ]
    if covered is not None:
        found.append(("coverage", f"{covered:.0%} of the states of held-out episodes are known from the others"))
    return found


def _span(values: np.ndarray, form: str) -> str:
    low, high = form.format(values.min()), form.format(values.max())
    return low if low == high else f"{low} to {high}"


def column_lines(data: Trajectories) -> list[list[str]]:
    """A line for every number of a state: its name, and the range of its values."""
    described = data.describe()
    if len(data.state_shape) > 1:
        return []
    return [
        [name, f"{low:.5g}", f"{high:.5g}"]
        for name, low, high in zip(_columns(data), described["smallest"], described["largest"], strict=False)
    ]


def loss_curves(measurements: Sequence[Any]) -> list[dict[str, Any]]:
    """The loss of every seed as training went on."""
    found = []
    for seed in sorted({row.seed for row in measurements}):
        rows = [row for row in measurements if row.seed == seed and row.terms.get("loss") is not None]
        found.append({"seed": seed, "steps": [row.step for row in rows], "loss": [row.terms["loss"] for row in rows]})
    return [one for one in found if one["steps"]]


def _columns(data: Trajectories) -> list[str]:
    if len(data.state_shape) > 1:
        return []  # single numbers of an image say nothing
    return list(data.columns or (f"number {k + 1}" for k in range(data.states.shape[1])))[:_MOST_COLUMNS]


def _projection(embeddings: np.ndarray) -> np.ndarray:
    """The two directions in which embeddings differ most, (n, 2)."""
    centred = embeddings - embeddings.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    plane = (left * sizes)[:, :2]
    return np.pad(plane, [(0, 0), (0, 2 - plane.shape[1])])


def _widest(flat: np.ndarray) -> list[int]:
    """The two columns to begin with: the first two that take many values; nothing where there are not two."""
    many = [k for k in range(flat.shape[1]) if len(np.unique(flat[:, k])) > 2]
    return many[:2] if len(many) > 1 else []


def _short(value: Any) -> float:
    return float(f"{float(value):.5g}")
