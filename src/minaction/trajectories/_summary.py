"""What to know about a data set before training on it: its sizes, its ranges and its fingerprint."""

from __future__ import annotations

import hashlib
import html
from typing import TYPE_CHECKING, Any

import numpy as np

from .._mapped import row_blocks
from ._arrays import shape_in_words

if TYPE_CHECKING:
    from ._dataset import Trajectories

_EPISODES_SHOWN = 5  # of a data set, in a notebook


def summarise(data: Trajectories) -> dict[str, Any]:
    """Plain values by name; distinct states are counted only where that takes no file to be read."""
    lengths = data.lengths
    summary: dict[str, Any] = {
        "states": data.num_states,
        "episodes": data.num_episodes,
        "transitions": int(np.sum(lengths - 1)),
        "shortest episode": int(lengths.min()),
        "longest episode": int(lengths.max()),
        "state": f"{shape_in_words(data.state_shape)}, {data.states.dtype}",
        **({"columns": ", ".join(data.columns)} if data.columns else {}),
        **_ranges(data.states),
        "times": "0, 1, 2, ..." if data.times is None else f"recorded, in {data.time_unit or 'steps'}",
        "actions": "none" if data.actions is None else f"{data.actions.shape[1]} numbers",
        **({} if data.succeeded is None else {"succeeded": f"{int(data.succeeded.sum())} of {len(data)} episodes"}),
        "fingerprint": data.fingerprint,
    }
    if not data.is_mapped:
        summary["distinct states"] = len(data.distinct)
    return summary


def in_one_line(data: Trajectories) -> str:
    """What `repr` shows."""
    extras = "".join(f", {name}" for name in ("times", "actions") if getattr(data, name) is not None)
    kind = "" if data.states.dtype.kind == "f" else f", {data.states.dtype}"
    states = f"{data.num_states} states of {shape_in_words(data.state_shape)}{kind}"
    episodes = f"{data.num_episodes} episode{'' if data.num_episodes == 1 else 's'}"
    return f"Trajectories({episodes}, {states}{extras})"


def as_html(data: Trajectories) -> str:
    """What a notebook shows: the one line, and the first episodes."""
    unit, first = data.time_unit or "steps", min(_EPISODES_SHOWN, data.num_episodes)
    lines = zip(range(first), data.lengths.tolist(), data.durations.tolist(), strict=False)
    rows = "".join(f"<tr><td>{k}</td><td>{length}</td><td>{duration:g}</td></tr>" for k, length, duration in lines)
    more = f"<p>and {data.num_episodes - first} more</p>" if data.num_episodes > first else ""
    columns = f"<p>columns: {html.escape(', '.join(data.columns))}</p>" if data.columns else ""
    head = f"<tr><th>episode</th><th>states</th><th>duration ({html.escape(unit)})</th></tr>"
    return f"<p>{html.escape(in_one_line(data))}</p>{columns}<table>{head}{rows}</table>{more}"


def fingerprint(*arrays: np.ndarray | None) -> str:
    """A checksum of the arrays: of their types, shapes and bytes."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(b"-" if array is None else f"{array.dtype} {array.shape}".encode())
        for rows in () if array is None else row_blocks(array):
            digest.update(np.ascontiguousarray(rows).data)
    return digest.hexdigest()[:16]


def _ranges(states: np.ndarray) -> dict[str, Any]:
    """The smallest and largest value: of each number of a state, or of all together where a state is an image."""
    least, most = zip(*((rows.min(axis=0), rows.max(axis=0)) for rows in row_blocks(states)), strict=True)
    low, high = np.min(least, axis=0), np.max(most, axis=0)
    if states.ndim > 2:
        low, high = low.min(), high.max()
    return {"smallest": low.tolist(), "largest": high.tolist()}
