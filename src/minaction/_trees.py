"""Small helpers for pytrees: named leaves for files, padding and stacking for seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .errors import InputError

Tree = TypeVar("Tree")


def _path_name(path: tuple) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def named_leaves(tree: object) -> dict[str, np.ndarray]:
    """The arrays of a pytree by their path, such as `encoder.stacks.0.0.layers.1.weight`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, eqx.is_array))
    return {_path_name(path): np.asarray(leaf) for path, leaf in leaves}


def with_named_leaves(tree: Tree, tensors: Mapping[str, np.ndarray]) -> Tree:
    """`tree` with its arrays (or their shapes) replaced by those of the same names."""

    def replace(path: tuple, leaf: object) -> object:
        if not (eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct)):
            return leaf
        name = _path_name(path)
        tensor = tensors.get(name)
        if tensor is None or tensor.shape != leaf.shape:  # type: ignore[union-attr]
            found = "is missing" if tensor is None else f"has shape {tensor.shape}"
            raise InputError(f"the array {name!r} {found}, expected {leaf.shape}")  # type: ignore[union-attr]
        return jnp.asarray(tensor)

    return jax.tree_util.tree_map_with_path(replace, tree)


def stack_padded(trees: Sequence[Tree]) -> Tree:
    """One tree with a leading axis over `trees`; arrays of different shapes are padded with zeros at their ends."""

    def stack(*leaves: np.ndarray) -> np.ndarray:
        arrays = [np.asarray(leaf) for leaf in leaves]
        shape = np.max([array.shape for array in arrays], axis=0).astype(int)
        pads = [[(0, most - size) for most, size in zip(shape, array.shape, strict=True)] for array in arrays]
        return np.stack([np.pad(array, pad) if pad else array for array, pad in zip(arrays, pads, strict=True)])

    return jax.tree.map(stack, *trees)
