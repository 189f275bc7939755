"""`Trajectories`: recorded state sequences, stored once in flat arrays, checked on construction and immutable.

::

    states   |s0 s1 s2 s3|s0 s1|s0 s1 s2|      (N, *shape), as recorded: images stay uint8; the next is index + 1
    offsets   0           4     6        9     (E + 1,): episode k is offsets[k]:offsets[k + 1]
    times     0  1  2  3  0  1  0  1  2        (N,), absent where they are 0, 1, 2, ... in every episode
    actions   a0 a1 a2 .  a0 .  a0 a1 .        (N, A), absent unless asked for; the last of an episode is unused
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from .._files import map_tensors, read_tensors, write_tensors
from .._mapped import read_rows, row_blocks
from ..errors import InputError
from ._episodes import Episode, joined, taken

KEPT = tuple(map(np.dtype, ("float32", "float64", "uint8", "int8", "uint16", "int16", "bool")))
"""The types of states that are kept as recorded. Wider integers, which a device would truncate, become float64."""

_MOST_SHOWN = 30  # numbers of a state in an error message
_LONGEST_KEY = 256  # bytes of a state; longer ones are told apart by a digest of 16 bytes, which is quick to sort


@dataclass(frozen=True)
class DistinctStates:
    """The distinct states of a data set, each once: `states[index]` equals the states of the data set."""

    states: np.ndarray  # (U, *shape)
    index: np.ndarray  # (N,) int32

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Recorded episodes of states of any shape.

    Build it with `from_episodes` or `from_flat`, or with `minaction.read` and `minaction.collect`. States keep the type
    they were recorded in (float32, float64, bool, or integers of 8 or 16 bits). The arrays are read-only; those of the
    caller are left as they are.

    Attributes:
        states: all states one after the other, (N, *shape).
        offsets: where episodes begin, and the end of the last, (E + 1,): episode k is offsets[k]:offsets[k + 1].
        times: when each state was recorded, (N,) float64, increasing inside an episode; None for 0, 1, 2, ...
        actions: the action taken in each state, (N, A) float32, the last of an episode unused; None if not kept.
        columns: what the numbers of a state are called; empty if nobody said.
        time_unit: of `times`, such as "s" or "ms"; "" for steps.

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

    def __post_init__(self) -> None:
        _check_states(self.states)
        check_offsets(self.offsets, len(self.states))
        if (np.diff(self.offsets) < 2).all():
            raise InputError("Every episode has a single state, so there is no transition; record at least two states.")
        if self.times is not None:
            _check_times(self.times, self.offsets)
        if self.actions is not None:
            _check_actions(self.actions, self.offsets)
        object.__setattr__(self, "columns", tuple(map(str, self.columns)))
        if self.columns and self.states.shape[1:] != (len(self.columns),):
            raise InputError(
                f"There are {len(self.columns)} names for states of {shape_in_words(self.state_shape)}; give one each."
            )
        for name in ("states", "offsets", "times", "actions"):
            array = getattr(self, name)
            if array is not None and array.flags.writeable:
                object.__setattr__(self, name, _read_only(array))

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
    ) -> Trajectories:
        """From one array of states per episode.

        Args:
            episodes: the states of each episode in order, (T_k, *shape) each, or (T_k,) where a state is one number.
                All states have the same shape. An array (E, T, *shape) is E episodes of equal length; a single episode
                is given as `[array]`.
            times: when the states of each episode were recorded, (T_k,) each; 0, 1, 2, ... if None.
            actions: the action taken in each state, (T_k, A) each; the last of an episode is unused.
            columns: what the numbers of a state are called.
            time_unit: of the times, such as "s".

        >>> import minaction as ma
        >>> walk = [[0.0, 0.0], [0.5, 0.0], [0.5, 0.5]]
        >>> ma.Trajectories.from_episodes([walk], times=[[0.0, 0.2, 0.7]]).times.tolist()
        [0.0, 0.2, 0.7]
        """
        if getattr(episodes, "ndim", None) == 2:
            raise InputError(
                f"An array of shape {tuple(episodes.shape)} is the states of one episode, not a list of episodes; "  # type: ignore[attr-defined]
                "give [array], or an array of shape (episodes, steps, numbers)."
            )
        if not hasattr(episodes, "__len__") or isinstance(episodes, str | bytes | dict):
            raise InputError(
                f"Episodes are a list of arrays, one per episode, not {type(episodes).__name__}; "
                "for a file or a task use minaction.read, for a data frame Trajectories.from_dataframe."
            )
        if len(episodes) == 0:
            raise InputError("There are no episodes; give at least one with two states.")
        arrays = [as_states(episode, f"episode {k}") for k, episode in enumerate(episodes)]
        for k, array in enumerate(arrays):
            if array.shape[1:] != arrays[0].shape[1:]:
                raise InputError(
                    f"Episode {k} has states of {shape_in_words(array.shape[1:])} and episode 0 of "
                    f"{shape_in_words(arrays[0].shape[1:])}; all states need the same shape."
                )
        offsets = np.concatenate([[0], np.cumsum([len(array) for array in arrays])])
        return cls.from_flat(
            frozen(np.concatenate(arrays)),
            offsets,
            times=None if times is None else _concatenate(times, arrays, "times"),
            actions=None if actions is None else _concatenate(actions, arrays, "actions"),
            columns=columns,
            time_unit=time_unit,
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
    ) -> Trajectories:
        """From the states of all episodes, one after the other.

        An array that the caller could still write to is copied; a read-only one is not.

        Args:
            states: (N, *shape), or (N,) where a state is one number.
            offsets: where episodes begin, and the end of the last, (E + 1,); a single episode if None.
            times: when each state was recorded, (N,); 0, 1, 2, ... in every episode if None.
            actions: the action taken in each state, (N, A); the last of an episode is unused.
            columns: what the numbers of a state are called.
            time_unit: of the times, such as "s".

        >>> import numpy as np
        >>> import minaction as ma
        >>> ma.Trajectories.from_flat(np.zeros((8, 2)), offsets=[0, 5, 8]).lengths.tolist()
        [5, 3]
        """
        rows = as_states(states, "the states")
        times_of = None if times is None else _as_numbers(times, "the times").astype(np.float64, copy=False)
        actions_of = None if actions is None else _as_actions(actions)
        return cls(
            _unshared(rows, states),
            frozen(np.array([0, len(rows)]) if offsets is None else as_offsets(offsets)),
            None if times_of is None else _unshared(times_of, times),
            None if actions_of is None else _unshared(actions_of, actions),
            tuple(columns),
            time_unit,
        )

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        episode: str | None = None,
        time: str | None = None,
        unit: str | None = None,
        states: Sequence[str] = (),
        drop: Sequence[str] = (),
        missing: Literal["refuse", "drop", "split"] = "refuse",
        keep_actions: bool = False,
    ) -> Trajectories:
        """From a data frame of pandas, Polars, Arrow or another library that speaks Arrow's interface.

        Args:
            frame: one row per state, in order; the rows of an episode are together.
            episode: the column that says to which episode a row belongs; `episode` or the like if None.
            time: the column with the clock, numbers or dates; `time`, `timestamp` or the like if None.
            unit: of the clock, such as "ms"; told from the column if None.
            states: the columns that make a state; all that are left if empty.
            drop: columns to leave out.
            missing: what to do where a value is missing: "refuse" the table, "drop" the row, or "split" the episode.
            keep_actions: whether to keep the columns whose names begin with `action` as actions.

        >>> import pyarrow as pa
        >>> import minaction as ma
        >>> frame = pa.table({"run": ["a", "a", "b", "b"], "stamp": [0, 40, 0, 50], "x": [0.0, 0.1, 0.0, 0.2]})
        >>> data = ma.Trajectories.from_dataframe(frame, episode="run", time="stamp", unit="ms")
        >>> data.columns, data.time_unit
        (('x',), 'ms')
        """
        from .readers._columns import TableOptions
        from .readers._tables import from_dataframe

        options = TableOptions(episode, time, unit, tuple(states), tuple(drop), missing)
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

    def episode(self, k: int) -> np.ndarray:
        """The states of episode `k`, (T_k, *shape)."""
        return self.states[self.offsets[k] : self.offsets[k + 1]]

    def first(self, episodes: int) -> Trajectories:
        """The first `episodes` episodes, without a copy."""
        if not 1 <= episodes <= self.num_episodes:
            raise InputError(f"Cannot take the first {episodes} of {self.num_episodes} episodes.")
        end = int(self.offsets[episodes])
        times, actions = self.times, self.actions
        return replace(
            self,
            states=self.states[:end],
            offsets=self.offsets[: episodes + 1],
            times=None if times is None else times[:end],
            actions=None if actions is None else actions[:end],
        )

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
        if isinstance(which, slice):
            return taken(self, np.arange(self.num_episodes)[which])
        chosen = np.asarray(which)
        try:
            numbers = np.arange(self.num_episodes)[chosen if chosen.size else np.zeros(0, int)]
        except IndexError:
            what = "numbers, a slice or a mask" if chosen.dtype.kind not in "iub" else f"below {self.num_episodes}"
            error = InputError if chosen.dtype.kind not in "iub" else IndexError
            raise error(f"There is no episode {which!r}; episodes are chosen by {what}.") from None
        return Episode.of(self, int(numbers)) if chosen.ndim == 0 else taken(self, numbers)

    def __add__(self, other: object) -> Trajectories:
        return joined(self, other) if isinstance(other, Trajectories) else NotImplemented

    def split(self, fraction: float, seed: int = 0) -> tuple[Trajectories, Trajectories]:
        """Two parts by episodes drawn at random: one with `fraction` of them, and one with the others.

        >>> import minaction as ma
        >>> train, held_out = ma.read("cliffwalking", episodes=10).split(0.8)
        >>> len(train), len(held_out)
        (8, 2)
        """
        if not 0 < fraction < 1 or self.num_episodes < 2:
            raise InputError(
                f"Cannot split {self.num_episodes} episodes at {fraction:g}; it takes two and a share between 0 and 1."
            )
        count = min(max(1, round(fraction * self.num_episodes)), self.num_episodes - 1)
        order = np.random.default_rng(seed).permutation(self.num_episodes)
        return taken(self, np.sort(order[:count])), taken(self, np.sort(order[count:]))

    def filter(self, predicate: Callable[[Episode], bool]) -> Trajectories:
        """The episodes of which `predicate` is true.

        >>> import minaction as ma
        >>> data = ma.Trajectories.from_episodes([[[0.0], [1.0]], [[0.0], [1.0], [2.0]]])
        >>> data.filter(lambda episode: len(episode) > 2)
        Trajectories(1 episode, 3 states of 1 number)
        """
        return taken(self, np.flatnonzero([bool(predicate(episode)) for episode in self]))

    @property
    def is_mapped(self) -> bool:
        """Whether the states stay in a file and are read as they are used."""
        return isinstance(self.states, np.memmap)

    @cached_property
    def distinct(self) -> DistinctStates:
        """The distinct states, in order of appearance, and which of them each recorded state is.

        States are equal if all their bits are, except that -0.0 equals 0.0.
        """
        keys = np.concatenate([_keys(rows) for rows in row_blocks(self.states)])
        _, first, index = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return DistinctStates(_positive_zeros(read_rows(self.states, first[order])), rank[index].astype(np.int32))

    def has_at_most(self, limit: int) -> bool:
        """Whether there are at most `limit` distinct states; False for a mapped file. A sample settles most cases."""
        if self.is_mapped:
            return False  # finding out would take reading all of it
        sample = self.states[:: max(1, len(self.states) // (4 * limit + 1))]
        return len({hash(row.tobytes()) for row in sample}) <= limit and len(self.distinct) <= limit

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of everything that training uses; equal data has equal fingerprints."""
        digest = hashlib.sha256()
        for array in (self.offsets, self.states, self.times):
            digest.update(b"-" if array is None else f"{array.dtype} {array.shape}".encode())
            for rows in () if array is None else row_blocks(array):
                digest.update(np.ascontiguousarray(rows).data)
        return digest.hexdigest()[:16]

    def describe(self) -> dict[str, Any]:
        """What to know about the data before training on it: sizes, ranges, fingerprint, as plain values by name."""
        lengths = self.lengths
        summary: dict[str, Any] = {
            "states": self.num_states,
            "episodes": self.num_episodes,
            "transitions": int(np.sum(lengths - 1)),
            "shortest episode": int(lengths.min()),
            "longest episode": int(lengths.max()),
            "state": f"{shape_in_words(self.state_shape)}, {self.states.dtype}",
            **({"columns": ", ".join(self.columns)} if self.columns else {}),
            **self._ranges(),
            "times": "0, 1, 2, ..." if self.times is None else f"recorded, in {self.time_unit or 'steps'}",
            "actions": "none" if self.actions is None else f"{self.actions.shape[1]} numbers",
            "fingerprint": self.fingerprint,
        }
        if not self.is_mapped:
            summary["distinct states"] = len(self.distinct)
        return summary

    def __repr__(self) -> str:
        extras = "".join(f", {name}" for name in ("times", "actions") if getattr(self, name) is not None)
        kind = "" if self.states.dtype.kind == "f" else f", {self.states.dtype}"
        states = f"{self.num_states} states of {shape_in_words(self.state_shape)}{kind}"
        episodes = f"{self.num_episodes} episode{'' if self.num_episodes == 1 else 's'}"
        return f"Trajectories({episodes}, {states}{extras})"

    def _ranges(self) -> dict[str, Any]:
        """The smallest and largest value: of each number of a state, or of all together where a state is an image."""
        least, most = zip(*((rows.min(axis=0), rows.max(axis=0)) for rows in row_blocks(self.states)), strict=True)
        low, high = np.min(least, axis=0), np.max(most, axis=0)
        if len(self.state_shape) > 1:
            low, high = low.min(), high.max()
        return {"smallest": low.tolist(), "largest": high.tolist()}

    # ---------------------------------------------------------------- files

    def save(self, path: str | Path, header: dict[str, Any] | None = None) -> None:
        """Write to one safetensors file, with `header` (how the data was made, for example) in it."""
        tensors = {name: getattr(self, name) for name in ("states", "offsets", "times", "actions")}
        present = {name: tensor for name, tensor in tensors.items() if tensor is not None}
        named = {"columns": list(self.columns)} if self.columns else {}
        unit = {"time_unit": self.time_unit} if self.time_unit else {}
        write_tensors(path, "trajectories", present, {"made": header or {}, **named, **unit})

    @classmethod
    def load(cls, path: str | Path, *, memory_map: bool = False) -> Trajectories:
        """Read what `save` wrote; with `memory_map` the states stay in the file until they are used."""
        tensors, header = (map_tensors if memory_map else read_tensors)(path, "trajectories")
        missing = {"states", "offsets"} - tensors.keys()
        if missing:
            raise InputError(f"{path} has no {' and no '.join(sorted(missing))}; write it again.")
        try:
            tensors["offsets"] = as_offsets(tensors["offsets"])
            ours = {
                name: frozen(tensors[name]) for name in ("states", "offsets", "times", "actions") if name in tensors
            }
            data = cls(**ours, columns=tuple(header.get("columns", ())), time_unit=str(header.get("time_unit", "")))
            if memory_map:  # once, from front to back; construction leaves mapped arrays alone
                _check_finite(data.states)
            return data
        except InputError as error:
            raise InputError(f"{path}: {error}") from error


