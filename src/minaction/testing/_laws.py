"""What all checks share: a law that holds or is named, and descriptions that survive a file."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

from .._descriptions import describe, make
from ..registry import Registry

Tree = TypeVar("Tree")


def require(holds: Any, law: str) -> None:
    """Raise an `AssertionError` with the law unless it holds (an `assert` would be gone under `python -O`)."""
    if not holds:
        raise AssertionError(law)


def require_close(
    found: Any, expected: Any, law: str, *, rtol: float = 1e-5, atol: float = 1e-6, nan_equal: bool = False
) -> None:
    """Require two arrays of numbers to agree; the message has the pair that differs most."""
    one, other = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    require(one.shape == other.shape, f"{law}: the shapes {one.shape} and {other.shape} differ.")
    apart = ~np.isclose(one, other, rtol=rtol, atol=atol, equal_nan=nan_equal)
    if apart.any():
        with np.errstate(invalid="ignore"):
            gap = np.where(apart, np.nan_to_num(np.abs(one - other), nan=np.inf), -1.0)
        worst = np.unravel_index(int(np.argmax(gap)), gap.shape)
        raise AssertionError(f"{law}: {one[worst]:.9g} is not {other[worst]:.9g} (at {tuple(map(int, worst))}).")


def require_finite(tree: Any, law: str) -> None:
    """Require every number of a pytree to be finite."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_inexact_array)):
        values = np.asarray(leaf)
        bad = ~np.isfinite(values)
        where = jax.tree_util.keystr(path, simple=True, separator=".") or "it"
        require(not bad.any(), f"{law}: {int(bad.sum())} of {bad.size} numbers of {where} are NaN or infinite.")


@contextlib.contextmanager
def attempting(what: str) -> Iterator[None]:
    """Whatever a member raises while it is checked is a law that failed as well."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        reason = (str(error).strip() or "no message").splitlines()[0]
        raise AssertionError(f"{what} failed with {type(error).__name__}: {reason}") from error


def check_registered(member: Any, what: str) -> None:
    """A member is found by its name, or nothing that was saved with it could be read."""
    family: Registry[Any] = member.family
    require(
        member.name in family,
        f"{what} is not registered: decorate it with @ma.register, or offer it as an entry point of the group "
        f"{family.group!r}.",
    )


def check_description(member: Any, what: str) -> None:
    """A description is frozen, hashable, known by its name, and comes back equal from the JSON of a file."""
    parameters = getattr(type(member), "__dataclass_params__", None)
    require(parameters is not None and parameters.frozen, f"{what} must be a frozen dataclass.")
    try:
        hash(member)
    except TypeError as error:
        raise AssertionError(f"{what} cannot be hashed ({error}); use tuples in place of lists and dicts.") from error
    check_registered(member, what)
    described = describe(member)
    try:
        text = json.dumps(described)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"The description of {what} cannot be written as JSON ({error}).") from error
    again = make(member.family, json.loads(text))
    require(
        type(again) is type(member) and again == member,
        f"{what} does not survive its description: {text} gives {again!r}, not {member!r}.",
    )
    missing = {field.name for field in dataclasses.fields(member) if field.init} - described.keys()
    require(not missing, f"The description of {what} leaves out {', '.join(sorted(missing))}.")


def check_weak_types(module: Any, what: str) -> None:
    """A number of weak type would become a strong one in the first step, and everything be compiled again."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(eqx.filter(module, eqx.is_array)):
        name = jax.tree_util.keystr(path, simple=True, separator=".")
        require(not getattr(leaf, "weak_type", False), f"{name} of {what} is of weak type; give it a dtype.")


def moved(module: Tree, learned: Any) -> Tree:
    """`module` with other values of what it learns: of the arrays whose gradients in `learned` are not all zero."""
    arrays, rest = eqx.partition(module, eqx.is_inexact_array)
    leaves, structure = jax.tree.flatten(arrays)
    slopes = jax.tree.leaves(eqx.filter(learned, eqx.is_inexact_array))
    changed = [
        leaf + jax.random.normal(jax.random.key(k), leaf.shape, leaf.dtype) if np.any(slope) else leaf
        for k, (leaf, slope) in enumerate(zip(leaves, slopes, strict=True))
    ]
    return eqx.combine(jax.tree.unflatten(structure, changed), rest)
