"""Embeddings and distances of many states, block by block, so that memory stays bounded.

Each function is traced and compiled once for all models of the same shape, not once per model. Each takes only the part
of a model that it needs, so that models with the same encoder share one program even where their quasimetrics differ,
and vice versa.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from .encoders import EncoderModule
from .quasimetrics import QuasimetricModule
from .quasimetrics._pairs import distances_of_all_pairs

WORKING_BYTES = 256 << 20
"""The memory that one block of pairs may need, besides the embeddings and the result."""

# Numbers that an encoder takes in one call: a perceptron of the usual widths, or a small convolutional network on
# images, needs no more than `WORKING_BYTES` for this many.
_MOST_NUMBERS, _MOST_ROWS, _FEWEST_ROWS = 1 << 22, 1 << 14, 1 << 7
_SHORT = 64  # rows; fewer are padded, more are cut into parts


Array = jax.Array | np.ndarray


def embed_rows(encoder: EncoderModule, rows: Array) -> Array:
    """The embeddings (n, latent) of `rows` (n, *state_shape), n at least 1 and at most `rows_per_call`."""
    return _with_padding(_embed, encoder, rows)


def measure_rows(quasimetric: QuasimetricModule, x: Array, y: Array) -> Array:
    """The distances (n,) from each row of `x` (n, latent) to the same row of `y`."""
    return _with_padding(_measure, quasimetric, x, y)


def measure_all_pairs(quasimetric: QuasimetricModule, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The distances (n, m) from every row of `x` (n, latent) to every row of `y` (m, latent)."""
    result = np.empty((len(x), len(y)), np.float32)
    for rows, columns in blocks(len(x), len(y), x.shape[1]):
        part = result[rows, columns]
        found = _measure_all(quasimetric, _padded(x[rows]), _padded(y[columns]))
        part[:] = np.asarray(found)[: part.shape[0], : part.shape[1]]
    return result


def rows_per_call(state_shape: tuple[int, ...]) -> int:
    """How many states of this shape an encoder takes in one call."""
    return min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_NUMBERS // max(1, math.prod(state_shape))))


def rows_within(bytes_per_row: int) -> int:
    """How many rows of this size fit into `WORKING_BYTES`; at least one."""
    return max(1, WORKING_BYTES // bytes_per_row)


def parts(length: int, longest: int) -> Iterator[slice]:
    """Consecutive slices of at most `longest` that cover `length`."""
    return (slice(start, min(length, start + longest)) for start in range(0, length, longest))


def blocks(rows: int, columns: int, latent: int) -> Iterator[tuple[slice, slice]]:
    """Blocks of an (n, m) result, for each of which n' x m' x latent floats fit into half of `WORKING_BYTES`.

    Few lengths occur, powers of two from `_SHORT` on: every new shape is compiled, which takes longer than measuring a
    few pairs twice.
    """
    pairs = rows_within(8 * latent)
    height = _length_of_parts(rows, max(1, int(pairs**0.5), pairs // max(1, columns)))
    width = _length_of_parts(columns, max(1, pairs // height))
    for down in _equal_parts(rows, height):
        for across in _equal_parts(columns, width):
            yield down, across


def _length_of_parts(length: int, longest: int) -> int:
    """The length itself where it is short; else a power of two, so that parts that cover it waste a quarter at most."""
    if length < min(_SHORT, longest):
        return max(1, length)
    return 1 << (min(longest, max(_SHORT, length) // 4).bit_length() - 1)


def _equal_parts(length: int, size: int) -> Iterator[slice]:
    """Slices of one size that cover `length`; the last may overlap the one before it."""
    for start in range(0, length, size):
        end = min(length, start + size)
        yield slice(end - size, end)


@eqx.filter_jit
def _embed(encoder: EncoderModule, states: jax.Array) -> jax.Array:
    return encoder(states)


@eqx.filter_jit
def _measure(quasimetric: QuasimetricModule, x: jax.Array, y: jax.Array) -> jax.Array:
    return quasimetric(x, y)


@eqx.filter_jit
def _measure_all(quasimetric: QuasimetricModule, x: Any, y: Any) -> jax.Array:
    def at_once(x: jax.Array, y: jax.Array) -> jax.Array:
        return quasimetric(x[:, None], y[None, :])

    def in_cache(x: jax.Array, y: jax.Array) -> jax.Array:
        return distances_of_all_pairs(quasimetric, x, y)

    return jax.lax.platform_dependent(x, y, cpu=in_cache, default=at_once)


def _with_padding(function: Any, module: eqx.Module, *rows: Array) -> Array:
    """`function(module, *rows)` with rows padded to the next power of two, so that few row counts are compiled.

    The host pads and cuts: JAX would compile a program for every new shape that it does so itself.
    """
    if any(isinstance(row, Tracer) for row in rows):  # inside somebody's program, which is compiled as a whole
        return function(module, *rows)
    found = function(module, *(_padded(np.asarray(row)) for row in rows))
    return (found if isinstance(found, Tracer) else np.asarray(found))[: len(rows[0])]


def _padded(rows: np.ndarray) -> np.ndarray:
    """Rows (n, ...), with zeros up to the next power of two of them."""
    count = len(rows)
    padding = (1 << max(0, count - 1).bit_length()) - count
    return np.concatenate([rows, np.zeros((padding, *rows.shape[1:]), rows.dtype)]) if padding else rows
