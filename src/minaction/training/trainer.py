"""The one training loop: any objective, several seeds at once, many steps per compiled call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from ..devices import Devices
from ..distance import Distance
from ..encoders.standardise import Statistics, fit_statistics
from ..errors import InputError
from ..files import read_tensors, write_tensors
from ..model import DistanceModel, Provenance
from ..objectives.base import Objective
from ..objectives.states import DistinctStates, RecordedStates, States
from ..trajectories.dataset import Trajectories
from ..trees import named_leaves, stack_padded, with_named_leaves
from .feed import HostFeed

_STEPS_SAMPLED_TOGETHER = 100

# The more seeds, the longer the steps and the less there is to gain from compiling several into a piece.
_MOST_SEEDS_UNROLLED = 8

_ALL = slice(None)
_Item = TypeVar("_Item")


class TrainState(NamedTuple):
    """All that changes during training; every array has a leading axis over seeds."""

    distance: Distance
    average: Any
    """Of the distance's weights; nothing where the objective wants the last ones."""
    optimiser: optax.OptState
    extra: Any
    keys: Any


@dataclass(frozen=True)
class Program:
    """The compiled part of training. It is equal to another with the same fields, so that trainings alike share
    compiled code; and it holds no data, because what is compiled lives as long as the process.
    """

    objective: Objective
    steps: int
    data_differs: bool
    """Whether every seed has data of its own."""
    devices: Devices
    unroll: int = 1
    """How many steps are compiled into one piece."""

    # Drawing weights takes no time, however little the compiler thinks about it; compiling it took seconds.
    @partial(jax.jit, static_argnames="self", compiler_options={"xla_backend_optimization_level": 0})
    def initial(self, keys: Any, statistics: Statistics) -> TrainState:
        """The state of every seed before the first step."""

        def one_seed(key: Any, statistics: Statistics) -> TrainState:
            distance = self.objective.architecture.build(statistics, key=key)
            parameters = eqx.filter(distance, eqx.is_inexact_array)
            average = jax.tree.map(jnp.zeros_like, parameters) if self.objective.averaging else ()
            optimiser = self.objective.optimiser(self.steps).init(parameters)
            return TrainState(distance, average, optimiser, self.objective.init(distance), key)

        return jax.vmap(one_seed, in_axes=(0, 0 if self.data_differs else None))(keys, statistics)

    def _one_step(self, state: TrainState, step: Array, batch: Any, states: States) -> tuple[TrainState, dict]:
        progress = step / self.steps
        parameters, rest = eqx.partition(state.distance, eqx.is_inexact_array)

        def loss(parameters: Any) -> tuple[Float[Array, ""], dict]:
            return self.objective.loss(eqx.combine(parameters, rest), state.extra, batch, states, progress)

        (value, terms), gradient = jax.value_and_grad(loss, has_aux=True)(parameters)
        updates, optimiser = self.objective.optimiser(self.steps).update(gradient, state.optimiser, parameters)
        parameters = eqx.apply_updates(parameters, updates)
        average = self._averaged(state.average, parameters, step)
        distance: Distance = eqx.combine(parameters, rest)
        extra = self.objective.advance(distance, state.extra, terms)
        return self.devices.agree(TrainState(distance, average, optimiser, extra, state.keys)), {"loss": value, **terms}

    def _averaged(self, average: Any, parameters: Any, step: Array) -> Any:
        if not self.objective.averaging:
            return average
        share = 1 / (1 + self.objective.averaging * step)  # of this step in the average: all of it at first
        return jax.tree.map(lambda mean, now: mean + share * (now - mean), average, parameters)

    @partial(jax.jit, static_argnames=("self", "length"), donate_argnames="state")
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

        return _over_seeds(one_seed, self.data_differs)(state, data)

    @partial(jax.jit, static_argnames=("self", "length"), donate_argnames="state")
    def fed_chunk(self, state: TrainState, start: int, fed: Any, *, length: int) -> tuple[TrainState, dict]:
        """`length` steps of every seed on batches that the host sampled: (seeds, length, ...)."""

        def one_seed(state: TrainState, fed: Any) -> tuple[TrainState, dict]:
            def body(state: TrainState, xs: Any) -> tuple[TrainState, dict]:
                step, batch, rows = xs
                return self._one_step(state, step, batch, RecordedStates(rows, self.devices))

            state, terms = jax.lax.scan(body, state, (start + jnp.arange(length), *fed), unroll=self.unroll)
            return state, jax.tree.map(lambda values: jnp.mean(values), terms)

        return _over_seeds(one_seed, data_differs=True)(state, fed)


