"""What a network does in training alone: image encoders crop, and perceptrons may multiply rounded numbers."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ._image import Cropping, ImageModule
from ._perceptron import Perceptron, selu, selu_slope

Network = TypeVar("Network")

_FEW = 8  # inputs


def in_training(network: Network, key: PRNGKeyArray, rounded: bool = False) -> Network:
    """`network` with image encoders that crop, where they were asked to, and if `rounded`, `RoundedPerceptron`s."""

    def changed(part: Any) -> Any:
        if isinstance(part, ImageModule) and part.crop > 0:
            return Cropping(part, key)
        if rounded and isinstance(part, Perceptron) and part.activation == "selu" and not part.norms:
            return RoundedPerceptron(part)
        return part

    return jax.tree.map(changed, network, is_leaf=lambda part: changed(part) is not part)


class RoundedPerceptron(eqx.Module):
    """A perceptron whose matrix products take numbers rounded to bfloat16, but for the states, and add in float32.

    Weights stay what they are; only what is multiplied is rounded. An H200 has no fast product of float32 numbers for
    the gradients of weights, whose factors it would have to transpose first, and it takes half as long to move
    activations of half the size.
    """

    perceptron: Perceptron

    def __call__(self, x: Float[Array, "n inputs"]) -> Float[Array, "n outputs"]:
        *hidden, last = self.perceptron.layers
        for layer in hidden:
            x = _layer(x, layer.weight, layer.bias, True)
        return _layer(x, last.weight, last.bias, False)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def _layer(x: Array, weight: Array, bias: Array, activated: bool) -> Array:
    """selu(x W + b), rounded, or x W + b where it is not `activated`; `x` is rounded but for the first layer."""
    if x.dtype == jnp.bfloat16:
        product = jnp.dot(x, weight.astype(x.dtype), preferred_element_type=jnp.float32)
        # XLA would have cuBLAS add the bias, which it cannot for these types (JAX 0.11).
        product = jax.lax.optimization_barrier(product)
    elif len(weight) <= _FEW:  # a GPU takes longer to start such a product than to compute it
        product = sum(x[:, k, None] * weight[k] for k in range(len(weight)))
    else:
        product = x @ weight
    return selu(product + bias).astype(jnp.bfloat16) if activated else product + bias


def _layer_forward(x: Array, weight: Array, bias: Array, activated: bool) -> tuple[Any, tuple[Any, ...]]:
    found = _layer(x, weight, bias, activated)
    return found, (x, weight, found)


def _layer_backward(activated: bool, saved: tuple[Array, ...], gradient: Array) -> tuple[Array, Array, Array]:
    x, weight, found = saved
    gradient = gradient.astype(jnp.float32)
    if activated:
        gradient = gradient * selu_slope(found.astype(jnp.float32))
    rounded = gradient.astype(jnp.bfloat16)
    by_weight = jnp.dot(x.astype(jnp.bfloat16).T, rounded, preferred_element_type=jnp.float32)
    by_x = jnp.dot(rounded, weight.astype(jnp.bfloat16).T, preferred_element_type=x.dtype)
    return by_x, by_weight, gradient.sum(axis=0)


_layer.defvjp(_layer_forward, _layer_backward)
