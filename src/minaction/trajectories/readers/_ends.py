"""Where the episodes of named arrays begin and end: one of them says so, in one of these ways.

::

    offsets          0 4 7             where episodes begin, and the end of the last
    episode_lengths  4 3               so many states each
    episode_ends     4 7               where episodes end: the row after the last
    episode_starts   0 4               where they begin
    episode          0 0 0 0 1 1 1     the number or the name of the episode of each row
    terminals        0 0 0 1 0 0 1     a mark on the last row of each; several such arrays mark some of them each
    is_first         1 0 0 0 1 0 0     a mark on the first row of each

`episode_ends` and `episode_starts` may be marks instead, which is told by their type and values.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from ...errors import InputError
from .._arrays import as_offsets
from ._checks import list_names
from ._names import EPISODE, FIRST, LAST, SUCCESS, or_several

_OFFSETS = ("offsets", "episode_offsets")
_LENGTHS = (*or_several("episode_length", "traj_length"), "lengths")
_EPISODES = (*or_several(*EPISODE), "episode_indices")
_BEGINS = or_several(*FIRST)
_ENDS = (*or_several("episode_end"), "ends")
_MARKS = or_several(*LAST)
_VALID = "valids"  # what OGBench's loader adds
_SAY = (*_OFFSETS, *_LENGTHS, *_EPISODES, *_BEGINS, *_ENDS, *_MARKS, _VALID)
_OTHERS = {*or_several("mask", "discount", "info", *SUCCESS), "metadata"}
_SIMULATORS = ("qpos", "qvel", "button_states", "infos/", "metadata/")
"""What the files of OGBench and D4RL hold besides, as it is or as a part of a name."""


def say_episodes(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether some array says where episodes end."""
    return first_of(_SAY, arrays) is not None


def first_of(names: tuple[str, ...], arrays: Mapping[str, np.ndarray]) -> str | None:
    """The first of these names that there is."""
    return next((name for name in names if name in arrays), None)


def given_offsets(arrays: Mapping[str, np.ndarray], states: np.ndarray) -> np.ndarray | None:
    """Where episodes begin, if some array says so."""
    rows = len(states) if states.ndim else 0
    if (name := first_of(_OFFSETS, arrays)) is not None:
        offsets = as_offsets(arrays[name])
        _refuse_stacked(states, int(offsets.max(initial=0)))
        return offsets
    if (name := first_of(_LENGTHS, arrays)) is not None:
        return _offsets_from_lengths(name, arrays[name], states)
    if (name := first_of(_EPISODES, arrays)) is not None:
        ids = arrays[name].reshape(-1)
        _refuse_stacked(states, ids.size)
        if ids.shape != (rows,):
            raise InputError(f"There are {ids.size} values in {name!r} for {rows} states; give one per state.")
        return offsets_from_ids(ids)
    if (name := first_of(_ENDS, arrays)) is not None and _are_numbers(arrays[name], rows):
        return _offsets_from_numbers(name, arrays[name], states, [0], [])
    if (name := first_of(_BEGINS, arrays)) is not None:
        if _are_numbers(arrays[name], rows):
            return _offsets_from_numbers(name, arrays[name], states, [], [rows])
        return offsets_from_ends(np.append(_marked(arrays, [name], states, "first")[1:], True))
    marks = [_VALID] if _VALID in arrays else [name for name in (*_ENDS, *_MARKS) if name in arrays]
    return offsets_from_ends(_marked(arrays, marks, states, "last")) if marks else None


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


