"""Lengths of unions of intervals in one sweep over them: for a CPU, and many pairs (x, y) of few distinct rows.

The intervals are visited in the order of their starts, keeping the furthest end so far::

    |-----|              starts a stretch
       |-----|           extends it beyond the furthest end so far
         |--|            is hidden
                |----|   starts beyond the furthest end: the next stretch

The order of the starts depends on x alone and is computed once for all pairs of a row. Comparing all m^2 pairs of
intervals (`_interval_comparison`) is several times slower if every row of x is paired with many of y, and about as fast
if it is paired with one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ._blocks import Count, block_of, over_blocks, rows_of, summed_over_blocks

# Whether an interval ends or starts a stretch of its union; it may do both.
_ENDS, _STARTS = 1, 2


@jax.custom_vjp
def union_lengths_of_rows(
    x: Float[Array, "sources c m"],
    y: Float[Array, "targets c m"],
    first: Int[Array, " n"],
    second: Int[Array, " n"],
    count: Count,
) -> Float[Array, "n c"]:
    """The length of the union for the first `count` pairs x[first], y[second], without materialising these arrays."""
    order = _ordering(x)
    return over_blocks(lambda a, b: _measure(*_in_order(order, y, a, b)), block_of(x[0].size), count, first, second)


def _forward(x: Array, y: Array, first: Array, second: Array, count: Count) -> tuple[Array, tuple[Array | Count, ...]]:
    order = _ordering(x)
    lengths, marks = over_blocks(
        lambda a, b: _measure_and_mark(*_in_order(order, y, a, b), rows_of(order.back, a)),
        block_of(x[0].size),
        count,
        first,
        second,
    )
    return lengths, (x, y, first, second, count, marks)


def _backward(kept: Any, gradient: Array) -> tuple[Array, Array, None, None, None]:
    x, y, first, second, count, marks = kept

    def add_block(total: tuple[Array, Array], a: Array, b: Array, marks: Array, gradient: Array) -> tuple[Array, Array]:
        marks, gradient = marks.reshape(-1, *x.shape[1:]), gradient[..., None]
        of_starts, of_ends = jnp.where(marks & _STARTS, -gradient, 0), jnp.where(marks & _ENDS, gradient, 0)
        return total[0].at[a].add(of_starts), total[1].at[b].add(of_ends)

    nothing = jnp.zeros_like(x), jnp.zeros_like(y)
    of_x, of_y = summed_over_blocks(add_block, nothing, block_of(x[0].size), count, first, second, marks, gradient)
    return of_x, of_y, None, None, None


union_lengths_of_rows.defvjp(_forward, _backward)


class _Ordering(NamedTuple):
    """The order of the starts in each component, in both directions.

    Ordered numbers are stored as (m, c), with all components of a place side by side, so that a sweep over places reads
    contiguous memory.
    """

    there: Int[Array, "rows mc"]
    """For each (place, c), the index of its number in (c, m)."""
    back: Int[Array, "rows cm"]
    """For each number of (c, m), its index in (place, c)."""
    starts: Float[Array, "rows mc"]
    """The numbers in order."""


def _ordering(x: Float[Array, "rows c m"]) -> _Ordering:
    """Computes ranks by counting: for the usual m of 16 or 32 that is many times faster than XLA's sort."""
    components, count = x.shape[-2:]
    index, none = jnp.arange(count), jnp.zeros(x.shape, jnp.int32)

    def column(values: Array, j: Array) -> Array:
        return jax.lax.dynamic_index_in_dim(values, j, axis=-1)

    def count_before(j: Array, rank: Array) -> Array:
        return rank + jnp.where(j < index, column(x, j) <= x, column(x, j) < x)

    def invert(j: Array, there: Array) -> Array:
        return there + jnp.where(column(rank, j) == index, j, 0)

    rank = jax.lax.fori_loop(0, count, count_before, none, unroll=16)
    there = jax.lax.fori_loop(0, count, invert, none, unroll=16)
    component = jnp.arange(components)[:, None]
    there = jnp.swapaxes(there + component * count, -1, -2).reshape(len(x), -1)
    back = (rank * components + component).reshape(len(x), -1)
    return _Ordering(there, back, _pick(x, there, jnp.arange(len(x))))


def _measure(lows: Array, highs: Array) -> Float[Array, "n c"]:
    def go_on(place: Array, carried: tuple[Array, Array]) -> tuple[Array, Array]:
        furthest, length = carried
        low, high = _at(lows, place), _at(highs, place)
        return jnp.maximum(furthest, high), length + jax.nn.relu(high - jnp.maximum(low, furthest))

    nothing = jnp.zeros_like(lows[:, 0])
    return jax.lax.fori_loop(0, lows.shape[1], go_on, (nothing - jnp.inf, nothing))[1]


def _measure_and_mark(lows: Array, highs: Array, back: Array) -> tuple[Array, Array]:
    count = lows.shape[1]
    nothing, unmarked = jnp.zeros_like(lows[:, 0]), jnp.zeros(lows.shape, jnp.int8)

    def forwards(place: Array, carried: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        """Marks intervals that extend beyond the furthest end so far (for now as ends), and those that start anew."""
        furthest, length, marks = carried
        low, high = _at(lows, place), _at(highs, place)
        beyond = jax.nn.relu(high - jnp.maximum(low, furthest))
        mark = jnp.where(beyond > 0, jnp.where(low > furthest, _STARTS + _ENDS, _ENDS), 0).astype(jnp.int8)
        return jnp.maximum(furthest, high), length + beyond, _put(marks, mark, place)

    _, length, passed = jax.lax.fori_loop(0, count, forwards, (nothing - jnp.inf, nothing, unmarked))

    def backwards(step: Array, carried: tuple[Array, Array]) -> tuple[Array, Array]:
        """Keeps an end only if it is the last one before the next start."""
        start_follows, marks = carried
        place = count - 1 - step
        mark = _at(passed, place)
        passes = mark > 0
        kept = jnp.where(passes, (mark & _STARTS) | start_follows, 0).astype(jnp.int8)
        return jnp.where(passes, mark >> 1, start_follows), _put(marks, kept, place)

    # Reads from one array and writes to another: XLA would copy a single one as a whole at every place.
    _, marks = jax.lax.fori_loop(0, count, backwards, (jnp.ones(nothing.shape, jnp.int8), unmarked))
    return length, _pick(marks, back, jnp.arange(len(marks)))


def _in_order(order: _Ordering, y: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Both ends of every interval, (n, m, c) in the order of the starts."""
    lows, ends = rows_of(order.starts, first), _pick(y, rows_of(order.there, first), second)
    highs = jnp.where(ends > lows, ends, -jnp.inf)  # an empty interval covers nothing
    shape = (len(first), y.shape[2], y.shape[1])
    return lows.reshape(shape), highs.reshape(shape)


def _pick(table: Array, wanted: Int[Array, "n k"], rows: Int[Array, " n"]) -> Array:
    """table[rows, wanted], looked up in the flattened table: the fastest gather in XLA."""
    start = rows.astype(jnp.int32) * wanted.shape[1]
    return table.ravel().at[wanted + start[:, None]].get(mode="promise_in_bounds")


def _at(values: Array, place: Array) -> Array:
    return jax.lax.dynamic_index_in_dim(values, place, axis=1, keepdims=False, allow_negative_indices=False)


def _put(values: Array, new: Array, place: Array) -> Array:
    return jax.lax.dynamic_update_index_in_dim(values, new, place, axis=1, allow_negative_indices=False)
