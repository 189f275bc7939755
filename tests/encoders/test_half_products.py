"""Products of half width: what they compute, and when training uses them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction.encoders import _in_training
from minaction.encoders._half_products import HalfProducts
from minaction.encoders._perceptron import Linear, Perceptron

_TF32 = 2.0**-11  # the relative error of a number rounded to ten bits of mantissa
_BFLOAT16 = 2.0**-8


def _layer_and_inputs() -> tuple[Linear, jax.Array]:
    return Linear(64, 32, key=jax.random.key(0)), jax.random.normal(jax.random.key(1), (5, 40, 64))


def test_values_are_as_exact_as_tf32() -> None:
    layer, x = _layer_and_inputs()
    exact = np.asarray(x, np.float64) @ np.asarray(layer.weight, np.float64)
    scale = np.abs(np.asarray(x, np.float64)) @ np.abs(np.asarray(layer.weight, np.float64))
    found = np.asarray(HalfProducts(layer)(x), np.float64)
    assert found.shape == (5, 40, 32)
    assert np.all(np.abs(found - exact) <= 2 * _TF32 * scale)


def test_gradients_are_those_of_the_layer_but_for_rounding() -> None:
    layer, x = _layer_and_inputs()
    layer = Linear(64, 32, key=jax.random.key(2))

    def loss(layer: Linear, x: jax.Array, half: bool) -> jax.Array:
        return jnp.sum(jnp.sin((HalfProducts(layer) if half else layer)(x)))

    exact, found = (jax.grad(loss, argnums=(0, 1))(layer, x, half) for half in (False, True))
    for true, rounded in zip(jax.tree.leaves(exact), jax.tree.leaves(found), strict=True):
        size = float(jnp.sqrt(jnp.mean(true**2)))
        assert rounded.dtype == jnp.float32
        assert float(jnp.sqrt(jnp.mean((rounded - true) ** 2))) < 2 * _BFLOAT16 * size


def test_a_number_beyond_float16_stays_finite() -> None:
    layer = Linear(2, 2, key=jax.random.key(0))
    assert bool(jnp.isfinite(HalfProducts(layer)(jnp.array([[1e9, -1e9]]))).all())


@pytest.mark.parametrize("precision", [None, "tensorfloat32", "highest", "float32"])
def test_training_on_a_gpu_uses_them_unless_full_precision_is_asked_for(
    precision: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Perceptron(3, (8, 4), "selu", layer_norm=False, key=jax.random.key(0))
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with jax.default_matmul_precision(precision):
        layers = _in_training.in_training(network, jax.random.key(0)).layers
    full = precision in ("highest", "float32")
    assert all(isinstance(layer, Linear if full else HalfProducts) for layer in layers)


def test_a_gpu_learns_the_same_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole of training as a GPU would do it, carried out by this processor."""
    data = ma.read("cliffwalking", seed=3)
    objective = ma.MadDist(encoder=ma.MLP(hidden=(64, 64), latent=32), learning_rate=1e-3)
    exact = ma.fit(data, objective, steps=300, held_out=0, progress=False)
    jax.clear_caches()  # the same program, or so it seems
    monkeypatch.setattr(_in_training, "_products_may_be_rounded", lambda: True)
    half = ma.fit(data, objective, steps=300, held_out=0, progress=False)
    states = data.distinct.states
    both = np.corrcoef(np.ravel(exact.pairwise(states, states)), np.ravel(half.pairwise(states, states)))
    assert not np.array_equal(exact.pairwise(states, states), half.pairwise(states, states))
    assert both[0, 1] > 0.99
