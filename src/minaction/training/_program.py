"""The compiled part of training: what happens in a step, and many of them in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from .._devices import Devices
from ..encoders import InputStatistics
from ..encoders._in_training import in_training
from ..objectives import States, TrainingObjective
from ..objectives._states import RecordedStates

_STEPS_SAMPLED_TOGETHER = 100

# How hard XLA optimises. Drawing and copying weights takes no time in any case, and compiling that took seconds.
COMPILE_FAST = {"xla_backend_optimization_level": 0}
# Training steps take as long as with its usual 3, and a second less to compile: a quarter. On a GPU, matrix products
# that XLA writes itself, after trying many variants, take 23 s to compile instead of 6 and are no faster than cuBLAS's:
# 4,430 against 4,590 steps a second of MadDist. Kernels that do not need each other's results run side by side there:
# 5,160 steps a second instead of 4,580.
COMPILE_FOR_SPEED: dict[str, Any] = {"xla_backend_optimization_level": 2, "xla_gpu_enable_triton_gemm": False}
if jax.__version_info__ >= (0, 10):  # earlier ones may not know it, and refuse what they do not know
    COMPILE_FOR_SPEED["xla_gpu_command_buffer_scheduling_mode"] = "CONCURRENT"


class TrainState(NamedTuple):
    """All that changes during training; every array has a leading axis over seeds."""

    network: Any
    average: Any
    """Of the network's weights; nothing where the objective wants the last ones."""
    optimiser: optax.OptState
    extra: Any
    keys: Any


@dataclass(frozen=True)
class Program:
    """Programs with equal fields are equal, so that similar trainings share compiled code; they hold no data, because
    what is compiled lives as long as the process.
    """

    objective: TrainingObjective
    steps: int
    data_differs: bool
    """Whether the data have a leading axis over seeds, as the state has."""
    devices: Devices
    unroll: int = 1
    """How many steps are compiled into one piece."""
    in_turn: bool = False
    """Whether the seeds of a program are trained one after the other."""

    @partial(jax.jit, static_argnames="self", compiler_options=COMPILE_FAST)
    def initial(self, keys: Any, statistics: InputStatistics) -> TrainState:
        """The state of every seed before the first step."""

        def one_seed(key: Any, statistics: InputStatistics) -> TrainState:
            network = self.objective.architecture.build(statistics, key=key)
            parameters = eqx.filter(network, eqx.is_inexact_array)
            average = jax.tree.map(jnp.zeros_like, parameters) if self.objective.averaging else ()
            optimiser = self.objective.optimiser(self.steps).init(parameters)
            return TrainState(network, average, optimiser, self.objective.init(network), key)

        return jax.vmap(one_seed)(keys, statistics)

    def _one_step(self, state: TrainState, step: Array, batch: Any, states: States) -> tuple[TrainState, dict]:
        progress = step / self.steps
        parameters, rest = eqx.partition(state.network, eqx.is_inexact_array)
        key = jax.random.fold_in(jax.random.fold_in(state.keys, step), 1)  # the batch was drawn with what is inside

        def loss(parameters: Any) -> tuple[Float[Array, ""], dict]:
            return self.objective.loss(
                in_training(eqx.combine(parameters, rest), key), state.extra, batch, states, progress
            )

        (value, terms), gradient = jax.value_and_grad(loss, has_aux=True)(parameters)
        updates, optimiser = self.objective.optimiser(self.steps).update(gradient, state.optimiser, parameters)
        parameters = eqx.apply_updates(parameters, updates)
        average = self._averaged(state.average, parameters, step)
        network = eqx.combine(parameters, rest)
        extra = self.objective.advance(network, state.extra, terms)
        return self.devices.agree(TrainState(network, average, optimiser, extra, state.keys)), {"loss": value, **terms}

    def _averaged(self, average: Any, parameters: Any, step: Array) -> Any:
        if not self.objective.averaging:
            return average
        share = 1 / (1 + self.objective.averaging * step)  # of this step in the average: all of it at first
        return jax.tree.map(lambda mean, now: mean + share * (now - mean), average, parameters)

    @partial(jax.jit, static_argnames=("self", "length"), donate_argnames="state", compiler_options=COMPILE_FOR_SPEED)
    def chunk(self, state: TrainState, start: int, data: Any, *, length: int) -> tuple[TrainState, dict]:
        """`length` steps of every seed, sampling on the device."""

        # Batches are sampled for many steps at once: a GPU would spend a good part of a step on starting the small
        # kernels of sampling, one step at a time.
        together = max(count for count in range(1, _STEPS_SAMPLED_TOGETHER + 1) if length % count == 0)

        def one_seed(state: TrainState, data: Any) -> tuple[TrainState, dict]:
            tables, states = data

            def body(state: TrainState, xs: Any) -> tuple[TrainState, dict]:
                step, batch = xs
                return self._one_step(state, step, batch, states)

            def several_steps(state: TrainState, steps: Array) -> tuple[TrainState, dict]:
                keys = jax.vmap(partial(jax.random.fold_in, state.keys))(steps)
                batches = jax.vmap(self.objective.sample, in_axes=(0, None))(keys, tables)
                return jax.lax.scan(body, state, (steps, batches), unroll=self.unroll)

            steps = (start + jnp.arange(length)).reshape(-1, together)
            state, terms = jax.lax.scan(several_steps, state, steps)
            return state, jax.tree.map(lambda values: jnp.mean(values), terms)

        return self._over_seeds(one_seed, self.data_differs)(state, data)

    @partial(jax.jit, static_argnames=("self", "length"), donate_argnames="state", compiler_options=COMPILE_FOR_SPEED)
    def fed_chunk(self, state: TrainState, start: int, data: Any, *, length: int) -> tuple[TrainState, dict]:
        """`length` steps of every seed on batches that the host sampled: (seeds, length, ...)."""

        def one_seed(state: TrainState, fed: Any) -> tuple[TrainState, dict]:
            def body(state: TrainState, xs: Any) -> tuple[TrainState, dict]:
                step, batch, rows = xs
                return self._one_step(state, step, batch, RecordedStates(rows, self.devices))

            state, terms = jax.lax.scan(body, state, (start + jnp.arange(length), *fed), unroll=self.unroll)
            return state, jax.tree.map(lambda values: jnp.mean(values), terms)

        return self._over_seeds(one_seed, data_differs=True)(state, data)

    def _over_seeds(self, one_seed: Callable[[Any, Any], Any], data_differs: bool) -> Callable[[Any, Any], Any]:
        """`one_seed` for each entry of the state's leading axis, and of the data's if that differs."""

        def all_seeds(state: Any, data: Any) -> Any:
            entries, shared = ((state, data), ()) if data_differs else ((state,), (data,))

            def one(entry: Any) -> Any:
                return one_seed(*entry, *shared)

            if len(jax.tree.leaves(state)[0]) == 1:  # without an axis that would batch the matrix products
                found = one(jax.tree.map(lambda leaf: leaf[0], entries))
                return jax.tree.map(lambda leaf: leaf[None], found)
            return jax.lax.map(one, entries) if self.in_turn else jax.vmap(one)(entries)

        return all_seeds
