"""`DistanceModel`: a trained distance as a person uses it: ask it, search with it, save it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import ArrayLike

from ._coverage import Coverage
from ._distance import Architecture, Distance
from ._files import atomic_write, read_tensors, write_tensors
from ._health import Health
from ._remaining import Progress
from ._trees import named_leaves, with_named_leaves
from ._units import Units
from .encoders import EncoderModule
from .encoders._inputs import no_statistics
from .errors import InputError
from .quasimetrics import QuasimetricModule
from .quasimetrics._pairs import distances_of_all_pairs
from .trajectories import Episode, Trajectories
from .trajectories._arrays import KEPT

# What one block of pairs may need while `pairwise` and `nearest` work, besides the embeddings and the result.
WORKING_BYTES = 256 << 20

# States that an encoder sees at once: a perceptron of the usual widths, or a small convolutional network on images,
# needs no more than `WORKING_BYTES` for so many numbers.
_NUMBERS_AT_ONCE, _MOST_ROWS, _FEWEST_ROWS = 1 << 22, 1 << 14, 1 << 7

_RECORDED = "recorded."  # before the names of the arrays that `Coverage` keeps in a model's file


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from; kept in its file."""

    objective: str
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    steps: int = 0
    seed: int = 0
    data: str = ""
    """The task or file it was trained on."""
    data_fingerprint: str = ""


