"""Many pairs of few rows on a CPU: each distinct pair is measured once, block by block.

Looking up both rows of all pairs first, and adding up the gradients of all of them afterwards, moves about a hundred
times the size of the table through memory. In blocks only the table itself is read and written, and intermediate
results stay in the cache. The number of pairs to measure (`count`) may depend on the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

if TYPE_CHECKING:
    from ._base import QuasimetricModule

_NUMBERS_AT_A_TIME = 1 << 15  # of one side of a block's pairs: 128 KiB

Count = Int[Array, ""] | int
"""How many of the pairs to measure, from the first on."""


class DifferentPairs(NamedTuple):
    """Pairs, each distinct one once."""

    first: Int[Array, " n"]
    second: Int[Array, " n"]
    how_many: Int[Array, ""]
    """The number of distinct pairs; entries after them are undefined."""
    place: Int[Array, " n"]
    """For each original pair, its position among the distinct ones."""


def different_pairs(first: Int[Array, " n"], second: Int[Array, " n"], rows: int) -> DifferentPairs:
    """The distinct ones of pairs of indices below `rows`; finding them takes memory for rows^2 integers."""
    index, pair = jnp.arange(len(first)), first * rows + second
    # Equal pairs write their indices to the same cell; the one that remains there represents all of them.
    representative = jnp.zeros(rows * rows, index.dtype).at[pair].set(index)[pair]
    is_kept = representative == index
    place = jnp.cumsum(is_kept) - 1
    kept = jnp.zeros_like(index).at[jnp.where(is_kept, place, len(index))].set(index, mode="drop")
    return DifferentPairs(first[kept], second[kept], jnp.sum(is_kept), place[representative])


def block_of(row_size: int) -> int:
    """The number of pairs in a block."""
    return max(1, _NUMBERS_AT_A_TIME // row_size)


def in_blocks(size: int, *arrays: Array) -> tuple[Array, ...]:
    """The arrays with their first axis split into blocks, the last one padded with zeros."""
    count = len(arrays[0])
    blocks = -(-count // size)

    def cut(values: Array) -> Array:
        filled = jnp.pad(values, [(0, blocks * size - count), *[(0, 0)] * (values.ndim - 1)])
        return filled.reshape(blocks, size, *values.shape[1:])

    return tuple(cut(values) for values in arrays)


def over_blocks(measure: Callable[..., Any], size: int, count: Count, *arrays: Array) -> Any:
    """`measure` of the first `count` rows of the arrays, a block at a time; the other results are undefined."""
    blocks = in_blocks(size, *arrays)

    def measure_block(k: Array, found: Any) -> Any:
        return jax.tree.map(lambda leaf, new: leaf.at[k].set(new), found, measure(*(block[k] for block in blocks)))

    one = jax.eval_shape(measure, *(block[0] for block in blocks))
    nothing = jax.tree.map(lambda leaf: jnp.zeros((len(blocks[0]), *leaf.shape), leaf.dtype), one)
    found = jax.lax.fori_loop(0, -(-count // size), measure_block, nothing)
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[: len(arrays[0])], found)


def summed_over_blocks(add: Callable[..., Any], nothing: Any, size: int, count: Count, *arrays: Array) -> Any:
    """Starting from `nothing`, `add(total, *block)` adds the first `count` rows of the arrays, block by block."""
    blocks = in_blocks(size, *arrays)
    return jax.lax.fori_loop(
        0, -(-count // size), lambda k, total: add(total, *(block[k] for block in blocks)), nothing
    )


def rows_of(table: Float[Array, "rows k"], wanted: Int[Array, " n"]) -> Float[Array, "n k"]:
    """table[wanted], for indices that are known to be in bounds."""
    return table.at[wanted].get(mode="promise_in_bounds")


@eqx.filter_custom_vjp
def measured_in_blocks(
    measured: tuple[QuasimetricModule, Float[Array, "sources k"], Float[Array, "targets k"]],
    first: Int[Array, " n"],
    second: Int[Array, " n"],
    count: Count,
) -> Float[Array, " n"]:
    """q(x[first], y[second]) for `measured` = (q, x, y): a quasimetric, which may have weights, and two tables."""
    quasimetric, x, y = measured
    return over_blocks(
        lambda a, b: quasimetric(rows_of(x, a), rows_of(y, b)), block_of(x.shape[1]), count, first, second
    )


@measured_in_blocks.def_fwd
def _forward(perturbed: Any, measured: Any, first: Array, second: Array, count: Count) -> tuple[Array, None]:
    del perturbed
    return measured_in_blocks(measured, first, second, count), None


@measured_in_blocks.def_bwd
def _backward(
    residuals: None, gradient: Array, perturbed: Any, measured: Any, first: Array, second: Array, count: Count
) -> Any:
    """Measures every block again, which is cheaper than keeping what its gradient needs."""
    del residuals, perturbed
    quasimetric, x, y = measured
    learned, rest = eqx.partition(quasimetric, eqx.is_inexact_array)

    def add_block(total: Any, a: Array, b: Array, gradient: Array) -> Any:
        _, pull_back = jax.vjp(
            lambda learned, x, y: eqx.combine(learned, rest)(x, y), learned, rows_of(x, a), rows_of(y, b)
        )
        more_learned, more_x, more_y = pull_back(gradient)
        of_learned, of_x, of_y = total
        return jax.tree.map(jnp.add, of_learned, more_learned), of_x.at[a].add(more_x), of_y.at[b].add(more_y)

    nothing = jax.tree.map(jnp.zeros_like, (learned, x, y))
    return summed_over_blocks(add_block, nothing, block_of(x.shape[1]), count, first, second, gradient)
