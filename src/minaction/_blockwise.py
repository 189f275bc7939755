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
import jax.numpy as jnp
import numpy as np

from .encoders import EncoderModule
from .quasimetrics import QuasimetricModule
from .quasimetrics._pairs import distances_of_all_pairs

WORKING_BYTES = 256 << 20
"""The memory that one block of pairs may need, besides the embeddings and the result."""

# Numbers that an encoder takes in one call: a perceptron of the usual widths, or a small convolutional network on
# images, needs no more than `WORKING_BYTES` for this many.
_MOST_NUMBERS, _MOST_ROWS, _FEWEST_ROWS = 1 << 22, 1 << 14, 1 << 7


def embed_rows(encoder: EncoderModule, rows: jax.Array) -> jax.Array:
    """The embeddings (n, latent) of `rows` (n, *state_shape), n at least 1 and at most `rows_per_call`."""
    return _with_padding(_embed, encoder, rows)


def measure_rows(quasimetric: QuasimetricModule, x: jax.Array, y: jax.Array) -> jax.Array:
    """The distances (n,) from each row of `x` (n, latent) to the same row of `y`."""
    return _with_padding(_measure, quasimetric, x, y)


def measure_all_pairs(quasimetric: QuasimetricModule, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The distances (n, m) from every row of `x` (n, latent) to every row of `y` (m, latent)."""
    result = np.empty((len(x), len(y)), np.float32)
    for rows, columns in blocks(len(x), len(y), x.shape[1]):
        result[rows, columns] = _measure_all(quasimetric, x[rows], y[columns])
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

    All have one shape: every new shape is compiled, which takes longer than measuring a few blocks.
    """
    pairs = rows_within(8 * latent)
    height = min(rows, max(1, int(pairs**0.5), pairs // max(1, columns)))
    width = max(1, pairs // max(1, height))
    for down in _even_parts(rows, height):
        for across in _even_parts(columns, width):
            yield down, across


def _even_parts(length: int, longest: int) -> Iterator[slice]:
    """The fewest slices of one size that cover `length`; the last may overlap the one before it."""
    if length:
        count = -(-length // longest)
        size = -(-length // count)
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


def _with_padding(function: Any, module: eqx.Module, *rows: jax.Array) -> jax.Array:
    """`function(module, *rows)` with rows padded to the next power of two, so that few row counts are compiled."""
    count = len(rows[0])
    padded = 1 << max(0, count - 1).bit_length()
    if padded != count:
        rows = tuple(jnp.pad(row, [(0, padded - count)] + [(0, 0)] * (row.ndim - 1)) for row in rows)
    return function(module, *rows)[:count]