class DistanceModel:
    """How many actions lead from one state to another, learned from recorded states.

    `network` is the trained pytree, `architecture` describes it, and `state_shape` and `state_dtype` say what a state
    is: images that were recorded as uint8 are asked about as uint8. `columns` are the names of a state's numbers, if
    the recording had some, and `unit` is that of its clock, such as "s", and of every distance; "" for actions. `units`
    are the recording's origin and typical step: the network takes states from there, and measures in such steps.
    `health` says how it did on held-out episodes, None where none were held out; `recorded` is a sample of what it was
    trained on, from which `coverage` is measured.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=5)
    >>> model = ma.fit(data, steps=2, progress=False)
    >>> model.distance(data.states[0], data.states[:3]).shape
    (3,)
    """

    def __init__(
        self,
        network: Distance,
        architecture: Architecture,
        provenance: Provenance,
        state_shape: tuple[int, ...],
        state_dtype: str = "float32",
        units: Units | None = None,
        columns: tuple[str, ...] = (),
        unit: str = "",
        health: Health | None = None,
        recorded: Coverage | None = None,
    ) -> None:
        self.network = network
        self.architecture = architecture
        self.provenance = provenance
        self.state_shape = tuple(state_shape)
        self.state_dtype = state_dtype
        self.units = units or Units()
        self.columns = tuple(columns)
        self.unit = unit
        self.health = health
        self.recorded = recorded

    def __repr__(self) -> str:
        made = self.provenance
        return (
            f"DistanceModel({made.objective}, {self.architecture.quasimetric}, states of {self._what_a_state_is()}, "
            f"{made.steps} steps on {made.data or 'unnamed data'})"
        )

    # ---------------------------------------------------------------- asking

    def embed(self, states: ArrayLike) -> jax.Array:
        """The embeddings phi(s), (..., latent), of states (..., *state_shape)."""
        return self._embed(self._states(states))

    def _embed(self, checked: jax.Array) -> jax.Array:
        """The embeddings of what `_states` made."""
        lead = self._lead(checked)
        rows = checked.reshape(-1, *self.state_shape)
        found = [
            _in_padding(_embed, self.network.encoder, rows[part]) for part in _parts(len(rows), self._rows_at_once)
        ]
        joined = jnp.concatenate(found) if found else jnp.zeros((0, self.architecture.encoder.latent_size))
        return joined.reshape(*lead, self.architecture.encoder.latent_size)

    def distance(self, states: ArrayLike, goals: ArrayLike) -> jax.Array:
        """d(s, g) for states and goals (..., *state_shape); leading axes broadcast."""
        checked, targets = self._states(states), self._states(goals)
        try:
            lead = np.broadcast_shapes(self._lead(checked), self._lead(targets))
        except ValueError:
            raise InputError(
                f"States {checked.shape} and goals {targets.shape} do not broadcast; use pairwise for all pairs."
            ) from None
        x, y = (
            jnp.broadcast_to(self._embed(side), (*lead, self.architecture.encoder.latent_size))
            for side in (checked, targets)
        )
        flat = (x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1]))
        return self._in_time(_in_padding(_measure, self.network.quasimetric, *flat).reshape(lead))

    def pairwise(self, states: ArrayLike, goals: ArrayLike) -> np.ndarray:
        """d(s_i, g_j) for all pairs, (n, m) float32.

        Needs the result, the embeddings of both sides and at most `WORKING_BYTES` more, whatever n and m are.
        """
        return self._all_pairs(self._embed_rows(states), self._embed_rows(goals))

    def nearest(
        self, state: ArrayLike, states: ArrayLike, k: int = 10, *, direction: Literal["from", "to"] = "from"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances of the k of `states` nearest to `state`, nearest first.

        "from" counts the actions that lead from `state` to each; "to" those that lead back. `state` may be a batch
        (..., *state_shape); indices and distances then have shape (..., k). Memory stays bounded however many `states`
        there are.
        """
        if direction not in ("from", "to"):
            raise InputError(f"The direction is 'from' or 'to', not {direction!r}.")
        query, candidates = self._states(state), self._as_rows(states)
        if not 1 <= k <= len(candidates):
            raise InputError(f"Cannot find the {k} nearest of {len(candidates)} states.")
        queries = np.asarray(self._embed(query)).reshape(-1, self.architecture.encoder.latent_size)
        best = np.empty((len(queries), 0), np.float32)
        index = np.empty((len(queries), 0), np.int64)
        step = min(self._rows_at_once, max(1, WORKING_BYTES // (32 * max(1, len(queries)))))
        for start in range(0, len(candidates), step):
            block = self._embed_rows(candidates[start : start + step])
            found = self._all_pairs(queries, block) if direction == "from" else self._all_pairs(block, queries).T
            best = np.concatenate([best, found], axis=1)
            numbers = np.arange(start, start + len(block))
            index = np.concatenate([index, np.broadcast_to(numbers, found.shape)], axis=1)
            keep = np.argsort(best, axis=1, kind="stable")[:, :k]
            best, index = np.take_along_axis(best, keep, 1), np.take_along_axis(index, keep, 1)
        shape = (*self._lead(query), k)
        return index.reshape(shape), best.reshape(shape)

    # ---------------------------------------------------------------- how far along

    def remaining(self, states: ArrayLike, goals: ArrayLike | Trajectories) -> np.ndarray:
        """The time from each of the states (..., *state_shape) to the nearest of the goals, (...) float32.

        `goals` is one state, several (G, *state_shape), or recorded episodes, whose last states are the goals: those of
        the episodes that succeeded, `data.filter(...)`, for example.

        >>> import minaction as ma
        >>> data = ma.read("cliffwalking", episodes=5)
        >>> model = ma.fit(data, steps=2, progress=False)
        >>> model.remaining(data.states[:7], data).shape
        (7,)
        """
        if isinstance(goals, Trajectories):
            goals = goals.states[goals.offsets[1:] - 1]
        given = np.asarray(states)
        lead = self._lead(self._states(given))
        targets = self._embed_rows(np.asarray(goals).reshape(-1, *np.shape(goals)[-len(self.state_shape) :]))
        if len(targets) == 0:
            raise InputError("There is no goal; give at least one state.")
        sources = self._embed_rows(given.reshape(-1, *self.state_shape))
        count = len(sources)
        # For the next power of two rows, so that episodes of other lengths take no new program.
        sources = np.pad(sources, [(0, (1 << max(0, count - 1).bit_length()) - count), (0, 0)], mode="edge")
        step = max(1, WORKING_BYTES // (4 * len(targets)))
        parts = [self._all_pairs(sources[part], targets).min(axis=1) for part in _parts(len(sources), step)]
        return np.concatenate(parts)[:count].reshape(lead)

    def progress(self, episode: Episode | ArrayLike, goals: ArrayLike | Trajectories | None = None) -> Progress:
        """How far along an episode is at each of its states, and where it lost time.

        Args:
            episode: one of recorded `Trajectories`, or its states (T, *state_shape), a step apart.
            goals: as for `remaining`; where the episode itself ends if None.

        >>> import minaction as ma
        >>> data = ma.read("cliffwalking", episodes=5)
        >>> model = ma.fit(data, steps=2, progress=False)
        >>> model.progress(data[0]).done.shape == data[0].times.shape
        True
        """
        states = self._as_rows(episode.states if isinstance(episode, Episode) else episode)
        times = episode.times if isinstance(episode, Episode) else np.arange(len(states), dtype=np.float64)
        if len(states) == 0:
            raise InputError("The episode has no states; give at least one.")
        return Progress(times, self.remaining(states, states[-1] if goals is None else goals), self.unit)

    def coverage(self, states: ArrayLike) -> np.ndarray:
        """How far states (..., *state_shape) are from what was recorded, (...), in typical steps; 0 for recorded ones.

        A distance from or to a state that is several steps from anything recorded is a guess.

        >>> import minaction as ma
        >>> model = ma.fit("cliffwalking", steps=1, progress=False)
        >>> model.coverage([[0.0, 0.0], [0.0, 50.0]]).round() > 3
        array([False,  True])
        """
        if self.recorded is None:
            raise InputError("This model's file has no sample of what was recorded; train it again with this version.")
        lead = self._lead(self._states(states))
        return self.recorded(np.asarray(states).reshape(-1, *self.state_shape)).reshape(lead)

    # ---------------------------------------------------------------- files

    def save(self, path: str | Path) -> None:
        """Write weights, the full description of what they belong to, and provenance to one safetensors file."""
        header = {
            **self.architecture.as_dict(),
            "state_shape": list(self.state_shape),
            "state_dtype": self.state_dtype,
            "step_time": self.units.time,
            "columns": list(self.columns),
            "unit": self.unit,
            "provenance": asdict(self.provenance),
            "health": None if self.health is None else asdict(self.health),
        }
        origin = {} if self.units.origin is None else {"origin": self.units.origin}
        recorded = {} if self.recorded is None else self.recorded.as_tensors(_RECORDED)
        write_tensors(path, "model", {**named_leaves(self.network), **origin, **recorded}, header)

    @classmethod
    def load(cls, path: str | Path) -> DistanceModel:
        """Read what `save` wrote. Nothing in the file is executed."""
        tensors, header = read_tensors(path, "model")
        try:
            architecture = Architecture.from_dict(header)
            provenance = Provenance(**header["provenance"])
            shape, dtype = _shape(header["state_shape"]), np.dtype(header["state_dtype"]).name
            if np.dtype(dtype) not in KEPT:
                raise InputError(f"its states are of type {dtype}")
            units = _units(tensors.pop("origin", None), header.get("step_time", 1.0), shape)
            columns, unit = tuple(map(str, header.get("columns", ()))), str(header.get("unit", ""))
            health = None if header.get("health") is None else Health(**header["health"])
            recorded = Coverage.from_tensors(tensors, _RECORDED)
            # All arrays at once; `jnp.asarray` compiles a program to copy one for every new shape.
            network = with_named_leaves(_skeleton(architecture, shape), jax.device_put(tensors))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{path} does not describe a model that can be built here ({str(error).rstrip('.')}); it may come from "
                "another version, or need a package that is not installed."
            ) from error
        return cls(network, architecture, provenance, shape, dtype, units, columns, unit, health, recorded)

    def export(self, path: str | Path, part: Literal["distance", "encoder", "quasimetric"] = "distance") -> None:
        """Write an .onnx file that answers d(s, g), or its encoder or quasimetric alone, without this package.

        >>> import minaction as ma
        >>> ma.fit("cliffwalking", steps=1, progress=False).export("/tmp/minaction-encoder.onnx", "encoder")
        """
        if Path(path).suffix != ".onnx":
            raise InputError(f"A model is exported to an .onnx file, not to {path}; `save` writes .safetensors.")
        from .runtimes._file import Stored
        from .runtimes.onnx import serialise

        described = self.architecture.as_dict()
        stored = Stored(
            named_leaves(self.network),
            described["encoder"],
            described["quasimetric"],
            self.state_shape,
            self.state_dtype,
            self.units.origin,
            self.units.time,
        )
        content = serialise(stored, part)
        with atomic_write(path) as file:
            file.write(content)

    # ---------------------------------------------------------------- inside

    def _what_a_state_is(self) -> str:
        if len(self.state_shape) == 1:
            return f"{self.state_shape[0]} numbers"
        return f"shape {' x '.join(map(str, self.state_shape))}"

    def _states(self, values: Any) -> jax.Array:
        try:
            states = self._as_recorded(values)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"States must be numbers in a rectangular array ({error}).") from None
        trailing = states.shape[states.ndim - len(self.state_shape) :] if states.ndim >= len(self.state_shape) else None
        if trailing != self.state_shape:
            raise InputError(
                f"This model takes states of {self._what_a_state_is()}, but the array given has shape {states.shape}."
            )
        return states

    def _as_recorded(self, values: Any) -> jax.Array:
        """`values` in the type of the recorded states; numbers that it cannot hold are refused, not cut."""
        dtype = np.dtype(self.state_dtype)
        if dtype.kind == "f":
            if self.units.origin is None:
                return jnp.asarray(values, jnp.float32)
            if isinstance(values, Tracer):  # inside somebody's compiled code there is no float64
                return jnp.asarray(values - self.units.origin, jnp.float32)
            return jnp.asarray(self.units.centred(values))
        given = values if isinstance(values, jax.Array) else np.asarray(values)
        if given.dtype == dtype:
            return jnp.asarray(given)
        given = np.asarray(given)
        with np.errstate(invalid="ignore"):  # NaN becomes some number, which differs
            cast = given.astype(dtype)
        if not np.array_equal(cast, given):
            raise ValueError(f"this model was trained on {dtype}, which cannot hold all of them; give them as recorded")
        return jnp.asarray(cast)

    def _in_time(self, distances: Any) -> Any:
        """Distances in the unit of the recorded times."""
        return distances if self.units.time == 1.0 else distances * np.float32(self.units.time)

    def _lead(self, states: jax.Array) -> tuple[int, ...]:
        return states.shape[: states.ndim - len(self.state_shape)]

    def _as_rows(self, values: ArrayLike) -> np.ndarray:
        states = np.asarray(values)
        if states.ndim != 1 + len(self.state_shape):
            raise InputError(f"Give an array of states of {self._what_a_state_is()} each, not of shape {states.shape}.")
        return states

    @property
    def _rows_at_once(self) -> int:
        size = max(1, math.prod(self.state_shape))
        return min(_MOST_ROWS, max(_FEWEST_ROWS, _NUMBERS_AT_ONCE // size))

    def _embed_rows(self, values: ArrayLike) -> np.ndarray:
        states = self._as_rows(values)
        embeddings = np.empty((len(states), self.architecture.encoder.latent_size), np.float32)
        for part in _parts(len(states), self._rows_at_once):
            embeddings[part] = self.embed(states[part])
        return embeddings

    def _all_pairs(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        result = np.empty((len(sources), len(targets)), np.float32)
        for rows, columns in _blocks(len(sources), len(targets), sources.shape[1]):
            result[rows, columns] = _all_pairs(self.network.quasimetric, sources[rows], targets[columns])
        return self._in_time(result)


# Traced and compiled once for all models of the same shape, not once per model. Each gets no more of a model than it
# needs, so that models with the same encoder share one program even where their quasimetrics differ, and vice versa.


def _shape(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(size) is not int or not 1 <= size < 1 << 31 for size in values):
        raise InputError(f"the shape of a state is {values!r}")
    return tuple(values)


def _units(origin: np.ndarray | None, step_time: Any, shape: tuple[int, ...]) -> Units:
    """As a file has them; refused where they are none."""
    if isinstance(step_time, bool) or not isinstance(step_time, int | float) or not 0 < step_time < math.inf:
        raise InputError(f"the time of a step is {step_time!r}")
    if origin is not None and (origin.shape != shape or not np.isfinite(origin).all()):
        raise InputError(f"the origin has shape {origin.shape} and states {shape}, or it is not finite")
    return Units(origin, float(step_time))


@lru_cache(maxsize=64)
def _skeleton(architecture: Architecture, state_shape: tuple[int, ...]) -> Distance:
    """A distance with the shapes of its arrays in their place."""

    return eqx.filter_eval_shape(lambda: architecture.build(no_statistics(state_shape), key=jax.random.key(0)))


@eqx.filter_jit
def _embed(encoder: EncoderModule, states: jax.Array) -> jax.Array:
    return encoder(states)


@eqx.filter_jit
def _measure(quasimetric: QuasimetricModule, x: jax.Array, y: jax.Array) -> jax.Array:
    return quasimetric(x, y)


@eqx.filter_jit
def _all_pairs(quasimetric: QuasimetricModule, x: Any, y: Any) -> jax.Array:
    def at_once(x: jax.Array, y: jax.Array) -> jax.Array:
        return quasimetric(x[:, None], y[None, :])

    def in_cache(x: jax.Array, y: jax.Array) -> jax.Array:
        return distances_of_all_pairs(quasimetric, x, y)

    return jax.lax.platform_dependent(x, y, cpu=in_cache, default=at_once)


def _in_padding(function: Any, module: eqx.Module, *rows: jax.Array) -> jax.Array:
    """`function(module, *rows)`, compiled for the next power of two rows: a new number of rows takes no new program."""
    count = len(rows[0])
    filled = 1 << max(0, count - 1).bit_length()
    if filled != count:
        rows = tuple(jnp.pad(row, [(0, filled - count)] + [(0, 0)] * (row.ndim - 1)) for row in rows)
    return function(module, *rows)[:count]


def _blocks(rows: int, columns: int, latent: int) -> Iterator[tuple[slice, slice]]:
    """Blocks of an (n, m) result for each of which n' x m' x latent floats fit into half of `WORKING_BYTES`.

    All have one shape, because each shape is compiled apart, which takes longer than to measure a few blocks.
    """
    pairs = max(1, WORKING_BYTES // (8 * latent))
    height = min(rows, max(1, int(pairs**0.5), pairs // max(1, columns)))
    width = max(1, pairs // max(1, height))
    for down in _even_parts(rows, height):
        for across in _even_parts(columns, width):
            yield down, across


def _even_parts(length: int, longest: int) -> Iterator[slice]:
    """As few parts of one size as cover `length`; where it cannot be divided so, the last overlaps the one before."""
    if length:
        count = -(-length // longest)
        size = -(-length // count)
        for start in range(0, length, size):
            end = min(length, start + size)
            yield slice(end - size, end)


def _parts(length: int, longest: int) -> Iterator[slice]:
    """Parts of at most `longest`, one after the other."""
    return (slice(start, min(length, start + longest)) for start in range(0, length, longest))
