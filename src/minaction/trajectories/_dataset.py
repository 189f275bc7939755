"""`Trajectories`: recorded state sequences, stored once in flat arrays, checked on construction and immutable.

::

    states   |s0 s1 s2 s3|s0 s1|s0 s1 s2|      (N, *shape), as recorded: images stay uint8; the next is index + 1
    offsets   0           4     6        9     (E + 1,): episode k is offsets[k]:offsets[k + 1]
    times     0  1  2  3  0  1  0  1  2        (N,), absent where they are 0, 1, 2, ... in every episode
    actions   a0 a1 a2 .  a0 .  a0 a1 .        (N, A), absent unless asked for; the last of an episode is unused
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from .._mapped import read_rows
from ..errors import InputError
from ._arrays import (
    as_actions,
    as_numbers,
    as_offsets,
    as_states,
    check_actions,
    check_finite,
    check_offsets,
    check_outcomes,
    check_states,
    check_times,
    frozen,
    read_only,
    shape_in_words,
    unshared,
)
from ._distinct import DistinctStates, distinct_states, sample_has_at_most
from ._episodes import Episode, episode_numbers, joined, parted, taken
from ._file import read_arrays, write_arrays
from ._flat import concatenated, flattened
from ._summary import as_html, fingerprint, in_one_line, summarise


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Recorded episodes of states of any shape.

    Build it with `from_episodes` or `from_flat`, or with `minaction.read` and `minaction.collect`. States keep the type
    they were recorded in (float32, float64, bool, or integers of 8 or 16 bits). The arrays are read-only; the caller's
    arrays are not changed.

    Attributes:
        states: all states one after the other, (N, *shape).
        offsets: where episodes begin, and the end of the last, (E + 1,): episode k is offsets[k]:offsets[k + 1].
        times: when each state was recorded, (N,) float64, increasing inside an episode; None for 0, 1, 2, ...
        actions: the action taken in each state, (N, A) float32, the last of an episode unused; None if not kept.
        columns: the names of a state's numbers; empty if they are not known.
        time_unit: the unit of `times`, such as "s" or "ms"; "" for steps.
        episode_names: what the recording calls its episodes, one each; empty if they only have numbers.
        succeeded: which episodes succeeded, (E,) bool; None if the recording does not say.

    It is a container of episodes: `len`, `data[3]` and iteration give one `Episode` after the other, `data[:10]` and
    `data[[1, 5]]` several as `Trajectories`, and `+` joins two.

    >>> import numpy as np
    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([np.zeros((5, 2)), np.ones((3, 2))])
    >>> data
    Trajectories(2 episodes, 8 states of 2 numbers)
    >>> data.episode(1).shape
    (3, 2)
    >>> [len(episode) for episode in data[:1] + data]
    [5, 5, 3]
    >>> ma.Trajectories.from_episodes([np.zeros((5, 64, 64, 3), np.uint8)])
    Trajectories(1 episode, 5 states of shape 64 x 64 x 3, uint8)
    """

    states: np.ndarray
    offsets: np.ndarray
    times: np.ndarray | None = None
    actions: np.ndarray | None = None
    columns: tuple[str, ...] = ()
    time_unit: str = ""
    episode_names: tuple[str, ...] = ()
    succeeded: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_states(self.states)
        check_offsets(self.offsets, len(self.states))
        if not self.is_mapped:  # a mapped file is checked once when it is mapped, not again for every part of it
            check_finite(self.states, self.offsets)
        if (np.diff(self.offsets) < 2).all():
            raise InputError("Every episode has a single state, so there is no transition; record at least two states.")
        if self.times is not None:
            check_times(self.times, self.offsets)
        if self.actions is not None:
            check_actions(self.actions, self.offsets)
        object.__setattr__(self, "columns", tuple(map(str, self.columns)))
        if self.columns and self.states.shape[1:] != (len(self.columns),):
            raise InputError(
                f"There are {len(self.columns)} names for states of {shape_in_words(self.state_shape)}; give one each."
            )
        object.__setattr__(self, "episode_names", tuple(map(str, self.episode_names)))
        if self.episode_names and len(self.episode_names) != self.num_episodes:
            count = len(self.episode_names)
            raise InputError(f"There are {count} names for {self.num_episodes} episodes; give one each.")
        if self.succeeded is not None:
            check_outcomes(self.succeeded, self.num_episodes)
        for name in ("states", "offsets", "times", "actions", "succeeded"):
            array = getattr(self, name)
            if array is not None and array.flags.writeable:
                object.__setattr__(self, name, read_only(array))

    # ---------------------------------------------------------------- construction

    @classmethod
    def from_episodes(
        cls,
        episodes: Sequence[ArrayLike],
        times: Sequence[ArrayLike] | None = None,
        actions: Sequence[ArrayLike] | None = None,
        *,
        columns: Sequence[str] = (),
        time_unit: str = "",
        succeeded: ArrayLike | None = None,
    ) -> Trajectories:
        """From one array of states per episode.

        Args:
            episodes: the states of each episode in order, (T_k, *shape) each, or (T_k,) where a state is one number.
                All states have the same shape. An array (E, T, *shape) is E episodes of equal length; a single episode
                is given as `[array]`.
            times: when the states of each episode were recorded, (T_k,) each; 0, 1, 2, ... if None.
            actions: the action taken in each state, (T_k, A) each; the last of an episode is unused.
            columns: the names of a state's numbers.
            time_unit: the unit of the times, such as "s".
            succeeded: whether each episode succeeded, (E,) bool; not known if None.

        >>> import minaction as ma
        >>> walk = [[0.0, 0.0], [0.5, 0.0], [0.5, 0.5]]
        >>> ma.Trajectories.from_episodes([walk], times=[[0.0, 0.2, 0.7]]).times.tolist()
        [0.0, 0.2, 0.7]
        """
        states, offsets = flattened(episodes)
        return cls.from_flat(
            states,
            offsets,
            times=None if times is None else concatenated(times, np.diff(offsets), "times"),
            actions=None if actions is None else concatenated(actions, np.diff(offsets), "actions"),
            columns=columns,
            time_unit=time_unit,
            succeeded=succeeded,
        )

    @classmethod
    def from_flat(
        cls,
        states: ArrayLike,
        offsets: ArrayLike | None = None,
        times: ArrayLike | None = None,
        actions: ArrayLike | None = None,
        *,
        columns: Sequence[str] = (),
        time_unit: str = "",
        episode_names: Sequence[str] = (),
        succeeded: ArrayLike | None = None,
    ) -> Trajectories:
        """From the states of all episodes, one after the other.

        An array that the caller could still write to is copied; a read-only one is not.

        Args:
            states: (N, *shape), or (N,) where a state is one number.
            offsets: where episodes begin, and the end of the last, (E + 1,); a single episode if None.
            times: when each state was recorded, (N,); 0, 1, 2, ... in every episode if None.
            actions: the action taken in each state, (N, A); the last of an episode is unused.
            columns: the names of a state's numbers.
            time_unit: the unit of the times, such as "s".
            episode_names: what the episodes are called, one each.
            succeeded: whether each episode succeeded, (E,) bool; not known if None.

        >>> import numpy as np
        >>> import minaction as ma
        >>> ma.Trajectories.from_flat(np.zeros((8, 2)), offsets=[0, 5, 8]).lengths.tolist()
        [5, 3]
        """
        rows = as_states(states, "the states")
        times_of = None if times is None else as_numbers(times, "the times").astype(np.float64, copy=False)
        actions_of = None if actions is None else as_actions(actions)
        return cls(
            unshared(rows, states),
            frozen(np.array([0, len(rows)]) if offsets is None else as_offsets(offsets)),
            None if times_of is None else unshared(times_of, times),
            None if actions_of is None else unshared(actions_of, actions),
            tuple(columns),
            time_unit,
            tuple(episode_names),
            None if succeeded is None else frozen(np.array(succeeded)),
        )

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        episode: str | Sequence[str] | None = None,
        time: str | None = None,
        unit: str | None = None,
        states: Sequence[str] = (),
        drop: Sequence[str] = (),
        missing: Literal["refuse", "drop", "split"] = "refuse",
        one_hot: Sequence[str] = (),
        success: str | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """From a data frame of pandas, Polars, Arrow or another library that supports Arrow's interface.

        Args:
            frame: one row per state, in order; without a clock the rows of an episode must be together. A list of data
                frames is one episode each.
            episode: the column that says to which episode a row belongs, or several that do so together, such as robot
                and run; `episode` or the like if None. If empty, all rows are one episode.
            time: the column with the clock, numbers or dates; `time`, `timestamp` or the like if None.
            unit: the unit of the clock, such as "ms"; inferred from the column if None.
            states: the columns that form a state; all remaining ones if empty.
            drop: columns to leave out.
            missing: what to do with a missing value: "refuse" the table, "drop" the row, or "split" the episode.
            one_hot: columns of whole numbers from 0 on that name things: each becomes as many numbers, one of them 1.
            success: the column that says, in any row of an episode, that it succeeded; `success` or the like if None.
            keep_actions: whether to keep the columns whose names begin with `action` as actions.

        >>> import pyarrow as pa
        >>> import minaction as ma
        >>> frame = pa.table({"run": ["a", "a", "b", "b"], "stamp": [0, 40, 0, 50], "x": [0.0, 0.1, 0.0, 0.2]})
        >>> data = ma.Trajectories.from_dataframe(frame, episode="run", time="stamp", unit="ms")
        >>> data.columns, data.time_unit
        (('x',), 'ms')
        """
        from .readers._columns import TableOptions
        from .readers._dataframes import from_dataframe

        options = TableOptions(episode, time, unit, states, drop, missing, one_hot, success=success)
        return from_dataframe(frame, keep_actions, options)

    # ---------------------------------------------------------------- what it holds

    @property
    def num_states(self) -> int:
        """The number of recorded states, counting repeats."""
        return len(self.states)

    @property
    def num_episodes(self) -> int:
        """The number of episodes, counting those of a single state."""
        return len(self.offsets) - 1

    @property
    def state_shape(self) -> tuple[int, ...]:
        """The shape of a state: (D,) for D numbers, (height, width, channels) for images."""
        return self.states.shape[1:]

    @property
    def lengths(self) -> np.ndarray:
        """The number of states of each episode."""
        return np.diff(self.offsets)

    @property
    def durations(self) -> np.ndarray:
        """The time from the first state of each episode to its last."""
        if self.times is None:
            return (self.lengths - 1).astype(np.float64)
        return read_rows(self.times, self.offsets[1:] - 1) - read_rows(self.times, self.offsets[:-1])

    @property
    def any_succeeded(self) -> bool:
        """Whether the recording says which episodes succeeded, and some did."""
        return self.succeeded is not None and bool(self.succeeded.any())

    @property
    def goal_rows(self) -> np.ndarray:
        """Where the episodes end that succeeded, as indices of states; where all end if none did, or nobody knows."""
        ends = self.offsets[1:] - 1
        return ends[self.succeeded] if self.any_succeeded else ends

    def episode_name(self, k: int) -> str:
        """What the recording calls episode `k`, or its number."""
        return self.episode_names[k] if self.episode_names else str(k)

    def episode(self, k: int) -> np.ndarray:
        """The states of episode `k`, (T_k, *shape)."""
        return self.states[self.offsets[k] : self.offsets[k + 1]]

    def first(self, episodes: int) -> Trajectories:
        """The first `episodes` episodes, without a copy."""
        if not 1 <= episodes <= self.num_episodes:
            raise InputError(f"Cannot take the first {episodes} of {self.num_episodes} episodes.")
        return taken(self, np.arange(episodes))

    # ---------------------------------------------------------------- a container of episodes

    def __len__(self) -> int:
        return self.num_episodes

    def __iter__(self) -> Iterator[Episode]:
        return (Episode.of(self, k) for k in range(self.num_episodes))

    @overload
    def __getitem__(self, which: int) -> Episode: ...

    @overload
    def __getitem__(self, which: slice | Sequence[int] | np.ndarray) -> Trajectories: ...

    def __getitem__(self, which: int | slice | Sequence[int] | np.ndarray) -> Episode | Trajectories:
        """Episode `which`; or several, by a slice, their numbers or a mask, as `Trajectories`."""
        numbers = episode_numbers(self.num_episodes, which)
        return Episode.of(self, int(numbers)) if numbers.ndim == 0 else taken(self, numbers)

    def __add__(self, other: object) -> Trajectories:
        return joined(self, other) if isinstance(other, Trajectories) else NotImplemented

    def split(self, fraction: float, seed: int = 0) -> tuple[Trajectories, Trajectories]:
        """Two parts: a random `fraction` of the episodes, drawn with `seed`, and the others.

        >>> import minaction as ma
        >>> train, held_out = ma.read("cliffwalking", episodes=10).split(0.8)
        >>> len(train), len(held_out)
        (8, 2)
        """
        return parted(self, fraction, seed)

    def filter(self, predicate: Callable[[Episode], bool]) -> Trajectories:
        """The episodes of which `predicate` is true.

        >>> import minaction as ma
        >>> data = ma.Trajectories.from_episodes([[[0.0], [1.0]], [[0.0], [1.0], [2.0]]])
        >>> data.filter(lambda episode: len(episode) > 2)
        Trajectories(1 episode, 3 states of 1 number)
        """
        return taken(self, np.flatnonzero([bool(predicate(episode)) for episode in self]))

    # ---------------------------------------------------------------- what training needs to know

    @property
    def is_mapped(self) -> bool:
        """Whether the states stay in a file and are read as they are used."""
        return isinstance(self.states, np.memmap)

    @cached_property
    def distinct(self) -> DistinctStates:
        """The distinct states, in order of appearance, and which of them each recorded state is.

        States are equal if all their bits are, except that -0.0 equals 0.0.
        """
        return distinct_states(self.states)

    def has_at_most(self, limit: int) -> bool:
        """Whether there are at most `limit` distinct states; False for a mapped file. A sample settles most cases."""
        if self.is_mapped:
            return False  # finding out would take reading all of it
        return sample_has_at_most(self.states, limit) and len(self.distinct) <= limit

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of everything that training uses; equal data has equal fingerprints."""
        return fingerprint(self.offsets, self.states, self.times)

    def describe(self) -> dict[str, Any]:
        """What to know about the data before training on it: sizes, ranges, fingerprint, as plain values by name."""
        return summarise(self)

    def __repr__(self) -> str:
        return in_one_line(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    # ---------------------------------------------------------------- files

    def save(self, path: str | Path, header: dict[str, Any] | None = None) -> None:
        """Write to the safetensors file `path`; `header` is stored with it: how the data was made, for example."""
        write_arrays(self, path, header or {})

    @classmethod
    def load(cls, path: str | Path, *, memory_map: bool = False) -> Trajectories:
        """Read what `save` wrote to `path`; with `memory_map` the states stay in the file until they are used."""
        arguments = read_arrays(path, memory_map)
        try:
            arguments["offsets"] = frozen(as_offsets(arguments["offsets"]))
            data = cls(**arguments)
            if memory_map:  # once, from front to back; construction leaves mapped arrays alone
                check_finite(data.states, data.offsets)
            return data
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
