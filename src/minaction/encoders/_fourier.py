"""Random Fourier features: with them an encoder can represent jumps (walls, cliffs, one-way streets).

Tancik et al., "Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional Domains", 2020.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

HIGHEST = 20.0
_FEW = 8  # inputs
_CODE = 17.0  # radians per stride: several turns between any two states of a world of finitely many
_HIGHEST_CODE = 200.0  # radians per deviation: float32 knows phases of some hundred radians to four digits


class FourierFeatures(eqx.Module):
    """x -> (x, sqrt 2 sin(B x), sqrt 2 cos(B x)) with a fixed random B, whose entries are drawn from N(0, sigma^2).

    `sigma` may differ between inputs. With a `span` above 1, every row of B is divided by a number between 1 and
    `span`, whose logarithm is drawn uniformly, so that fine and coarse features stand side by side.
    """

    frequencies: Float[Array, "count size"]

    def __init__(self, count: int, sigma: Float[Array, " size"], span: float = 1.0, *, key: PRNGKeyArray) -> None:
        self.frequencies = sigma * jax.random.normal(key, (count, *sigma.shape))
        if span > 1:
            octaves = jax.random.uniform(jax.random.fold_in(key, 1), (count, 1))
            self.frequencies = self.frequencies * span**-octaves

    def __call__(self, x: Float[Array, "*batch size"]) -> Float[Array, "*batch features"]:
        frequencies = jax.lax.stop_gradient(self.frequencies)
        if x.shape[-1] <= _FEW:
            phase = jax.lax.platform_dependent(x, frequencies, cpu=_phase, default=_phase_of_few)
        else:
            phase = _phase(x, frequencies)
        return jnp.concatenate([x, jnp.sqrt(2.0) * jnp.sin(phase), jnp.sqrt(2.0) * jnp.cos(phase)], axis=-1)

    @property
    def output_size(self) -> int:
        """The number of features."""
        count, size = self.frequencies.shape
        return size + 2 * count

    def with_codes(
        self, count: int, stride: Float[Array, " size"], misleading: Float[Array, ""], *, key: PRNGKeyArray
    ) -> FourierFeatures:
        """The same with the last `count` frequencies replaced by codes if looks are `misleading` (1, else 0).

        Boards of a puzzle that differ by two tiles can be far apart. Frequencies of several turns per step give each
        state a code that has next to nothing in common with any other's, so that the network learns it by heart.
        Elsewhere they would only keep it from guessing states that it has not seen by those that look like them.
        """
        sigma = per_step(jnp.full_like(stride, _CODE), stride, _HIGHEST_CODE)
        codes = sigma * jax.random.normal(key, (count, *stride.shape))
        last = jnp.where(misleading > 0, codes, self.frequencies[-count:])
        return eqx.tree_at(lambda features: features.frequencies, self, self.frequencies.at[-count:].set(last))


def _phase(x: Float[Array, "*batch size"], frequencies: Float[Array, "count size"]) -> Float[Array, "*batch count"]:
    # Full precision: a rounded product would shift the phase of the high frequencies.
    return jnp.matmul(x, frequencies.T, precision=jax.lax.Precision.HIGHEST)


def _phase_of_few(x: Array, frequencies: Array) -> Array:
    """The same as a sum of few products: a GPU would take longer to start a matrix product than to compute it."""
    return jnp.sum(x[..., None, :] * frequencies, axis=-1)


def lowered(sigma: float, rate: Float[Array, " size"], most: float) -> Float[Array, " size"]:
    """`sigma` for every input, lowered for those that change fast (`rate`, in standard deviations per step).

    A walking body's joints swing back and forth while its position hardly changes. Frequencies that resolve the
    position would turn the joints into noise, and with them every feature, since each sums over all inputs. Inputs that
    change more than `most` times as fast as the slowest therefore get proportionally lower frequencies. Moreover,
    1 - rate^2 / 2 is the correlation of an input with itself one step later. Where that is less than half, frequencies
    are lowered further, down to zero for pure noise, where it is zero.
    """
    moving = rate > 0
    slowest = jnp.min(jnp.where(moving, rate, jnp.inf))
    in_proportion = jnp.where(moving, jnp.minimum(1.0, most * slowest / jnp.where(moving, rate, 1.0)), 1.0)
    return sigma * in_proportion * jnp.clip(2 * (1 - rate**2 / 2), 0, 1)


def per_step(
    sigma: Float[Array, " size"], stride: Float[Array, " size"], highest: float = HIGHEST
) -> Float[Array, " size"]:
    """Converts radians per stride of an input to radians per standard deviation, at most `highest`.

    In a small world, states one step apart should be distinguished. In a large one that would take higher frequencies
    than a network can use: on giant-stitch, where a step is a hundredth of a standard deviation, frequencies of one
    scale work best at 5 to 10 radians, and a span of scales may reach higher.
    """
    return jnp.minimum(highest * jnp.sign(sigma), sigma / jnp.maximum(stride, 1e-6))