def as_states(values: ArrayLike, where: str) -> np.ndarray:
    """`values` as an array of states (T, *shape) of a type that is kept; errors name `where`."""
    array = _as_numbers(values, where)
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


def _as_actions(values: ArrayLike) -> np.ndarray:
    actions = _as_numbers(values, "the actions")
    rows = actions[:, None] if actions.ndim == 1 else actions
    with np.errstate(over="ignore"):  # what does not fit becomes infinite
        return np.ascontiguousarray(rows, dtype=np.float32)


def frozen(array: np.ndarray) -> np.ndarray:
    """`array` made read-only in place; for one that nobody else holds, so that it need not be copied."""
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
    """`values` as integers; anything else is refused."""
    numbers = _as_numbers(values, "the offsets")
    with np.errstate(invalid="ignore"):  # NaN becomes some integer, which differs from it
        offsets = numbers.astype(np.int64)
    if not np.array_equal(offsets, numbers):
        raise InputError("Offsets must be whole numbers; give the index at which each episode begins.")
    return offsets


def _unshared(array: np.ndarray, given: object) -> np.ndarray:
    """`array` read-only: as it is where it was made from `given` just now, a copy where `given` shares its memory."""
    return _read_only(array) if array is given or array.base is not None else frozen(array)


def _read_only(array: np.ndarray) -> np.ndarray:
    """A read-only array with the values of `array`, whose own flags stay as they are."""
    if not array.flags.writeable:
        return array
    return frozen(array.view() if isinstance(array, np.memmap) else array.copy())