def check_unused(arrays: Mapping[str, np.ndarray], known: tuple[str, ...], rows: int | None) -> None:
    """Refuse, or warn of, arrays with names that nobody knows, so that no end of an episode is lost in silence.

    `known` are the names with another meaning; `rows` is how many there are of a single episode, where nothing says
    that it is one.
    """
    names = {*_SAY, *_OTHERS, *known}
    unused = [name for name in arrays if name not in names and not any(part in name for part in _SIMULATORS)]
    if not unused:
        return
    are = f"{list_names(unused)} {'is' if len(unused) == 1 else 'are'} not used"
    if rows is None:
        warnings.warn(f"{are}, as no such name is known; rename what is needed, or leave it out.", stacklevel=4)
        return
    for name in unused:
        if _may_be_marks(arrays, name, rows):
            raise InputError(
                f"Nothing says where episodes end, but {name!r} is 0 or 1 in each of the {rows} rows; call it "
                "'terminals' if it marks the last row of each episode, 'episode_starts' if the first, or give "
                f"'offsets' ([0, {rows}] if all is one episode)."
            )
    warnings.warn(
        f"Nothing says where episodes end, so that all {rows} rows are taken for one, and {are}; if one of these says "
        "so, call it 'offsets', 'episode_lengths', 'episode_ids' or 'terminals'.",
        stacklevel=4,
    )


def _may_be_marks(arrays: Mapping[str, np.ndarray], name: str, rows: int) -> bool:
    try:
        values = arrays[name]
    except InputError:  # objects, or a group of HDF5
        return False
    if values.dtype.kind not in "biuf" or values.size != rows:
        return False
    return bool(np.isin(values, (0, 1)).all() and 0 < np.count_nonzero(values) < rows)


def _offsets_from_lengths(name: str, lengths: np.ndarray, states: np.ndarray) -> np.ndarray:
    if lengths.dtype.kind not in "iu":
        raise InputError(f"The lengths in {name!r} are of type {lengths.dtype}, not whole numbers; convert them first.")
    offsets = np.concatenate([[0], np.cumsum(lengths.astype(np.int64))])
    rows = len(states) if states.ndim else 0
    _refuse_stacked(states, int(offsets[-1]))
    if offsets[-1] != rows:
        raise InputError(
            f"The lengths in {name!r} add up to {offsets[-1]}, but there are {rows} states; give the states of all "
            "episodes one after the other, without padding."
        )
    return offsets


def _are_numbers(values: np.ndarray, rows: int) -> bool:
    """Whether these are the numbers of rows, and not a mark for each row."""
    return values.dtype.kind in "iu" and not (values.size == rows and np.isin(values, (0, 1)).all())


def _offsets_from_numbers(
    name: str, values: np.ndarray, states: np.ndarray, before: list[int], after: list[int]
) -> np.ndarray:
    rows = len(states) if states.ndim else 0
    numbers = values.reshape(-1).astype(np.int64)
    _refuse_stacked(states, int(numbers.max(initial=0)))
    offsets = np.array([*before, *numbers, *after], np.int64)
    if offsets[0] != 0 or offsets[-1] != rows or (np.diff(offsets) < 1).any():
        wanted = f"rise to {rows}, each the row after the last" if before else "rise from 0, each the first row"
        raise InputError(
            f"The rows in {name!r} are {_shortened(numbers)} for {rows} states; they must {wanted} of an episode."
        )
    return offsets


def _shortened(numbers: np.ndarray) -> str:
    shown = list(map(str, numbers.tolist()))
    return ", ".join(shown if len(shown) <= 4 else [*shown[:3], "...", shown[-1]])


def _marked(arrays: Mapping[str, np.ndarray], names: list[str], states: np.ndarray, which: str) -> np.ndarray:
    """Which rows some of these arrays mark, as the first or the last one of an episode."""
    rows = len(states) if states.ndim else 0
    marked = np.zeros(rows, dtype=bool)
    for name in names:
        _refuse_stacked(states, arrays[name].size)
        # OGBench's loader adds `valids`, zero on the last state, and then marks two rows as terminal
        marked |= _flags(arrays, name, rows) != (name == _VALID)
    if not marked.any():
        raise InputError(
            f"No row of {list_names(names)} marks the {'end' if which == 'last' else 'start'} of an episode, so where "
            f"they end is unknown; set the {which} row of each, or leave the array out if all is one episode."
        )
    return marked


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
