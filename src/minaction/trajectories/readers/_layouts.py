"""From named arrays, as in the files of OGBench and D4RL and in plain ones, to episodes.

::

    observations  |s0 s1 s2 s3|s0 s1 s2|     compact (OGBench's files, D4RL): the last state of an episode
    terminals       0  0  0  1  0  0  1      is marked

    observations       |s0 s1 s2|s0 s1|      with next observations: the last transition is marked, and
    next_observations  |s1 s2 s3|s1 s2|      an episode's last state is found in the second array only
    terminals            0  0  1  0  1

Where an array says where episodes end (marks as above, `offsets`, or the episode of each row), the first axis of the
states counts rows and the others are the shape of a state. Without one, the number of axes decides::

    (steps,) or (steps, numbers)                     one episode
    (episodes, steps, numbers)                       episodes of equal length
    (steps, height, width, channels)                 one episode of images
    (episodes, steps, height, width, channels)       episodes of equal length, of images
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...errors import InputError
from .._arrays import as_offsets, as_states, check_offsets, frozen
from .._dataset import Trajectories
from ._checks import list_names

_STATES = ("states", "observations")
_NEXT_STATES = ("next_states", "next_observations")
_TIMES = ("times", "time")
_EPISODE_IDS = ("episode", "episodes", "episode_ids", "episode_id")
ENDS = ("terminals", "timeouts", "terminations", "truncations", "dones")
_OF_TRANSITIONS = ("actions", "rewards", "next_observations", "next_states")


def arrange(arrays: Mapping[str, np.ndarray], keep_actions: bool) -> Trajectories:
    """Episodes from arrays; the one that says where episodes end is found by its name."""
    name = _first_of(_STATES, arrays)
    if name is None:
        raise InputError(
            "There is no array 'states' or 'observations' "
            f"(it holds {list_names(arrays)}); rename the one that holds the states."
        )
    given = arrays[name]
    if given.size == 0:
        # A shape such as (1000000000, 0, 2) takes no bytes, but what is made of it would.
        raise InputError(f"The array {name!r} of shape {given.shape} holds no states; record at least two.")
    offsets, axes = _offsets(arrays, name, given)
    states = _rows(given, name, axes)
    actions = _actions(arrays["actions"], axes) if keep_actions and "actions" in arrays else None
    times_name = _first_of(_TIMES, arrays)
    times = None if times_name is None else _joined_times(arrays[times_name])
    next_name = _first_of(_NEXT_STATES, arrays)
    if next_name is None:
        return Trajectories.from_flat(states, offsets, times, actions)
    if times is not None:
        raise InputError(f"There are times but none for the last of {next_name!r}; leave times or next states out.")
    next_states = _rows(arrays[next_name], next_name, axes)
    return _with_last_states(states, next_states, offsets, actions)


def offsets_from_ends(ends: np.ndarray) -> np.ndarray:
    """Where episodes begin, from a mark on the last row of each; rows after the last mark are an episode too."""
    starts = np.concatenate([[0], np.flatnonzero(ends) + 1])
    return starts if starts[-1] == len(ends) else np.concatenate([starts, [len(ends)]])


def offsets_from_ids(ids: np.ndarray) -> np.ndarray:
    """Where episodes begin, from the number or name of the episode of each row; its rows must be together."""
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


def leading_axes(num_axes: int) -> int:
    """How many axes of an array of states alone come before the shape of a state: 1 (steps) or 2 (episodes, steps)."""
    if num_axes > 5:
        raise InputError(
            f"An array of {num_axes} axes is too deep for states alone; add 'offsets' to say what they are."
        )
    return 2 if num_axes in (3, 5) else 1


def _offsets(arrays: Mapping[str, np.ndarray], name: str, states: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Where episodes begin, None for a single one, and how many axes come before the shape of a state."""
    found = _given_offsets(arrays, states)
    if found is not None:
        return found, 1
    axes = leading_axes(states.ndim)
    if name == "observations" and axes == 1 and any(other in arrays for other in _OF_TRANSITIONS):
        raise InputError(
            "There is no array 'terminals' or 'timeouts' to say where episodes end "
            f"(it holds {list_names(arrays)}); add one, or 'offsets'."
        )
    return (np.arange(states.shape[0] + 1) * states.shape[1] if axes == 2 else None), axes


