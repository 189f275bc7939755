"""From named arrays, as OGBench, D4RL and plain files hold them, to episodes.

::

    observations  |s0 s1 s2 s3|s0 s1 s2|     compact (OGBench's files, D4RL): a mark on the last state
    terminals       0  0  0  1  0  0  1      of an episode

    observations       |s0 s1 s2|s0 s1|      with next observations: a mark on the last transition;
    next_observations  |s1 s2 s3|s1 s2|      an episode's last state is found in the second array only
    terminals            0  0  1  0  1
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import InputError
from .._dataset import Trajectories, as_offsets, as_states, check_offsets, frozen
from ._checks import list_names

_STATES = ("states", "observations")
_NEXT_STATES = ("next_states", "next_observations")
_TIMES = ("times", "time")
_EPISODE_IDS = ("episode", "episodes", "episode_ids", "episode_id")
ENDS = ("terminals", "timeouts", "terminations", "truncations", "dones")
_OF_TRANSITIONS = ("actions", "rewards", "next_observations", "next_states")


def arrange(arrays: Mapping[str, np.ndarray], keep_actions: bool) -> Trajectories:
    """Episodes from arrays of rows; which array says where an episode ends is found by its name."""
    name = _first_of(_STATES, arrays)
    if name is None:
        raise InputError(
            "There is no array 'states' or 'observations' "
            f"(it holds {list_names(arrays)}); rename the one that holds the states."
        )
    states = arrays[name]
    offsets = _offsets(arrays, name, states)
    states = _rows(states, name)
    actions = _rows(arrays["actions"], "actions") if keep_actions and "actions" in arrays else None
    if actions is not None and actions.shape[1] == 0:
        actions = None  # how a file in OGBench's layout says that there are none
    times_name = _first_of(_TIMES, arrays)
    times = None if times_name is None else _joined_times(arrays[times_name])
    next_name = _first_of(_NEXT_STATES, arrays)
    if next_name is None:
        return Trajectories.from_flat(states, offsets, times, actions)
    if times is not None:
        raise InputError(f"There are times but none for the last of {next_name!r}; leave times or next states out.")
    next_states = _rows(arrays[next_name], next_name)
    return _with_last_states(states, next_states, offsets, actions)


def offsets_from_ends(ends: np.ndarray) -> np.ndarray:
    """Where episodes begin, from a mark on the last row of each; rows after the last mark are one too."""
    starts = np.concatenate([[0], np.flatnonzero(ends) + 1])
    return starts if starts[-1] == len(ends) else np.concatenate([starts, [len(ends)]])


def offsets_from_ids(ids: np.ndarray) -> np.ndarray:
    """Where episodes begin, from the episode's number or name in each row; its rows must be together."""
    if ids.ndim != 1 or len(ids) == 0:
        raise InputError(f"The episode of each row is needed, but it has shape {ids.shape}; give one per row.")
    if ids.dtype.kind == "f" and not np.isfinite(ids).all():
        raise InputError(f"Row {int(np.argmin(np.isfinite(ids)))} has no episode; give every row one.")
    starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
    seen: set[object] = set()
    for start in starts.tolist():
        episode = ids[start].item() if isinstance(ids[start], np.generic) else ids[start]
        if episode in seen:
            raise InputError(
                f"Episode {episode!r} goes on at row {start} after another episode; sort the rows by episode."
            )
        seen.add(episode)
    return np.concatenate([starts, [len(ids)]])


