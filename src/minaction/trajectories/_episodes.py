"""`Episode`, and data sets made of selected episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from ._dataset import Trajectories


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode of a data set; `numpy.asarray` of it is its states.

    Attributes:
        states: (T, *shape).
        times: when each was recorded, (T,); 0, 1, 2, ... if there are no recorded times.
        actions: the action taken in each, (T, A), or None.
        columns: the names of a state's numbers; empty if they are not known.
        time_unit: the unit of the times; "" for steps.
        succeeded: whether it succeeded; None if the recording does not say.
    """

    states: np.ndarray
    times: np.ndarray
    actions: np.ndarray | None = None
    columns: tuple[str, ...] = ()
    time_unit: str = ""
    succeeded: bool | None = None

    @classmethod
    def of(cls, data: Trajectories, k: int) -> Episode:
        """Episode `k` of `data`, without a copy."""
        rows = slice(int(data.offsets[k]), int(data.offsets[k + 1]))
        times = np.arange(rows.stop - rows.start, dtype=np.float64) if data.times is None else data.times[rows]
        actions = None if data.actions is None else data.actions[rows]
        succeeded = None if data.succeeded is None else bool(data.succeeded[k])
        return cls(data.states[rows], times, actions, data.columns, data.time_unit, succeeded)

    @property
    def duration(self) -> float:
        """From the first state to the last."""
        return float(self.times[-1] - self.times[0])

    def __len__(self) -> int:
        return len(self.states)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.states, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Episode({len(self)} states, {self.duration:g} {self.time_unit or 'steps'})"


def episode_numbers(count: int, which: int | slice | Sequence[int] | np.ndarray) -> np.ndarray:
    """The numbers of the episodes that `which` chooses from `count`; a single number (with no axis) for an integer."""
    numbers = np.arange(count)
    if isinstance(which, slice):
        return numbers[which]
    chosen = np.asarray(which)
    try:
        return np.asarray(numbers[chosen if chosen.size else np.zeros(0, int)])
    except IndexError:
        if chosen.dtype.kind not in "iub":
            raise InputError(
                f"There is no episode {which!r}; episodes are chosen by numbers, a slice or a mask."
            ) from None
        raise IndexError(f"There is no episode {which!r}; there are {count}, counted from 0.") from None


def taken(data: Trajectories, episodes: np.ndarray) -> Trajectories:
    """The episodes with these numbers, in this order."""
    if len(episodes) == 0:
        raise InputError(f"None of the {data.num_episodes} episodes is left; choose at least one.")
    lengths = data.lengths[episodes]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    if len(episodes) == 1 or (np.diff(episodes) == 1).all():
        rows: Any = slice(int(data.offsets[episodes[0]]), int(data.offsets[episodes[-1] + 1]))  # without a copy
    else:
        rows = np.arange(offsets[-1]) + np.repeat(data.offsets[episodes] - offsets[:-1], lengths)
    return replace(
        data,
        states=data.states[rows],
        offsets=offsets,
        times=None if data.times is None else data.times[rows],
        actions=None if data.actions is None else data.actions[rows],
        episode_names=tuple(data.episode_names[k] for k in episodes.tolist()) if data.episode_names else (),
        succeeded=None if data.succeeded is None else data.succeeded[episodes],
    )


def parted(data: Trajectories, fraction: float, seed: int) -> tuple[Trajectories, Trajectories]:
    """A random `fraction` of the episodes, and the others; both in the order of `data`."""
    count = data.num_episodes
    if not 0 < fraction < 1 or count < 2:
        raise InputError(f"Cannot split {count} episodes at {fraction:g}; it takes two and a share between 0 and 1.")
    size = min(max(1, round(fraction * count)), count - 1)
    order = np.random.default_rng(seed).permutation(count)
    return taken(data, np.sort(order[:size])), taken(data, np.sort(order[size:]))


def joined(one: Trajectories, other: Trajectories) -> Trajectories:
    """The episodes of both; actions, names and which succeeded are kept where both have them."""
    for what in ("state_shape", "columns", "time_unit"):
        mine, theirs = getattr(one, what), getattr(other, what)
        if mine != theirs and not (what == "columns" and not (mine and theirs)):
            name = what.replace("_", " ")
            raise InputError(f"Data whose {name} is {mine!r} cannot be joined with data whose {name} is {theirs!r}.")
    timed = one.times is not None or other.times is not None
    both_act = one.actions is not None and other.actions is not None
    both_tell = one.succeeded is not None and other.succeeded is not None
    return replace(
        one,
        states=np.concatenate([one.states, other.states]),
        offsets=np.concatenate([one.offsets, one.num_states + other.offsets[1:]]),
        times=np.concatenate([_times(one), _times(other)]) if timed else None,
        actions=np.concatenate([one.actions, other.actions]) if both_act else None,  # type: ignore[list-item]
        columns=one.columns or other.columns,
        episode_names=one.episode_names + other.episode_names if one.episode_names and other.episode_names else (),
        succeeded=np.concatenate([one.succeeded, other.succeeded]) if both_tell else None,  # type: ignore[list-item]
    )


def _times(data: Trajectories) -> np.ndarray:
    if data.times is not None:
        return data.times
    return (np.arange(data.num_states) - np.repeat(data.offsets[:-1], data.lengths)).astype(np.float64)
