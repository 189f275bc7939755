"""What a network does in training alone: image encoders crop, and perceptrons may multiply rounded numbers."""

from __future__ import annotations

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ._image import Cropping, ImageModule
from ._perceptron import Linear, Perceptron, selu, selu_slope

Network = TypeVar("Network")

# Embeddings need as many digits as float32 products of a GPU keep, which float16 has. With the range of bfloat16,
# gradients need no scaling; its fewer digits are enough for them. Forward in bfloat16, too, MadDist lost .004 of its
# correlation on giant-stitch: neighbours differ by less than it can tell.
_FORWARD, _BACKWARD = jnp.float16, jnp.bfloat16
_FEW = 8  # inputs
_COLUMNS = 8  # that products want in multiples


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
    """A perceptron whose matrix products take numbers of 16 bits, but for the states, and add in float32.

    Weights stay what they are; only what is multiplied is rounded. An H200 has no fast product of float32 numbers for
    the gradients of weights, whose factors it would have to transpose first, and it takes half as long to move
    activations of half the size.
    """

    perceptron: Perceptron

    def __call__(self, x: Float[Array, "n inputs"]) -> Float[Array, "n outputs"]:
        return _rounded(self.perceptron.layers, x)


@jax.custom_vjp
def _rounded(layers: tuple[Linear, ...], x: Float[Array, "n inputs"]) -> Float[Array, "n outputs"]:
    return _forward(layers, x)[0]


def _forward(layers: tuple[Linear, ...], x: Array) -> tuple[Any, tuple[Any, ...]]:
    values = [x]  # the inputs of every layer
    for layer in layers:
        before, weight = values[-1], layer.weight
        if before is not x:
            product = jnp.dot(before, weight.astype(_FORWARD), preferred_element_type=jnp.float32)
        elif len(weight) <= _FEW:  # a GPU takes longer to start such a product than to compute it
            product = sum(x[:, k, None] * weight[k] for k in range(len(weight)))
        else:
            missing = -len(weight) % _COLUMNS
            product = jnp.pad(x, ((0, 0), (0, missing))) @ jnp.pad(weight, ((0, missing), (0, 0)))
        found = product + layer.bias
        values.append(found if layer is layers[-1] else selu(found).astype(_FORWARD))
    return values[-1], (layers, tuple(values[:-1]))


def _backward(saved: tuple[Any, ...], gradient: Array) -> tuple[tuple[Linear, ...], Array]:
    layers, values = saved
    found = []
    for layer, value in zip(reversed(layers), reversed(values), strict=True):
        rounded = gradient.astype(_BACKWARD)
        # A column of ones beside the inputs: the gradient of the bias comes with that of the weights. Adding it up
        # took as long as a product.
        inputs = value.shape[1]
        ones = jnp.zeros((len(value), 1 + (-inputs - 1) % _COLUMNS), _BACKWARD).at[:, 0].set(1)
        beside = jnp.concatenate([value.astype(_BACKWARD), ones], axis=1)
        both = jnp.dot(beside.T, rounded, preferred_element_type=jnp.float32)
        found.append(eqx.tree_at(lambda one: (one.weight, one.bias), layer, (both[:inputs], both[inputs])))
        gradient = jnp.dot(rounded, layer.weight.astype(_BACKWARD).T, preferred_element_type=_BACKWARD)
        gradient = gradient.astype(jnp.float32)
        if layer is not layers[0]:
            gradient = gradient * selu_slope(value.astype(jnp.float32))
    return tuple(reversed(found)), gradient


_rounded.defvjp(_forward, _backward)
