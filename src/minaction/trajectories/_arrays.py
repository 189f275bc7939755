"""Conversion and checks of the arrays that users pass in."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._mapped import row_blocks
from ..errors import InputError

KEPT = tuple(map(np.dtype, ("float32", "float64", "uint8", "int8", "uint16", "int16", "bool")))
"""The types of states that are kept as recorded. Wider integers, which a device would truncate, become float64."""

_MOST_SHOWN = 30  # numbers of a state in an error message
_LONGEST_KEY = 256  # bytes of a state; longer ones are compared by a digest of 16 bytes, which is fast to sort


def as_states(values: ArrayLike, where: str) -> np.ndarray:
    """`values` as an array of states (T, *shape) of a type that is kept; errors name `where`."""
    array = as_numbers(values, where)
    if array.ndim == 0:
        raise InputError(f"The array of {where} is a single number; give one row of numbers per state.")
    if array.ndim == 1:
        array = array[:, None]
    if isinstance(array, np.memmap) and array.dtype in KEPT:
        return array
    return np.ascontiguousarray(array, dtype=kept_type(array.dtype))


def kept_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that states of type `dtype` are stored in: the same where it is kept, else one that holds its values."""
    native = dtype.newbyteorder("=")
    if native in KEPT:
        return native
    return np.dtype(np.float32 if native == np.float16 else np.float64)


def shape_in_words(shape: tuple[int, ...]) -> str:
    """The shape of a state for a message: "3 numbers" or "shape 64 x 64 x 3"."""
    return (
        f"{shape[0]} number{'' if shape[0] == 1 else 's'}"
        if len(shape) == 1
        else f"shape {' x '.join(map(str, shape))}"
    )


def as_actions(values: ArrayLike) -> np.ndarray:
    actions = as_numbers(values, "the actions")
    rows = actions[:, None] if actions.ndim == 1 else actions
    with np.errstate(over="ignore"):  # what does not fit becomes infinite
        return np.ascontiguousarray(rows, dtype=np.float32)


def frozen(array: np.ndarray) -> np.ndarray:
    """`array`, made read-only in place instead of copied: only for an array that has no other owner."""
    array.flags.writeable = False
    return array


def as_numbers(values: ArrayLike, where: str) -> np.ndarray:
    try:
        array = values if isinstance(values, np.memmap) else np.asarray(values)
    except ValueError:
        array = np.empty(0, dtype=object)  # ragged nested lists
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        count = int(np.ma.getmaskarray(values).sum())
        raise InputError(f"{count} values of {where} are masked; fill them, or leave the episodes' rows out.")
    if array.dtype == object and array.size:
        array = _unpacked(array)
    if array.dtype == object:
        raise InputError(f"The rows of {where} have different lengths or are not numbers; give one rectangular array.")
    if array.dtype.kind not in "fiub":
        raise InputError(f"The values of {where} are of type {array.dtype}, not numbers; convert them first.")
    return array


def _unpacked(objects: np.ndarray) -> np.ndarray:
    """The numbers in an array of objects, as the values of a data frame with columns of several types are."""
    try:
        return np.array(objects.tolist())
    except (ValueError, OverflowError):  # of different lengths
        return objects


def as_offsets(values: ArrayLike) -> np.ndarray:
    """`values` as integers; anything else is refused."""
    numbers = as_numbers(values, "the offsets")
    with np.errstate(invalid="ignore"):  # NaN becomes some integer, which differs from it
        offsets = numbers.astype(np.int64)
    if not np.array_equal(offsets, numbers):
        raise InputError("Offsets must be whole numbers; give the index at which each episode begins.")
    return offsets


