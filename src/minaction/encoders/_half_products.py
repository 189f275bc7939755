"""Matrix products of a training step on a GPU, with factors of half the width.

A GPU multiplies float32 by rounding factors to TF32, whose ten bits of mantissa float16 has as well, and does float16
about twice as fast: its fast instructions take TF32 in one arrangement alone, which the factors of a weight's gradient
never have. Gradients are too small for float16; bfloat16 has their range, and its seven bits do. One seed of MadDist
trains at 7,650 steps a second on an H200 instead of 5,040, twenty at 14,780 instead of 11,400. With bfloat16
forwards, too, embeddings that reach some hundreds could not tell neighbours apart.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._perceptron import Linear

_LARGEST = 65504.0  # that float16 has; what is larger counts as that
_ONES = 8  # columns: fewer would not be aligned as fast instructions want
_Factors = tuple[Float[Array, "rows inputs"], Float[Array, "inputs outputs"]]


class HalfProducts(eqx.Module):
    """A linear layer in training: the same values, rounded as TF32 rounds; it cannot be differentiated twice."""

    layer: Linear

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        rows = x.reshape(-1, x.shape[-1])
        return affine(rows, self.layer.weight, self.layer.bias).reshape(*x.shape[:-1], -1)


@jax.custom_vjp
def affine(
    x: Float[Array, "rows inputs"], weight: Float[Array, "inputs outputs"], bias: Float[Array, " outputs"]
) -> Float[Array, "rows outputs"]:
    """x W + b."""
    return _product(_float16(x), _float16(weight)) + bias


def _forward(x: Array, weight: Array, bias: Array) -> tuple[Array, _Factors]:
    return affine(x, weight, bias), (x, weight)


def _backward(factors: _Factors, gradient: Array) -> tuple[Array, Array, Array]:
    x, weight = (factor.astype(jnp.bfloat16) for factor in factors)
    gradient = gradient.astype(jnp.bfloat16)
    # Columns of ones add up the gradient of the bias in the product of the weight's; as a sum it took as long as that.
    beside = jnp.concatenate([x, jnp.ones((len(x), _ONES), x.dtype)], axis=1)
    of_both = _product(beside.T, gradient)
    return _product(gradient, weight.T), of_both[:-_ONES], of_both[-1]


affine.defvjp(_forward, _backward)


def _product(a: Array, b: Array) -> Array:
    return jnp.matmul(a, b, preferred_element_type=jnp.float32)


def _float16(x: Array) -> Array:
    return jnp.clip(x, -_LARGEST, _LARGEST).astype(jnp.float16)
