"""`Trajectories`: recorded state sequences, held once, flat, checked on construction and never changed.

::

    states   |s0 s1 s2 s3|s0 s1|s0 s1 s2|      (N, D) float32; the next state is always index + 1
    offsets   0           4     6        9     (E + 1,): episode k is offsets[k]:offsets[k + 1]
    times     0  1  2  3  0  1  0  1  2        (N,), absent where the steps are 0, 1, 2, ...
    actions   a0 a1 a2 .  a0 .  a0 a1 .        (N, A), absent unless asked for; an episode's last is unused
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._files import map_tensors, read_tensors, write_tensors
from .._mapped import row_blocks
from ..errors import InputError


@dataclass(frozen=True)
class DistinctStates:
    """The different states of a data set, each once: `states[index]` is the data set's own array."""

    states: np.ndarray  # (U, D)
    index: np.ndarray  # (N,) int32

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Recorded episodes of states. Build it with `from_episodes` or `from_flat`; see the drawing above."""

    states: np.ndarray
    offsets: np.ndarray
    times: np.ndarray | None = None
    actions: np.ndarray | None = None

    def __post_init__(self) -> None:
        _check_states(self.states)
        check_offsets(self.offsets, len(self.states))
        if (np.diff(self.offsets) < 2).all():
            raise InputError("Every episode has a single state, so no transition was seen; record at least two states.")
        if self.times is not None:
            _check_times(self.times, self.offsets)
        if self.actions is not None:
            _check_actions(self.actions, len(self.states))
        for array in (self.states, self.offsets, self.times, self.actions):
            if array is not None and array.flags.writeable:
                array.flags.writeable = False

    # ---------------------------------------------------------------- construction

    @classmethod
    def from_episodes(
        cls,
        episodes: Sequence[ArrayLike],
        times: Sequence[ArrayLike] | None = None,
        actions: Sequence[ArrayLike] | None = None,
    ) -> Trajectories:
        """From one array (T_k, D) per episode, in order; `times` and `actions` are lists of equal lengths."""
        if len(episodes) == 0:
            raise InputError("There are no episodes; give at least one with two states.")
        arrays = [as_states(episode, f"episode {k}") for k, episode in enumerate(episodes)]
        widths = {array.shape[1] for array in arrays}
        if len(widths) > 1:
            k = next(k for k, array in enumerate(arrays) if array.shape[1] != arrays[0].shape[1])
            raise InputError(
                f"Episode {k} has states of {arrays[k].shape[1]} numbers and episode 0 of "
                f"{arrays[0].shape[1]}; all states need the same size."
            )
        offsets = np.concatenate([[0], np.cumsum([len(array) for array in arrays])])
        return cls.from_flat(
            frozen(np.concatenate(arrays)),
            offsets,
            times=None if times is None else _concatenate(times, arrays, "times"),
            actions=None if actions is None else _concatenate(actions, arrays, "actions"),
        )

    @classmethod
    def from_flat(
        cls,
        states: ArrayLike,
        offsets: ArrayLike | None = None,
        times: ArrayLike | None = None,
        actions: ArrayLike | None = None,
    ) -> Trajectories:
        """From all states in a row and where the episodes begin; without `offsets` it is a single episode.

        An array that the caller could still write to is copied; one that nobody can is taken as it is.
        """
        rows = as_states(states, "the states")
        times_of = None if times is None else _as_numbers(times, "the times").astype(np.float64, copy=False)
        actions_of = None if actions is None else as_states(actions, "the actions")
        return cls(
            _own(rows, states),
            np.array([0, len(rows)]) if offsets is None else as_offsets(offsets),
            None if times_of is None else _own(times_of, times),
            None if actions_of is None else _own(actions_of, actions),
        )

    # ---------------------------------------------------------------- what it holds

    @property
    def num_states(self) -> int:
        """How many states were recorded, repeats counted."""
        return len(self.states)

    @property
    def num_episodes(self) -> int:
        """How many episodes there are, those of a single state counted."""
        return len(self.offsets) - 1

    @property
    def state_size(self) -> int:
        """How many numbers a state has."""
        return self.states.shape[1]

    @property
    def lengths(self) -> np.ndarray:
        """The number of states of each episode."""
        return np.diff(self.offsets)

    def episode(self, k: int) -> np.ndarray:
        """The states of episode `k`, (T_k, D)."""
        return self.states[self.offsets[k] : self.offsets[k + 1]]

    def first(self, episodes: int) -> Trajectories:
        """The first `episodes` episodes alone."""
        if not 1 <= episodes <= self.num_episodes:
            raise InputError(f"Cannot take the first {episodes} of {self.num_episodes} episodes.")
        end = int(self.offsets[episodes])
        times, actions = self.times, self.actions
        return Trajectories(
            self.states[:end],
            self.offsets[: episodes + 1],
            None if times is None else times[:end],
            None if actions is None else actions[:end],
        )

    @property
    def is_mapped(self) -> bool:
        """Whether the states lie in a file and are read only as they are used."""
        return isinstance(self.states, np.memmap)

    @cached_property
    def distinct(self) -> DistinctStates:
        """The different states, and which of them each recorded one is: bit for bit, but -0.0 is 0.0."""
        rows = np.ascontiguousarray(self.states) + np.float32(0)  # adding zero turns -0.0 into 0.0
        keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, index = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)  # in order of first appearance, so that a table of them reads like the data
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return DistinctStates(rows[first[order]], rank[index].astype(np.int32))

    def has_at_most(self, limit: int) -> bool:
        """Whether there are at most `limit` different states; a glance at a sample settles most cases."""
        if self.is_mapped:
            return False  # finding out would mean reading all of it
        sample = self.states[:: max(1, len(self.states) // (4 * limit + 1))]
        return len(np.unique(sample, axis=0)) <= limit and len(self.distinct) <= limit

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of everything that training sees; equal data has equal fingerprints."""
        digest = hashlib.sha256()
        for array in (self.offsets, self.states, self.times):
            digest.update(b"-" if array is None else str(array.shape).encode())
            for rows in () if array is None else row_blocks(array):
                digest.update(np.ascontiguousarray(rows).data)
        return digest.hexdigest()[:16]

    def describe(self) -> dict[str, Any]:
        """What a person wants to know before training on it, as plain numbers."""
        lengths = self.lengths
        ranges = np.array([(rows.min(axis=0), rows.max(axis=0)) for rows in row_blocks(self.states)])
        summary: dict[str, Any] = {
            "states": self.num_states,
            "episodes": self.num_episodes,
            "transitions": int(np.sum(lengths - 1)),
            "shortest episode": int(lengths.min()),
            "longest episode": int(lengths.max()),
            "numbers per state": self.state_size,
            "smallest": ranges[:, 0].min(axis=0).tolist(),
            "largest": ranges[:, 1].max(axis=0).tolist(),
            "times": "0, 1, 2, ..." if self.times is None else "recorded",
            "actions": "none" if self.actions is None else f"{self.actions.shape[1]} numbers",
            "fingerprint": self.fingerprint,
        }
        if not self.is_mapped:
            summary["distinct states"] = len(self.distinct)
        return summary

    def __repr__(self) -> str:
        extras = "".join(f", {name}" for name in ("times", "actions") if getattr(self, name) is not None)
        states = f"{self.num_states} states of {self.state_size} numbers"
        return f"Trajectories({self.num_episodes} episodes, {states}{extras})"

    # ---------------------------------------------------------------- files

    def save(self, path: str | Path, header: dict[str, Any] | None = None) -> None:
        """Write to one safetensors file; `header` is kept with it (how the data was made, for example)."""
        tensors = {name: getattr(self, name) for name in ("states", "offsets", "times", "actions")}
        present = {name: tensor for name, tensor in tensors.items() if tensor is not None}
        write_tensors(path, "trajectories", present, {"made": header or {}})

    @classmethod
    def load(cls, path: str | Path, *, memory_map: bool = False) -> Trajectories:
        """Read what `save` wrote; with `memory_map` the states stay in the file until they are used."""
        tensors, _ = (map_tensors if memory_map else read_tensors)(path, "trajectories")
        missing = {"states", "offsets"} - tensors.keys()
        if missing:
            raise InputError(f"{path} has no {' and no '.join(sorted(missing))}; write it again.")
        try:
            offsets = as_offsets(tensors["offsets"])
            return cls(tensors["states"], offsets, tensors.get("times"), tensors.get("actions"))
        except InputError as error:
            raise InputError(f"{path}: {error}") from error