def unshared(array: np.ndarray, given: object) -> np.ndarray:
    """`array`, read-only; a copy if it shares memory with `given`, which the caller may still write to."""
    return read_only(array) if array is given or array.base is not None else frozen(array)


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only array with the values of `array`, whose own flags do not change."""
    if not array.flags.writeable:
        return array
    return frozen(array.view() if isinstance(array, np.memmap) else array.copy())


def positive_zeros(rows: np.ndarray) -> np.ndarray:
    """`rows` with -0.0 turned into 0.0."""
    return rows + rows.dtype.type(0) if rows.dtype.kind == "f" else rows


def row_keys(rows: np.ndarray) -> np.ndarray:
    """One key (n,) per state, equal where states are equal: its bytes, or a digest of them where they are many."""
    flat = np.ascontiguousarray(positive_zeros(rows)).reshape(len(rows), -1)
    if flat.dtype.itemsize * flat.shape[1] <= _LONGEST_KEY:
        return flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1]))).ravel()
    digests = b"".join(hashlib.blake2b(row.data, digest_size=16).digest() for row in flat)
    return np.frombuffer(digests, np.dtype((np.void, 16)))


def check_states(states: np.ndarray) -> None:
    if states.ndim < 2 or states.dtype not in KEPT:
        raise InputError(
            f"States must be an array of numbers of shape (N, *shape), not {states.dtype} {states.shape}; "
            "use Trajectories.from_episodes or Trajectories.from_flat."
        )
    if states.size == 0:
        raise InputError("There are no states; give at least one episode with two states.")


def check_finite(states: np.ndarray, offsets: np.ndarray) -> None:
    """Refuse states that are not finite in float32, which networks compute in."""
    if states.dtype.kind != "f":
        return
    start = 0
    for rows in row_blocks(states):
        with np.errstate(over="ignore"):  # networks compute in float32; what does not fit becomes infinite
            bad = ~np.isfinite(rows.astype(np.float32, copy=False)).reshape(len(rows), -1).all(axis=1)
        if bad.any():
            row = start + int(np.argmax(bad))
            shown = f" ({states[row].tolist()})" if states[row].size <= _MOST_SHOWN else ""
            raise InputError(
                f"State {row} holds NaN, infinity or a number too large for float32{_place(row, offsets)}{shown}; "
                "remove or repair that row."
            )
        start += len(rows)


def _place(row: int, offsets: np.ndarray) -> str:
    """Where a row is, in words, if there are several episodes: people have them one by one."""
    if len(offsets) == 2:
        return ""
    episode = int(np.searchsorted(offsets, row, side="right")) - 1
    return f" in row {row - offsets[episode]} of episode {episode}"


def check_offsets(offsets: np.ndarray, num_states: int) -> None:
    """Refuse offsets that do not divide `num_states` rows into episodes of at least one state."""
    if offsets.ndim != 1 or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != num_states:
        raise InputError(
            f"Offsets must run from 0 to the number of states ({num_states}); give one more than episodes."
        )
    lengths = np.diff(offsets)
    if (lengths < 1).any():
        k = int(np.argmax(lengths < 1))
        raise InputError(f"Episode {k} is empty; every episode needs at least one state.")


def check_outcomes(succeeded: np.ndarray, num_episodes: int) -> None:
    """Refuse anything but true or false for each episode."""
    if succeeded.dtype != bool or succeeded.shape != (num_episodes,):
        raise InputError(
            f"Which episodes succeeded is said by an array of type {succeeded.dtype} and shape {succeeded.shape}; give "
            f"true or false for each of the {num_episodes}."
        )


def check_times(times: np.ndarray, offsets: np.ndarray) -> None:
    if times.shape != (offsets[-1],):
        raise InputError(f"There are {times.size} times for {offsets[-1]} states; give one time per state.")
    first = 0
    for block in row_blocks(times):
        if not np.isfinite(block).all():
            row = first + int(np.argmin(np.isfinite(block)))
            raise InputError(f"Time {row} is NaN or infinite{_place(row, offsets)}; repair it or leave times out.")
        steps = np.diff(times[first : first + len(block) + 1])
        ends = offsets[np.searchsorted(offsets, first, side="right") : np.searchsorted(offsets, first + len(steps) + 1)]
        steps[ends - 1 - first] = 1.0  # times may do anything between two episodes
        if (steps <= 0).any():
            row = first + int(np.argmax(steps <= 0))
            raise InputError(
                f"Times must increase inside an episode, but state {row + 1} is at {times[row + 1]:g} after "
                f"{times[row]:g}{_place(row + 1, offsets)}; sort the states or leave times out."
            )
        first += len(block)


def check_actions(actions: np.ndarray, offsets: np.ndarray) -> None:
    num_states = int(offsets[-1])
    if actions.ndim != 2 or actions.dtype != np.float32:
        raise InputError(
            f"Actions must be a float32 array of shape (N, A), not {actions.dtype} {actions.shape}; "
            "use Trajectories.from_episodes or Trajectories.from_flat."
        )
    if len(actions) != num_states:
        raise InputError(
            f"There are {len(actions)} actions for {num_states} states; give one action per state "
            "(the last of an episode is never used)."
        )
    bad = np.concatenate([~np.isfinite(rows).all(axis=1) for rows in row_blocks(actions)])
    bad[offsets[1:] - 1] = False
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"Action {row} is NaN or infinite{_place(row, offsets)}; repair it, or leave actions out.")
