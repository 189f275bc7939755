"""The Poisson Quasimetric Embedding (Wang and Isola, 2022): how probable it is that counts fall from x to y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..errors import InputError, unknown_name
from ._base import Quasimetric, QuasimetricModule, require_positive_integer

Form = Literal["lh", "gg"]

TERMS = 10
"""Of the series of a Poisson race. Rates stay below 1 / sqrt(2), so that what is left out is below 1e-9."""
SCALE = 0.5**1.5
"""Half of the measure, 1 / sqrt(2), of the region below a Gaussian density centred at 0."""


@dataclass(frozen=True)
class PQE(Quasimetric):
    r"""sum_c alpha_c (1 - prod_j P(N_cj(A(x_cj)) <= N_cj(A(y_cj)))), with N_cj Poisson processes and alpha_c > 0.

    Every latent number u stands for a region A(u), in which a random number of points falls. "More points in x's region
    than in y's, for some j" is a random relation whose complement is transitive, so that its probability obeys the
    triangle inequality; sums with positive weights, which are learned, keep it. Identity and non-negativity hold too.
    *Positive homogeneity does not*: a distance is at most the sum of all alpha_c, however far apart the latents are.

    - lh (Lebesgue measure, half-lines): A(u) = (-inf, u]; the probability has the closed form
      1 - exp(-sum_j relu(x_cj - y_cj)).
    - gg (Gaussian measure, Gaussian shapes): A(u) is the region of the plane below the normal density centred at u, in
      which points fall with a density exp(-a^2 / 2) at abscissa a. What x's region has beyond y's and vice versa follow
      from the normal distribution, and the race between two Poisson counts from a short series. Latents of more than a
      few units are far from where points fall, and 0 apart.

    ::

        latent   |x_11 .. x_1m|x_21 .. x_2m| ... |      m = component_size numbers to a component

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.PQE(component_size=2).build(2, key=jax.random.key(0))
    >>> x, y = jnp.array([3.0, 1.0]), jnp.array([1.0, 2.0])
    >>> round(float(q(x, y)), 4), round(float(q(y, x)), 4)
    (0.8647, 0.6321)
    """

    name: ClassVar[str] = "pqe"
    homogeneous: ClassVar[bool] = False

    component_size: int = 4
    form: Form = "lh"

    def __post_init__(self) -> None:
        require_positive_integer(self.component_size, "component size of PQE")
        if self.form not in get_args(Form):
            raise unknown_name("form of PQE", str(self.form), get_args(Form))

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> PoissonRaces:
        return PoissonRaces(self.component_size, self.form, jnp.zeros(latent_size // self.component_size))

    def check(self, latent_size: int) -> None:
        super().check(latent_size)
        if latent_size % self.component_size:
            raise InputError(
                f"PQE cannot split a latent of {latent_size} numbers into components of "
                f"{self.component_size}; choose a latent size that is a multiple of {self.component_size}."
            )


class PoissonRaces(QuasimetricModule):
    """What `PQE` builds; alpha is the exponential of what is learned, so that it can grow to the size of a world."""

    component_size: int = eqx.field(static=True)
    form: Form = eqx.field(static=True)
    log_weights: Float[Array, " c"]

    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        exponents = jax.nn.relu(x - y) if self.form == "lh" else -jnp.log1p(-_lost(x, y))
        components = exponents.shape[-1] // self.component_size
        parts = exponents.reshape(*exponents.shape[:-1], components, self.component_size)
        return jnp.sum(-jnp.expm1(-jnp.sum(parts, axis=-1)) * jnp.exp(self.log_weights), axis=-1)


def _lost(x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch k"]:
    """The probability that more points fall into A(x) than into A(y), number by number."""
    beyond, behind = _excess(x, y), _excess(y, x)
    # P(X > Y) = exp(-a - b) sum_(i > k) a^i / i! b^k / k!, of which every term is positive: nothing cancels.
    total = term = jnp.zeros_like(beyond)
    power_a = power_b = jnp.ones_like(beyond)
    for i in range(1, TERMS + 1):
        term = term + power_b  # sum over k < i of b^k / k!
        power_a, power_b = power_a * beyond / i, power_b * behind / i
        total = total + power_a * term
    return jnp.exp(-beyond - behind) * total


def _excess(u: Float[Array, "*#batch k"], v: Float[Array, "*#batch k"]) -> Float[Array, "*#batch k"]:
    """The measure of A(u) without A(v): both densities cross half-way, and on u's side u's is the higher one."""
    side = jnp.sign(u - v) / 2
    own, other = jnp.exp(-jnp.square(u) / 4), jnp.exp(-jnp.square(v) / 4)
    area = SCALE * (own * jax.lax.erfc(side * v) - other * jax.lax.erfc(side * u))
    return jax.nn.relu(area)  # rounding may leave less than nothing