def as_states(values: ArrayLike, where: str) -> np.ndarray:
    """`values` as a float32 array (T, D); what is not one is refused with a sentence that names `where`."""
    array = _as_numbers(values, where)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"The array of {where} has shape {array.shape}; give one row of numbers per state.")
    if isinstance(array, np.memmap) and array.dtype == np.float32:
        return array
    with np.errstate(over="ignore"):  # what does not fit becomes infinite, which is refused later on
        return np.ascontiguousarray(array, dtype=np.float32)


def frozen(array: np.ndarray) -> np.ndarray:
    """`array` made read-only; for one that nobody else holds, so that it need not be copied."""
    array.flags.writeable = False
    return array


def _as_numbers(values: ArrayLike, where: str) -> np.ndarray:
    try:
        array = values if isinstance(values, np.memmap) else np.asarray(values)
    except ValueError:
        array = np.empty(0, dtype=object)  # ragged nested lists
    if array.dtype == object:
        raise InputError(f"The rows of {where} have different lengths or are not numbers; give one rectangular array.")
    if array.dtype.kind not in "fiub":
        raise InputError(f"The values of {where} are of type {array.dtype}, not numbers; convert them first.")
    return array


def as_offsets(values: ArrayLike) -> np.ndarray:
    """`values` as whole numbers, refused where they are none."""
    numbers = _as_numbers(values, "the offsets")
    with np.errstate(invalid="ignore"):  # NaN becomes some number, which differs
        offsets = numbers.astype(np.int64)
    if not np.array_equal(offsets, numbers):
        raise InputError("Offsets must be whole numbers; give the index at which each episode begins.")
    return offsets


