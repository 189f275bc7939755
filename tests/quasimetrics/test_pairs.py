from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction.quasimetrics._base import QuasimetricModule
from minaction.quasimetrics._pairs import distances_both_ways


@pytest.mark.parametrize("on_cpu", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.9])
def test_the_simple_quasimetric_measures_both_ways_as_any_other_does(
    alpha: float, on_cpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not on_cpu:  # what an accelerator would do
        monkeypatch.setattr(jax.lax, "platform_dependent", lambda *values, cpu, default: default(*values))
    q = ma.Simple(alpha).build(6, key=jax.random.key(0))
    x, y = jax.random.normal(jax.random.key(1), (20, 6)), jax.random.normal(jax.random.key(2), (5, 6))
    x = x.at[3].set(y[1])  # the same state: a distance of 0, where the slope is 0 too
    weights = jax.random.normal(jax.random.key(3), (2, 5, 20))
    general = distances_both_ways.dispatch(QuasimetricModule)

    def weighted(measure: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.sum(weights * jnp.stack(measure(q, x, y)))

    for measure in (distances_both_ways, general):
        away, back = measure(q, x, y)
        np.testing.assert_allclose(away, q(y[:, None], x[None]), rtol=1e-6)
        np.testing.assert_allclose(back, q(x[None], y[:, None]), rtol=1e-6)
    found, expected = (jax.grad(weighted, argnums=(1, 2))(measure, x, y) for measure in (distances_both_ways, general))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), found, expected)
