"""`StateFormat`: what a model accepts as a state, and how states are converted before an encoder sees them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import ArrayLike

from ._forks import warn_if_forked
from ._units import ORDINARY, Units
from .errors import InputError
from .trajectories import shape_in_words

_BRIGHTER = 20.0  # times the largest number of recorded images: those asked about are scaled otherwise


@dataclass(frozen=True, eq=False)
class StateFormat:
    """The shape and the type of recorded states, and the units that a recording is measured in.

    `brightest` is the largest number in recorded images of floating-point numbers.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    units: Units = ORDINARY
    columns: tuple[str, ...] = ()
    brightest: float = math.inf

    def __str__(self) -> str:
        return shape_in_words(self.shape)

    def as_array(self, values: Any) -> jax.Array | np.ndarray:
        """`values` (..., *shape) as an encoder takes them: arrays of JAX as such, all others on the host.

        JAX compiles a program for every new shape that it converts or copies itself.
        """
        warn_if_forked()
        try:
            states = self._as_recorded(self.by_name(values))
        except InputError:
            raise
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:  # the last of tensors with a gradient
            raise InputError(f"States must be numbers in a rectangular array ({error}).") from None
        if states.ndim < len(self.shape) or states.shape[states.ndim - len(self.shape) :] != self.shape:
            raise InputError(f"This model takes states of {self}, but the array given has shape {states.shape}.")
        if np.dtype(self.dtype).kind != "f" or isinstance(states, Tracer):
            return states
        finite = np.isfinite(np.asarray(states))
        if not finite.all():
            rows: np.ndarray = finite.reshape(-1, math.prod(self.shape)).min(axis=1)
            where = "The state" if len(rows) == 1 else f"State {int(np.argmin(rows))} of those given"
            raise InputError(f"{where} holds NaN or infinity, so that no distance is defined; repair it.")
        if (largest := np.abs(np.asarray(states)).max(initial=0.0)) > _BRIGHTER * self.brightest:
            raise InputError(
                f"An image holds numbers up to {largest:.4g}, but those recorded none beyond {self.brightest:.4g}; "
                "scale it as they were."
            )
        return states

    def as_rows(self, values: ArrayLike) -> np.ndarray:
        """`values` as an array (n, *shape); their type is checked when they are embedded."""
        states = np.asarray(self.by_name(values))
        if states.ndim != 1 + len(self.shape):
            raise InputError(f"Give an array of states of {self} each, not of shape {states.shape}.")
        return states

    def by_name(self, values: Any) -> Any:
        """Of a data frame the columns of the recording, in its order; anything else as it is."""
        names = getattr(values, "columns", None)
        if names is None or not self.columns or not any(name in self.columns for name in names):
            return values
        if missing := [name for name in self.columns if name not in names]:
            raise InputError(f"The data frame lacks {', '.join(map(repr, missing))}, which a state of this model has.")
        return values[list(self.columns)]

    def leading(self, states: jax.Array | np.ndarray) -> tuple[int, ...]:
        """The leading axes of states (..., *shape)."""
        return states.shape[: states.ndim - len(self.shape)]

    def _as_recorded(self, values: Any) -> jax.Array | np.ndarray:
        """`values` in the type of the recorded states; numbers that it cannot hold are refused, not truncated."""
        dtype = np.dtype(self.dtype)
        if dtype.kind == "f":
            if self.units.origin is not None:
                if isinstance(values, Tracer):  # compiled code has no float64
                    return jnp.asarray(values - self.units.origin, jnp.float32)
                return np.asarray(self.units.centred(values))
            if isinstance(values, jax.Array):
                return jnp.asarray(values, jnp.float32)
            with np.errstate(over="ignore"):
                return np.asarray(values, np.float32)
        given = values if isinstance(values, jax.Array) else np.asarray(values)
        if given.dtype == dtype:
            return given
        given = np.asarray(given)
        with np.errstate(invalid="ignore"):  # NaN becomes some number, which differs
            cast = given.astype(dtype)
        if not np.array_equal(cast, given):
            raise ValueError(f"this model was trained on {dtype}, which cannot hold all of them; give them as recorded")
        return cast