def _own(array: np.ndarray, given: object) -> np.ndarray:
    shared = array is given or array.base is not None
    return array.copy() if shared and array.flags.writeable and not isinstance(array, np.memmap) else array


def _concatenate(parts: Sequence[ArrayLike], episodes: Sequence[np.ndarray], what: str) -> np.ndarray:
    arrays = [_as_numbers(part, f"the {what} of episode {k}") for k, part in enumerate(parts)]
    if len(arrays) > len(episodes):
        raise InputError(f"There are {what} for {len(arrays)} episodes but states for {len(episodes)}.")
    for k, episode in enumerate(episodes):
        if k >= len(arrays) or len(arrays[k]) != len(episode):
            given = len(arrays[k]) if k < len(arrays) else "no"
            raise InputError(f"Episode {k} has {len(episode)} states but {given} {what}; give one per state.")
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) > 1:
        raise InputError(f"The {what} have different sizes in different episodes; all need the same.")
    return frozen(np.concatenate(arrays))


def _check_states(states: np.ndarray) -> None:
    if states.ndim != 2 or states.dtype != np.float32:
        raise InputError(
            f"States must be a float32 array of shape (N, D), not {states.dtype} {states.shape}; "
            "use Trajectories.from_episodes or Trajectories.from_flat."
        )
    if states.size == 0:
        raise InputError("There are no states; give at least one episode with two states.")
    if isinstance(states, np.memmap):
        return  # it was checked when it was written; reading all of it here would defeat its purpose
    start = 0
    for rows in row_blocks(states):
        bad = ~np.isfinite(rows).all(axis=1)
        if bad.any():
            row = start + int(np.argmax(bad))
            raise InputError(f"State {row} holds NaN or infinity ({states[row].tolist()}); remove or repair that row.")
        start += len(rows)


def check_offsets(offsets: np.ndarray, num_states: int) -> None:
    """Refuse offsets that do not cut `num_states` rows into episodes of at least one."""
    if offsets.ndim != 1 or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != num_states:
        raise InputError(f"Offsets must run from 0 to the number of states ({num_states}), one more than episodes.")
    lengths = np.diff(offsets)
    if (lengths < 1).any():
        k = int(np.argmax(lengths < 1))
        raise InputError(f"Episode {k} is empty; every episode needs at least one state.")


def _check_times(times: np.ndarray, offsets: np.ndarray) -> None:
    if times.shape != (offsets[-1],):
        raise InputError(f"There are {times.size} times for {offsets[-1]} states; give one time per state.")
    if not np.isfinite(times).all():
        row = int(np.argmin(np.isfinite(times)))
        raise InputError(f"Time {row} is NaN or infinite; repair it or leave times out.")
    steps = np.diff(times)
    steps[offsets[1:-1] - 1] = 1.0  # from one episode's end to the next one's start anything may happen
    if (steps <= 0).any():
        row = int(np.argmax(steps <= 0))
        raise InputError(
            f"Times must increase inside an episode, but state {row + 1} is at {times[row + 1]:g} after "
            f"{times[row]:g}; sort the states or leave times out."
        )


def _check_actions(actions: np.ndarray, num_states: int) -> None:
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
