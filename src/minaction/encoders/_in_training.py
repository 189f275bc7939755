"""What a network does in training and not afterwards."""

from __future__ import annotations

from typing import Any, TypeVar

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from ._half_products import HalfProducts
from ._image import Cropping, ImageModule
from ._perceptron import Linear

Network = TypeVar("Network", bound=eqx.Module)

_FULL = ("highest", "float32")  # of JAX's precisions, those that ask for products without rounding


def in_training(network: Network, key: PRNGKeyArray) -> Network:
    """`network` with image encoders that crop, where they were asked to, and on a GPU with faster products."""
    faster = _products_may_be_rounded()

    def differs(part: object) -> bool:
        return isinstance(part, ImageModule) or (faster and isinstance(part, Linear))

    def changed(part: object) -> object:
        if isinstance(part, ImageModule):
            return Cropping(part, key) if part.crop > 0 else part
        return HalfProducts(part) if isinstance(part, Linear) else part

    return jax.tree.map(changed, network, is_leaf=differs)


def _products_may_be_rounded() -> bool:
    config: Any = jax.config  # whose options no type checker knows
    return jax.default_backend() == "gpu" and config.jax_default_matmul_precision not in _FULL