def _over_seeds(one_seed: Callable[[Any, Any], Any], data_differs: bool) -> Callable[[Any, Any], Any]:
    """`one_seed` for each entry of the state's leading axis, and of the data's if that differs.

    An accelerator is not busy with one seed and trains them side by side. A CPU is, and takes one after the other: the
    program is compiled in less time, and on shared data a seed's weights are the same to the bit whatever others are
    trained with it.
    """

    def all_seeds(state: Any, data: Any) -> Any:
        entries, shared = ((state, data), ()) if data_differs else ((state,), (data,))

        def one(entry: Any) -> Any:
            return one_seed(*entry, *shared)

        if len(jax.tree.leaves(state)[0]) == 1:  # without an axis that would batch the matrix products
            found = one(jax.tree.map(lambda leaf: leaf[0], entries))
            return jax.tree.map(lambda leaf: leaf[None], found)
        return jax.lax.map(one, entries) if jax.default_backend() == "cpu" else jax.vmap(one)(entries)

    return all_seeds


class Trainer:
    """Trains one distance per seed, all in the same compiled program.

    `data` is one data set for all seeds or one per seed, and `name` likewise what it is called; several seeds may share
    one of several data sets. So runs on different data can be trained side by side: a checkpoint is of all seeds, or of
    those that `lanes` picks out, and then just as if they had been trained alone.

    The same seeds give the same weights to the bit on the same machine, whether the training was interrupted, resumed
    or cut into other chunks; on a CPU also whatever other seeds are trained on the same data. With several `devices`
    each takes a part of every batch; sums are then taken in another order, and weights agree to rounding, as they do
    for another number of seeds on an accelerator, and beside seeds whose own data are larger.
    """

    def __init__(
        self,
        objective: Objective,
        data: Trajectories | Sequence[Trajectories],
        *,
        steps: int,
        seeds: Sequence[int] = (0,),
        name: str | Sequence[str] = "",
        encode_distinct: bool | None = None,
        devices: int = 1,
    ) -> None:
        if steps < 1:
            raise InputError(f"The number of steps must be at least 1, but is {steps}.")
        if not seeds:
            raise InputError("Give at least one seed.")
        self.objective, self.steps, self.seeds = objective, steps, tuple(seeds)
        self.names = self._one_each("names", [name] if isinstance(name, str) else name)
        self.data = self._one_each("data sets", [data] if isinstance(data, Trajectories) else data)
        if len({item.state_size for item in self.data}) > 1:
            raise InputError("The data sets of the seeds have states of different sizes.")
        self._sets = _different(self.data)  # what is made of a data set is made once for all seeds that share it
        self.step = 0
        self._devices = Devices(devices)
        pays = jax.default_backend() != "cpu" and len(self.seeds) <= _MOST_SEEDS_UNROLLED
        unroll = objective.steps_to_a_piece if pays else 1  # a CPU would only compile longer
        self._program = Program(objective, steps, len(self._sets) > 1, self._devices, unroll)
        tables = [objective.tables(item) for item in self._sets]
        self._feed: HostFeed | None = None
        self._encodes_distinct = False
        if self._sets[0].is_mapped:
            if len(self._sets) > 1:
                raise InputError("Memory-mapped data cannot differ between seeds; give one data set.")
            self._feed = HostFeed(objective, self._sets[0], tables[0])
        else:
            states = self._state_views(tables[0], encode_distinct)
            self._data = (
                self._of_each_seed(self._devices.put(stack_padded(list(zip(tables, states, strict=True)))))
                if len(self._sets) > 1
                else self._devices.put(jax.tree.map(np.asarray, (tables[0], states[0])))
            )
        self.state = self._initial_state()

    # ---------------------------------------------------------------- training

    @property
    def chunk_length(self) -> int:
        """How many steps to ask for at once: a fraction of a second to a few seconds of work."""
        on_cpu = 100 if self._encodes_distinct else 20
        length = on_cpu if jax.default_backend() == "cpu" else 2000
        return length if self._feed is None else min(length, self._feed.longest_chunk(len(self.seeds)))

    def advance(self, steps: int) -> dict[str, np.ndarray]:
        """Train `steps` further steps (not past the end); the mean of every named term over them, one per seed."""
        steps = min(steps, self.steps - self.step)
        if steps < 1:
            return {}
        if self._feed is None:
            self.state, terms = self._program.chunk(self.state, self.step, self._data, length=steps)
        else:
            keys = np.asarray(jax.random.key_data(self.state.keys))
            fed = self._feed.take(keys, self.step, steps, self.steps)
            self.state, terms = self._program.fed_chunk(self.state, self.step, fed, length=steps)
        self.step += steps
        return {name: np.asarray(values) for name, values in terms.items()}

    def models(self) -> list[DistanceModel]:
        """The distances as they stand, one model per seed."""
        averaged = self.objective.averaging and self.step
        found = eqx.combine(self.state.average, self.state.distance) if averaged else self.state.distance
        return [
            DistanceModel(
                jax.tree.map(lambda leaf, k=k: leaf[k] if eqx.is_array(leaf) else leaf, found),
                self.objective.architecture,
                Provenance(
                    objective=self.objective.name,
                    hyperparameters=self.objective.hyperparameters(),
                    steps=self.step,
                    seed=seed,
                    data=self.names[k],
                    data_fingerprint=self.data[k].fingerprint,
                ),
            )
            for k, seed in enumerate(self.seeds)
        ]

    # ---------------------------------------------------------------- checkpoints

    def save(self, path: str | Path, lanes: slice = _ALL) -> None:
        """Write everything that is needed to go on from here with the seeds at `lanes`."""
        part = _lanes_of(_plain(self.state), lanes)
        write_tensors(path, "checkpoint", named_leaves(part), {"step": self.step, **self._identity(lanes)})

    def restore(self, path: str | Path, lanes: slice = _ALL) -> None:
        """Go on from a checkpoint of the same objective, data, seeds and number of steps, with the seeds at `lanes`.

        Seeds have no steps of their own: whoever restores some of them has all of them stand at one step in the end.
        """
        tensors, header = read_tensors(path, "checkpoint")
        for what, value in self._identity(lanes).items():
            if header.get(what) != value:
                raise InputError(
                    f"{path} was made with other {what}; start anew in another folder, or use the same settings."
                )
        plain = _plain(self.state)
        part = with_named_leaves(_lanes_of(plain, lanes), tensors)
        plain = jax.tree.map(lambda leaf, own: leaf.at[lanes].set(own) if eqx.is_array(leaf) else leaf, plain, part)
        self.state = plain._replace(keys=jax.random.wrap_key_data(plain.keys))
        self.step = int(header["step"])

    def _identity(self, lanes: slice) -> dict[str, Any]:
        return {
            "objective": self.objective.name,
            "settings": _as_json(self.objective.hyperparameters()),
            "seeds": list(self.seeds[lanes]),
            "steps": self.steps,
            "data": [item.fingerprint for item in _different(self.data[lanes])],
        }

    # ---------------------------------------------------------------- inside

    def _one_each(self, what: str, items: Sequence[_Item]) -> list[_Item]:
        """`items`, one per seed, which may all share one."""
        if len(items) not in (1, len(self.seeds)):
            raise InputError(f"There are {len(items)} {what} for {len(self.seeds)} seeds; give one, or one each.")
        return list(items) * (len(self.seeds) if len(items) == 1 else 1)

    def _of_each_seed(self, stacked: Any) -> Any:
        """Arrays with a leading axis over data sets as arrays with one over seeds."""
        if len(self._sets) == len(self.seeds):
            return stacked
        places = {id(item): place for place, item in enumerate(self._sets)}
        which = np.array([places[id(item)] for item in self.data])
        return jax.tree.map(lambda leaf: leaf[which], stacked)

    def _initial_state(self) -> TrainState:
        # One set of statistics per data set; a seed's own data standardises its own inputs.
        statistics = [fit_statistics(item.states, item.offsets) for item in self._sets]
        if len(statistics) == 1:
            stacked = statistics[0]
        else:
            stacked = self._of_each_seed(jax.tree.map(lambda *leaves: jnp.stack(leaves), *statistics))
        keys = jax.vmap(jax.random.key)(jnp.asarray(self.seeds, jnp.uint32))

        return self._program.initial(keys, stacked)

    def _state_views(self, table: Any, encode_distinct: bool | None) -> list[States]:
        if encode_distinct is None:
            batch = jax.eval_shape(self.objective.sample, jax.random.key(0), table)
            rows = sum(leaf.size for leaf in jax.tree.leaves(batch) if jnp.issubdtype(leaf.dtype, jnp.integer))
            encode_distinct = all(item.has_at_most(rows // 2) for item in self._sets)
        self._encodes_distinct = encode_distinct
        if encode_distinct:
            on_cpu = jax.default_backend() == "cpu"
            return [DistinctStates(item.distinct.states, item.distinct.index, on_cpu) for item in self._sets]  # type: ignore[arg-type]
        return [RecordedStates(item.states, self._devices) for item in self._sets]  # type: ignore[arg-type]


def _different(items: Sequence[Trajectories]) -> list[Trajectories]:
    """Every data set once, in the order of their first appearance."""
    return list({id(item): item for item in items}.values())


def _lanes_of(state: TrainState, lanes: slice) -> TrainState:
    """The part of `state` that belongs to the seeds at `lanes`."""
    return jax.tree.map(lambda leaf: leaf[lanes] if eqx.is_array(leaf) else leaf, state)


def _plain(state: TrainState) -> TrainState:
    """`state` with its random keys as ordinary arrays, which files can hold."""
    return state._replace(keys=jax.random.key_data(state.keys))


def _as_json(value: Any) -> Any:
    """As it would come back from a JSON file (tuples become lists)."""
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, list | tuple) else value