def _offsets(arrays: Mapping[str, np.ndarray], name: str, states: np.ndarray) -> np.ndarray | None:
    rows = len(states) if states.ndim else 0
    ids_name = _first_of(_EPISODE_IDS, arrays)
    marks = ["valids"] if "valids" in arrays else [end for end in ENDS if end in arrays]
    if states.ndim == 3:
        if "offsets" in arrays or ids_name is not None or marks:
            raise InputError(
                f"The array {name!r} of shape {states.shape} holds equally long episodes, but other arrays "
                "say where they end; give either equally long episodes alone, or rows and their ends."
            )
        return np.arange(states.shape[0] + 1) * states.shape[1]
    if "offsets" in arrays:
        return as_offsets(arrays["offsets"])
    if ids_name is not None:
        ids = arrays[ids_name].reshape(-1)
        if ids.shape != (rows,):
            raise InputError(f"There are {ids.size} values in {ids_name!r} for {rows} states; give one per state.")
        return offsets_from_ids(ids)
    if marks:
        ends = np.zeros(rows, dtype=bool)
        for mark in marks:
            # OGBench's loader adds `valids`, zero on the last state, and then marks two rows as terminal
            ends |= _flags(arrays, mark, rows) != (mark == "valids")
        if not ends.any():
            raise InputError(
                f"No row of {list_names(marks)} marks the end of an episode, so where they end is unknown; "
                "set the last row of each, or leave the array out if all is one episode."
            )
        return offsets_from_ends(ends)
    if name == "observations" and any(other in arrays for other in _OF_TRANSITIONS):
        raise InputError(
            "There is no array 'terminals' or 'timeouts' to say where episodes end "
            f"(it holds {list_names(arrays)}); add one, or 'offsets'."
        )
    return None


def _flags(arrays: Mapping[str, np.ndarray], name: str, rows: int) -> np.ndarray:
    values = arrays[name]
    flat = values.reshape(-1)
    if flat.shape != (rows,):
        raise InputError(f"The array {name!r} has shape {values.shape} for {rows} states; give one value per state.")
    if flat.dtype.kind not in "biuf":
        raise InputError(f"The array {name!r} is of type {values.dtype}, not true or false; convert it first.")
    flags = flat == 1
    if not (flags | (flat == 0)).all():
        row = int(np.argmin(flags | (flat == 0)))
        raise InputError(f"Row {row} of {name!r} is {flat[row]}, neither 0 nor 1; repair it.")
    return flags


def _with_last_states(
    states: np.ndarray, next_states: np.ndarray, offsets: np.ndarray | None, actions: np.ndarray | None
) -> Trajectories:
    """Episodes of transitions: each gets the state that its last transition leads to."""
    if next_states.shape != states.shape:
        raise InputError(f"States have shape {states.shape} and next states {next_states.shape}; they must agree.")
    if actions is not None and len(actions) != len(states):
        raise InputError(f"There are {len(actions)} actions for {len(states)} transitions; give one for each.")
    offsets = np.array([0, len(states)]) if offsets is None else offsets
    check_offsets(offsets, len(states))
    ends = offsets[1:] - 1
    broken = (states[1:] != next_states[:-1]).any(axis=1)
    broken[ends[:-1]] = False
    rows = np.flatnonzero(broken)
    close = np.isclose(states[rows + 1], next_states[rows], rtol=1e-4, atol=1e-5, equal_nan=True).all(axis=1)
    if not close.all():
        raise InputError(
            f"The next state of row {rows[np.argmin(close)]} is not the state of the row after it, though "
            "the episode goes on there; give the transitions in the order in which they happened."
        )
    episode = np.arange(len(ends))
    place = np.arange(len(states)) + np.repeat(episode, np.diff(offsets))  # every earlier episode grew by one

    def extended(rows: np.ndarray, last: np.ndarray | float) -> np.ndarray:
        longer = np.empty((len(rows) + len(ends), rows.shape[1]), dtype=np.float32)
        longer[place] = rows
        longer[offsets[1:] + episode] = last
        return longer

    return Trajectories.from_flat(
        extended(states, next_states[ends]),
        offsets + np.arange(len(offsets)),
        actions=None if actions is None else extended(actions, 0.0),
    )


def _rows(array: np.ndarray, name: str) -> np.ndarray:
    if array.ndim == 3:  # (episodes, steps, numbers)
        array = array.reshape(array.shape[0] * array.shape[1], array.shape[2])
    return frozen(as_states(array, repr(name)))  # nobody else holds it, so that it need not be copied


def _joined_times(times: np.ndarray) -> np.ndarray:
    if times.dtype.kind not in "iuf":
        raise InputError(f"The times are of type {times.dtype}, not numbers; convert them first.")
    return times.reshape(-1)


def _first_of(names: tuple[str, ...], arrays: Mapping[str, np.ndarray]) -> str | None:
    return next((name for name in names if name in arrays), None)