def _positive_zeros(rows: np.ndarray) -> np.ndarray:
    """`rows` with -0.0 turned into 0.0."""
    return rows + rows.dtype.type(0) if rows.dtype.kind == "f" else rows


def _keys(rows: np.ndarray) -> np.ndarray:
    """One key (n,) per state, equal where states are equal: its bytes, or a digest of them where they are many."""
    flat = np.ascontiguousarray(_positive_zeros(rows)).reshape(len(rows), -1)
    if flat.dtype.itemsize * flat.shape[1] <= _LONGEST_KEY:
        return flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1]))).ravel()
    digests = b"".join(hashlib.blake2b(row.data, digest_size=16).digest() for row in flat)
    return np.frombuffer(digests, np.dtype((np.void, 16)))


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
    if states.ndim < 2 or states.dtype not in KEPT:
        raise InputError(
            f"States must be an array of numbers of shape (N, *shape), not {states.dtype} {states.shape}; "
            "use Trajectories.from_episodes or Trajectories.from_flat."
        )
    if states.size == 0:
        raise InputError("There are no states; give at least one episode with two states.")
    if not isinstance(states, np.memmap):  # a mapped file is checked by who maps it, not again by every part of it
        _check_finite(states)


def _check_finite(states: np.ndarray) -> None:
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
                f"State {row} holds NaN, infinity or a number too large for float32{shown}; remove or repair that row."
            )
        start += len(rows)


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


def _check_times(times: np.ndarray, offsets: np.ndarray) -> None:
    if times.shape != (offsets[-1],):
        raise InputError(f"There are {times.size} times for {offsets[-1]} states; give one time per state.")
    if not np.isfinite(times).all():
        row = int(np.argmin(np.isfinite(times)))
        raise InputError(f"Time {row} is NaN or infinite; repair it or leave times out.")
    steps = np.diff(times)
    steps[offsets[1:-1] - 1] = 1.0  # times may do anything between two episodes
    if (steps <= 0).any():
        row = int(np.argmax(steps <= 0))
        raise InputError(
            f"Times must increase inside an episode, but state {row + 1} is at {times[row + 1]:g} after "
            f"{times[row]:g}; sort the states or leave times out."
        )


def _check_actions(actions: np.ndarray, offsets: np.ndarray) -> None:
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
        raise InputError(f"Action {int(np.argmax(bad))} is NaN or infinite; repair it, or leave actions out.")
