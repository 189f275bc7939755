"""Quasimetrics by name: with the usual sizes for a latent space, or from the description in a model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jaxtyping import PRNGKeyArray

from ..errors import InputError, unknown_name
from ._base import Quasimetric
from ._convex import Convex
from ._iqe import IQE
from ._norms import L1, L2
from ._simple import Max, Mean, Simple, Sum
from ._wide_norm import WideNorm

_FAMILY: dict[str, type[Quasimetric]] = {
    member.name: member for member in (Simple, Max, Sum, Mean, Convex, WideNorm, IQE, L1, L2)
}

# The sizes are those of the paper's ablation: IQE components of 16, a Wide Norm of 32 components of 32.
_USUAL: dict[str, Callable[[int, PRNGKeyArray], Quasimetric]] = {
    "simple": lambda latent_size, key: Simple(),
    "max": lambda latent_size, key: Max(),
    "sum": lambda latent_size, key: Sum(),
    "mean": lambda latent_size, key: Mean(),
    "wide-norm": lambda latent_size, key: WideNorm(latent_size, key=key),
    "iqe-sum": lambda latent_size, key: IQE(16, "sum"),
    "iqe-maxmean": lambda latent_size, key: IQE(16, "maxmean"),
    "l1": lambda latent_size, key: L1(),
    "l2": lambda latent_size, key: L2(),
}

QUASIMETRIC_NAMES: tuple[str, ...] = tuple(_USUAL)


def make_quasimetric(name: str, latent_size: int, key: PRNGKeyArray) -> Quasimetric:
    """The quasimetric that people call `name`, for latents of `latent_size` numbers.

    Behind a slash may stand another component size of an IQE: `iqe-maxmean/32`.
    """
    family, slash, size = name.partition("/")
    if family not in _USUAL:
        raise unknown_name("quasimetric", family, QUASIMETRIC_NAMES)
    quasimetric = _USUAL[family](latent_size, key)
    if slash:
        if not isinstance(quasimetric, IQE) or not size.isdecimal():
            raise InputError(f"{name!r} is no quasimetric; only an IQE takes a size, such as 'iqe-maxmean/32'.")
        quasimetric = IQE(int(size), quasimetric.reduction)
    quasimetric.check_size(latent_size)
    return quasimetric


def quasimetric_from_config(config: Mapping[str, Any]) -> Quasimetric:
    """Build again what `Quasimetric.to_config` described; learned arrays have their starting values."""
    hyperparameters = {key: _rebuild(value) for key, value in config.items()}
    name = str(hyperparameters.pop("name", None))
    if name not in _FAMILY:
        raise unknown_name("quasimetric", name, _FAMILY)
    try:
        return _FAMILY[name].from_hyperparameters(hyperparameters)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The description of the quasimetric {name!r} has entries that do not fit it ({error}); "
            "write the model file again."
        ) from error


def _rebuild(value: Any) -> Any:
    """A description inside a description is a member of its own."""
    if isinstance(value, Mapping):
        return quasimetric_from_config(value)
    return [_rebuild(item) for item in value] if isinstance(value, list) else value
