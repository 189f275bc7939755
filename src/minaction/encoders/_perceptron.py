"""A plain perceptron over the last axis of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


@jax.custom_jvp
def selu(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """scale x where x is positive, scale alpha (exp(x) - 1) elsewhere; Klambauer et al., 2017.

    Its slope is a function of its value, so training keeps nothing of a layer but its output, which the next one needs
    anyway: a GPU spends much of a step moving such arrays.
    """
    return _SELU_SCALE * jnp.where(x > 0, x, _SELU_ALPHA * jnp.expm1(jnp.minimum(x, 0.0)))


@selu.defjvp
def _selu_derivative(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    value = selu(*primals)
    return value, jnp.where(value > 0, _SELU_SCALE, value + _SELU_SCALE * _SELU_ALPHA) * tangents[0]


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "selu": selu,
    "relu": jax.nn.relu,
    "gelu": jax.nn.gelu,
}


class Linear(eqx.Module):
    """x -> x W + b for a whole batch: LeCun-normal weights, zero bias.

    `eqx.nn.Linear` takes one example at a time and draws uniform weights; both would have to be undone.
    """

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int, *, key: PRNGKeyArray) -> None:
        self.weight = jax.nn.initializers.lecun_normal()(key, (inputs, outputs), jnp.float32)
        self.bias = jnp.zeros(outputs)

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        return x @ self.weight + self.bias


class LayerNorm(eqx.Module):
    """Normalise the last axis, then scale and shift."""

    weight: Float[Array, " size"]
    bias: Float[Array, " size"]

    def __init__(self, size: int) -> None:
        self.weight, self.bias = jnp.ones(size), jnp.zeros(size)

    def __call__(self, x: Float[Array, "*batch size"]) -> Float[Array, "*batch size"]:
        return jax.nn.standardize(x, axis=-1, epsilon=1e-6) * self.weight + self.bias


class Perceptron(eqx.Module):
    """Hidden layers with an activation and optional layer normalisation, then a linear output layer."""

    layers: tuple[Linear, ...]
    norms: tuple[LayerNorm, ...]
    activation: str = eqx.field(static=True)

    def __init__(
        self, inputs: int, sizes: Sequence[int], activation: str, layer_norm: bool, *, key: PRNGKeyArray
    ) -> None:
        keys = jax.random.split(key, len(sizes))
        widths = (inputs, *sizes)
        self.layers = tuple(Linear(a, b, key=k) for a, b, k in zip(widths[:-1], widths[1:], keys, strict=True))
        self.norms = tuple(LayerNorm(size) for size in sizes[:-1]) if layer_norm else ()
        self.activation = activation

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        activate = ACTIVATIONS[self.activation]
        for k, layer in enumerate(self.layers[:-1]):
            x = activate(layer(x))
            x = self.norms[k](x) if self.norms else x
        return self.layers[-1](x)
