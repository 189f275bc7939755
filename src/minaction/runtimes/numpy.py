"""Ask a trained model with NumPy and safetensors alone.

For a robot, a server or a notebook without JAX: `pip install --no-deps minaction numpy safetensors` is enough.

>>> import minaction as ma
>>> from minaction.runtimes.numpy import load
>>> ma.fit("cliffwalking", steps=1, progress=False).save("/tmp/minaction-numpy.safetensors")
>>> model = load("/tmp/minaction-numpy.safetensors")
>>> model.distance([0, 1], [[1, 0], [0, 0]]).shape
(2,)
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from . import _formulas
from ._acting import Acting
from ._agent_file import StoredAgent, read_agent
from ._file import Stored, fitting, read, try_out
from ._states import as_rows

# Pairs are measured in blocks of so many numbers, which stay in a core's cache; states are embedded so many at a time.
_NUMBERS_AT_ONCE, _ROWS_AT_ONCE = 1 << 17, 1 << 13
_PIXELS_AT_ONCE = 1 << 21  # of images; each becomes some dozen numbers on the way
_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def load(path: str | os.PathLike[str]) -> NumpyModel:
    """Read a model file that `DistanceModel.save` or `minaction train` wrote."""
    stored = read(path)
    with fitting(path):
        model = NumpyModel(stored)
        try_out(stored, model.distance)
    return model


def load_agent(path: str | os.PathLike[str]) -> NumpyAgent:
    """Read an agent file that `Agent.save` or `minaction agent train` wrote.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=50, keep_actions=True)
    >>> agent = ma.fit_agent(data, ma.fit(data, steps=2, progress=False), steps=2, progress=False)
    >>> agent.save("/tmp/minaction-numpy-agent.safetensors")
    >>> load_agent("/tmp/minaction-numpy-agent.safetensors").act(data.states[0], data.states[5]) in range(4)
    True
    """
    stored = read_agent(path)
    with fitting(path):
        agent = NumpyAgent(stored)
        try_out(stored.model, agent.model.distance, agent.towards)
    return agent


class NumpyModel:
    """A trained distance; it answers as `DistanceModel` does, in float32."""

    def __init__(self, stored: Stored) -> None:
        self.state_shape = stored.state_shape
        self.state_dtype = stored.state_dtype
        self._dtype, self._origin = np.dtype(stored.state_dtype), stored.origin
        self._encode = _formulas.encoder(OPERATIONS, stored.encoder, stored.weights)
        measure, time = _formulas.quasimetric(OPERATIONS, stored.quasimetric, stored.weights), stored.step_time
        self._measure = measure if time == 1.0 else lambda x, y: measure(x, y) * np.float32(time)

    def embed(self, states: ArrayLike) -> np.ndarray:
        """The embeddings phi(s), (..., latent), of states (..., *state_shape)."""
        rows, lead = as_rows(states, self.state_shape, self._dtype, self._origin)
        embeddings = self._embed_rows(rows)
        return embeddings.reshape(*lead, embeddings.shape[-1])

    def distance(self, states: ArrayLike, goals: ArrayLike) -> np.ndarray:
        """d(s, g) for states and goals (..., *state_shape); leading axes broadcast."""
        (rows, lead), (targets, ends) = (
            as_rows(side, self.state_shape, self._dtype, self._origin) for side in (states, goals)
        )
        if len(rows) == len(targets) == 1:  # one query: both through the network at once
            x, y = self._encode(np.concatenate((rows, targets)))
            return np.asarray(self._measure(x, y)).reshape(lead if len(lead) > len(ends) else ends)
        try:
            shape = np.broadcast_shapes(lead, ends)
        except ValueError:
            raise InputError(f"States {lead} and goals {ends} do not broadcast; use pairwise for all pairs.") from None
        sources = np.broadcast_to(np.arange(len(rows)).reshape(lead), shape).ravel()
        sinks = np.broadcast_to(np.arange(len(targets)).reshape(ends), shape).ravel()
        x, y = self._embed_rows(rows), self._embed_rows(targets)
        found, step = np.empty(len(sources), np.float32), max(1, _NUMBERS_AT_ONCE // x.shape[-1])
        for start in range(0, len(found), step):
            part = slice(start, start + step)
            found[part] = self._measure(x[sources[part]], y[sinks[part]])
        return found.reshape(shape)

    def pairwise(self, states: ArrayLike, goals: ArrayLike) -> np.ndarray:
        """d(s_i, g_j) for all pairs, (n, m)."""
        return self._all_pairs(self._embed_several(states), self._embed_several(goals))

    def nearest(
        self, state: ArrayLike, states: ArrayLike, k: int = 10, *, direction: Literal["from", "to"] = "from"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances of the k of `states` nearest to `state`, nearest first; exact, and in bounded memory.

        "from" counts the actions that lead from `state` to each; "to" those that lead back. `state` may be a batch.
        """
        if direction not in ("from", "to"):
            raise InputError(f"The direction is 'from' or 'to', not {direction!r}.")
        query, (rows, lead) = self.embed(state), as_rows(states, self.state_shape, self._dtype, self._origin)
        if len(lead) != 1 or not 1 <= k <= len(rows):
            raise InputError(f"Cannot find the {k} nearest of states of shape {lead}.")
        queries = query.reshape(-1, query.shape[-1])
        best, index = np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            block = self._embed_rows(rows[start : start + _ROWS_AT_ONCE])
            found = self._all_pairs(queries, block) if direction == "from" else self._all_pairs(block, queries).T
            numbers = np.broadcast_to(np.arange(start, start + len(block)), found.shape)
            best, index = np.concatenate([best, found], axis=1), np.concatenate([index, numbers], axis=1)
            keep = np.argsort(best, axis=1, kind="stable")[:, :k]
            best, index = np.take_along_axis(best, keep, 1), np.take_along_axis(index, keep, 1)
        shape = (*query.shape[:-1], k)
        return index.reshape(shape), best.reshape(shape)

    def _embed_several(self, states: ArrayLike) -> np.ndarray:
        rows, lead = as_rows(states, self.state_shape, self._dtype, self._origin)
        if len(lead) != 1:
            raise InputError(f"Give an array of states of shape {self.state_shape}, one row each.")
        return self._embed_rows(rows)

    def _embed_rows(self, rows: np.ndarray) -> np.ndarray:
        step = max(1, min(_ROWS_AT_ONCE, _PIXELS_AT_ONCE // max(1, rows.shape[1])))
        parts = range(0, max(1, len(rows)), step)
        return np.concatenate([self._encode(rows[start : start + step]) for start in parts])

    def _all_pairs(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        found = np.empty((len(x), len(y)), np.float32)
        width = max(1, min(len(y), _NUMBERS_AT_ONCE // x.shape[-1]))
        height = max(1, _NUMBERS_AT_ONCE // (x.shape[-1] * width))
        for top in range(0, len(x), height):
            for left in range(0, len(y), width):
                block = (slice(top, top + height), slice(left, left + width))
                found[block] = self._measure(x[block[0], None], y[None, block[1]])
        return found


class NumpyAgent(Acting):
    """Acts to reach goals as `minaction.Agent` does; the ways to a new goal take a few tenths of a second to find."""

    def __init__(self, stored: StoredAgent) -> None:
        self.model, self.roadmap, self.lookahead = NumpyModel(stored.model), stored.roadmap, stored.lookahead
        self._stored = stored
        self._policy = _formulas.policy(OPERATIONS, stored.hidden, stored.heading, stored.weights)

    def _local(self, state: np.ndarray, subgoal: np.ndarray) -> Any:
        rows = (self._stored.as_rows(side)[0] for side in (state, subgoal))
        return self._stored.decode(self._policy(*rows)[0])


class _Operations:
    """NumPy's own functions where they fit, reductions called directly because that is quicker."""

    tanh, sin, cos, abs, root = map(staticmethod, (np.tanh, np.sin, np.cos, np.abs, np.sqrt))
    exp, log, sign = map(staticmethod, (np.exp, np.log, np.sign))
    larger = staticmethod(np.maximum)

    def relu(self, x: np.ndarray) -> np.ndarray:
        return np.maximum(x, _ZERO)

    def selu(self, x: np.ndarray) -> np.ndarray:
        below = np.minimum(x, _ZERO)
        np.expm1(below, out=below)
        below *= np.float32(_SELU_ALPHA * _SELU_SCALE)
        above = np.maximum(x, _ZERO)
        above *= np.float32(_SELU_SCALE)
        above += below
        return above

    def sigmoid(self, x: np.ndarray) -> np.float32:
        return np.float32(1 / (1 + np.exp(-np.float64(x))))

    def erf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(_ERF(x), np.float32)

    def fixed(self, x: np.ndarray) -> np.ndarray:
        return x

    def at_least(self, x: np.ndarray, least: float) -> np.ndarray:
        return np.maximum(x, np.float32(least))

    def sum(self, x: np.ndarray) -> np.ndarray:
        return np.add.reduce(x, axis=-1)

    def mean(self, x: np.ndarray, keep: bool = False) -> np.ndarray:
        return np.add.reduce(x, axis=-1, keepdims=keep) / np.float32(x.shape[-1])

    def max(self, x: np.ndarray, keep: bool = False) -> np.ndarray:
        return np.maximum.reduce(x, axis=-1, keepdims=keep)

    def single(self, x: np.ndarray) -> np.ndarray:
        return x[..., 0]

    def split(self, x: np.ndarray, size: int) -> np.ndarray:
        return x.reshape(*x.shape[:-1], x.shape[-1] // size, size)

    def halves(self, x: np.ndarray) -> Sequence[np.ndarray]:
        return np.split(x, 2, axis=-1)

    def join(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(parts, axis=-1)

    def transpose(self, x: np.ndarray) -> np.ndarray:
        return x.T

    def sorted(self, x: np.ndarray) -> np.ndarray:
        return np.sort(x, axis=-1)

    def covered(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        covered = np.empty(high.shape, np.float32)
        covered[..., :1] = low[..., :1]
        np.maximum(low[..., 1:], high[..., :-1], out=covered[..., 1:])
        return covered

    def flattened(self, x: np.ndarray) -> np.ndarray:
        return x.ravel()

    def arranged(self, x: np.ndarray, shape: Sequence[int], order: Sequence[int], into: Sequence[int]) -> np.ndarray:
        images = x.reshape(len(x), *shape).transpose(0, *(axis + 1 for axis in order))
        return np.ascontiguousarray(images).reshape(len(x), *into)

    def convolved(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        _, height, width, _ = x.shape
        padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
        around = [padded[:, i : i + height, j : j + width] for i in range(3) for j in range(3)]
        return np.concatenate(around, axis=-1) @ weight.reshape(-1, weight.shape[-1])

    def halved(self, x: np.ndarray) -> np.ndarray:
        for axis in (1, 2):
            beside = [(0, 0)] * 4
            beside[axis] = (1, 1)
            padded, length = np.moveaxis(np.pad(x, beside, constant_values=-np.inf), axis, 0), x.shape[axis]
            first, second, third = (padded[start : start + length : 2] for start in (0, 1, 2))
            x = np.moveaxis(np.maximum(np.maximum(first, second), third), 0, axis)
        return x

    def rows(self, x: np.ndarray) -> np.ndarray:
        return x.reshape(len(x), x.shape[1] * x.shape[2] * x.shape[3])


_ZERO = np.float32(0)
_ERF = np.frompyfunc(math.erf, 1, 1)  # NumPy has none; Python's own, number by number
OPERATIONS: Any = _Operations()
