"""Many pairs of few rows, on a CPU: each pair measured once, block by block.

Looking up both rows of all pairs first, and adding up the gradients of all of them afterwards, moves some hundred times
the table through memory; in blocks nothing but the table itself is read and written, and what is made of a block stays
in the cache. How many pairs there are to measure may turn out as the program runs (`count`).
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
"""How many of the pairs to measure: the first ones."""


class DifferentPairs(NamedTuple):
    """Pairs without their repetitions."""

    first: Int[Array, " n"]
    second: Int[Array, " n"]
    how_many: Int[Array, ""]
    """How many they are; what comes after them means nothing."""
    place: Int[Array, " n"]
    """Which of them each of the original pairs is."""


def different_pairs(first: Int[Array, " n"], second: Int[Array, " n"], rows: int) -> DifferentPairs:
    """The pairs, each once, of numbers below `rows`; that number squared is how much memory it takes to find them."""
    index, pair = jnp.arange(len(first)), first * rows + second
    # Every pair writes its index where its equals do and reads whose was kept: one speaks for all of them.
    speaker = jnp.zeros(rows * rows, index.dtype).at[pair].set(index)[pair]
    speaks = speaker == index
    place = jnp.cumsum(speaks) - 1
    speakers = jnp.zeros_like(index).at[jnp.where(speaks, place, len(index))].set(index, mode="drop")
    return DifferentPairs(first[speakers], second[speakers], jnp.sum(speaks), place[speaker])


def block_of(row_size: int) -> int:
    """How many pairs of rows to look at together."""
    return max(1, _NUMBERS_AT_A_TIME // row_size)


def in_blocks(size: int, *arrays: Array) -> tuple[Array, ...]:
    """The arrays with their first axis cut into blocks, the last of them filled up with zeros."""
    count = len(arrays[0])
    blocks = -(-count // size)

    def cut(values: Array) -> Array:
        filled = jnp.pad(values, [(0, blocks * size - count), *[(0, 0)] * (values.ndim - 1)])
        return filled.reshape(blocks, size, *values.shape[1:])

    return tuple(cut(values) for values in arrays)


def over_blocks(measure: Callable[..., Any], size: int, count: Count, *arrays: Array) -> Any:
    """`measure` of the first `count` rows of the arrays, a block at a time; the others mean nothing."""
    blocks = in_blocks(size, *arrays)

    def measure_block(k: Array, found: Any) -> Any:
        return jax.tree.map(lambda leaf, new: leaf.at[k].set(new), found, measure(*(block[k] for block in blocks)))

    one = jax.eval_shape(measure, *(block[0] for block in blocks))
    nothing = jax.tree.map(lambda leaf: jnp.zeros((len(blocks[0]), *leaf.shape), leaf.dtype), one)
    found = jax.lax.fori_loop(0, -(-count // size), measure_block, nothing)
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[: len(arrays[0])], found)


def summed_over_blocks(add: Callable[..., Any], nothing: Any, size: int, count: Count, *arrays: Array) -> Any:
    """`nothing`, to which `add(total, *block)` adds the first `count` rows of the arrays, a block at a time."""
    blocks = in_blocks(size, *arrays)
    return jax.lax.fori_loop(
        0, -(-count // size), lambda k, total: add(total, *(block[k] for block in blocks)), nothing
    )


def rows_of(table: Float[Array, "rows k"], wanted: Int[Array, " n"]) -> Float[Array, "n k"]:
    """table[wanted], for numbers of rows that are known to be right."""
    return table.at[wanted].get(mode="promise_in_bounds")


@eqx.filter_custom_vjp
def measured_in_blocks(
    measured: tuple[QuasimetricModule, Float[Array, "sources k"], Float[Array, "targets k"]],
    first: Int[Array, " n"],
    second: Int[Array, " n"],
    count: Count,
) -> Float[Array, " n"]:
    """q(x[first], y[second]) for `measured`, a quasimetric q (of which some may be learned) and tables x and y."""
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
    """Measures every block again: that is cheaper than to keep what its gradient needs."""
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
