"""From named arrays, as in the files of OGBench and D4RL and in plain ones, to episodes.

::

    observations  |s0 s1 s2 s3|s0 s1 s2|     compact (OGBench's files, D4RL): the last state of an episode
    terminals       0  0  0  1  0  0  1      is marked

    observations       |s0 s1 s2|s0 s1|      with next observations: the last transition is marked, and
    next_observations  |s1 s2 s3|s1 s2|      an episode's last state is found in the second array only
    terminals            0  0  1  0  1

Where an array says where episodes end (by marks as above, or as `_ends` lists), the first axis of the states counts
rows and the others are the shape of a state. Without one, the number of axes decides::

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
from .._arrays import as_states, check_offsets, frozen
from .._dataset import Trajectories
from ._checks import list_names
from ._ends import check_unused, first_of, given_offsets, say_episodes

_STATES = ("states", "observations")
_NEXT_STATES = ("next_states", "next_observations")
_TIMES = ("times", "time", "timestamps", "timestamp", "stamps", "stamp")
_ACTIONS = ("actions", "action")
_OF_TRANSITIONS = (*_ACTIONS, "rewards", "reward", *_NEXT_STATES)


def arrange(arrays: Mapping[str, np.ndarray], keep_actions: bool) -> Trajectories:
    """Episodes from arrays; the one that says where episodes end is found by its name."""
    name = first_of(_STATES, arrays)
    if name is None:
        raise InputError(
            "There is no array 'states' or 'observations' "
            f"(it holds {list_names(arrays)}); rename the one that holds the states."
        )
    given = arrays[name]
    if given.size == 0:
        # A shape such as (1000000000, 0, 2) takes no bytes, but what is made of it would.
        raise InputError(f"The array {name!r} of shape {given.shape} holds no states; record at least two.")
    offsets, axes = _offsets(arrays, given)
    states = _rows(given, name, axes)
    known = (*_STATES, *_OF_TRANSITIONS, *_TIMES)
    check_unused(arrays, known, len(states) if offsets is None else None)
    actions_name = first_of(_ACTIONS, arrays) if keep_actions else None
    actions = None if actions_name is None else _actions(arrays[actions_name], axes)
    times_name = first_of(_TIMES, arrays)
    times = None if times_name is None else _joined_times(arrays[times_name])
    next_name = first_of(_NEXT_STATES, arrays)
    if next_name is None:
        return Trajectories.from_flat(states, offsets, times, actions)
    if times is not None:
        raise InputError(f"There are times but none for the last of {next_name!r}; leave times or next states out.")
    next_states = _rows(arrays[next_name], next_name, axes)
    return _with_last_states(states, next_states, offsets, actions)


def leading_axes(num_axes: int) -> int:
    """How many axes of an array of states alone come before the shape of a state: 1 (steps) or 2 (episodes, steps)."""
    if num_axes > 5:
        raise InputError(
            f"An array of {num_axes} axes is too deep for states alone; add 'offsets' to say what they are."
        )
    return 2 if num_axes in (3, 5) else 1


def _offsets(arrays: Mapping[str, np.ndarray], states: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Where episodes begin, None for a single one, and how many axes come before the shape of a state."""
    if say_episodes(arrays):
        return given_offsets(arrays, states), 1
    axes = leading_axes(states.ndim)
    if axes == 1 and states.ndim and first_of(_OF_TRANSITIONS, arrays) is not None:
        raise InputError(
            "There is no array 'terminals' or 'timeouts' to say where episodes end "
            f"(it holds {list_names(arrays)}); add one, or 'offsets' ([0, {len(states)}] if all is one episode)."
        )
    return (np.arange(states.shape[0] + 1) * states.shape[1] if axes == 2 else None), axes


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