def _given_offsets(arrays: Mapping[str, np.ndarray], states: np.ndarray) -> np.ndarray | None:
    """Where episodes begin, if some array says so."""
    rows = len(states) if states.ndim else 0
    ids_name = _first_of(_EPISODE_IDS, arrays)
    marks = ["valids"] if "valids" in arrays else [end for end in ENDS if end in arrays]
    if "offsets" in arrays:
        offsets = as_offsets(arrays["offsets"])
        _refuse_stacked(states, int(offsets.max(initial=0)))
        return offsets
    if ids_name is not None:
        ids = arrays[ids_name].reshape(-1)
        _refuse_stacked(states, ids.size)
        if ids.shape != (rows,):
            raise InputError(f"There are {ids.size} values in {ids_name!r} for {rows} states; give one per state.")
        return offsets_from_ids(ids)
    if not marks:
        return None
    ends = np.zeros(rows, dtype=bool)
    for mark in marks:
        _refuse_stacked(states, arrays[mark].size)
        # OGBench's loader adds `valids`, zero on the last state, and then marks two rows as terminal
        ends |= _flags(arrays, mark, rows) != (mark == "valids")
    if not ends.any():
        raise InputError(
            f"No row of {list_names(marks)} marks the end of an episode, so where they end is unknown; "
            "set the last row of each, or leave the array out if all is one episode."
        )
    return offsets_from_ends(ends)


def _refuse_stacked(states: np.ndarray, rows: int) -> None:
    """Refuse episodes of equal length, (episodes, steps, ...), beside an array about each of their states."""
    if states.ndim > 2 and len(states) != rows == states.shape[0] * states.shape[1]:
        raise InputError(
            f"The states of shape {states.shape} are equally long episodes, but another array says where they end; "
            "give either equally long episodes alone, or one row per state."
        )


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
    within = tuple(range(1, states.ndim))
    broken = (states[1:] != next_states[:-1]).any(axis=within)
    broken[ends[:-1]] = False
    rows = np.flatnonzero(broken)
    close = np.isclose(states[rows + 1], next_states[rows], rtol=1e-4, atol=1e-5, equal_nan=True).all(axis=within)
    if not close.all():
        raise InputError(
            f"The next state of row {rows[np.argmin(close)]} is not the state of the row after it, though "
            "the episode goes on there; give the transitions in the order in which they happened."
        )
    episode = np.arange(len(ends))
    place = np.arange(len(states)) + np.repeat(episode, np.diff(offsets))  # every earlier episode grew by one

    def extended(rows: np.ndarray, last: np.ndarray | float) -> np.ndarray:
        longer = np.empty((len(rows) + len(ends), *rows.shape[1:]), dtype=rows.dtype)
        longer[place] = rows
        longer[offsets[1:] + episode] = last
        return longer

    return Trajectories.from_flat(
        frozen(extended(states, next_states[ends])),
        offsets + np.arange(len(offsets)),
        actions=None if actions is None else extended(actions, 0.0),
    )


def _rows(array: np.ndarray, name: str, axes: int) -> np.ndarray:
    """One row per state, where `axes` axes come before its shape."""
    if axes == 2 and array.ndim > 1:
        array = array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])
    return frozen(as_states(array, repr(name)))  # nobody else holds it, so that it need not be copied


def _actions(array: np.ndarray, axes: int) -> np.ndarray | None:
    """One row of numbers per state; None where there are no columns, which is how OGBench's layout says "none"."""
    rows = _rows(array, "actions", axes)
    size = math.prod(rows.shape[1:])
    return rows.reshape(len(rows), size) if size else None


def _joined_times(times: np.ndarray) -> np.ndarray:
    if times.dtype.kind not in "iuf":
        raise InputError(f"The times are of type {times.dtype}, not numbers; convert them first.")
    return times.reshape(-1)


def _first_of(names: tuple[str, ...], arrays: Mapping[str, np.ndarray]) -> str | None:
    return next((name for name in names if name in arrays), None)
