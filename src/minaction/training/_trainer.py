"""The one training loop: any objective, several seeds at once, many steps per compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._compiled import keep_compiled_programs
from .._devices import Devices
from .._files import read_tensors, write_tensors
from .._image_axes import is_image
from .._model import DistanceModel, Provenance
from .._trees import named_leaves, with_named_leaves
from .._units import Units
from .._warm_start import check_fits
from ..encoders import input_statistics
from ..errors import InputError
from ..objectives import TrainingObjective
from ..objectives._states import States, as_recorded, as_table
from ..trajectories import Trajectories
from ._feed import HostFeed
from ._program import COMPILE_FAST, Program, TrainState
from ._replicas import replicas_on

# A GPU pauses between two iterations of a compiled loop. With four steps to an iteration one seed of MadDist did 4,470
# steps a second on an H200, with two 4,370 and with one 3,830. It does not pay where steps are long: QRL, with four
# times as many numbers to a batch, did 2,030 with one and 1,130 with four; nor for many seeds.
_STEPS_PER_ITERATION = 4
_MOST_SEEDS_UNROLLED = 8
_MOST_NUMBERS_UNROLLED = 1 << 22

_ALL = slice(None)
_Item = TypeVar("_Item")


class Trainer:
    """Trains one network per seed, all with the same compiled program.

    The same seeds give the same weights to the bit on the same machine, whether the training is interrupted, resumed or
    divided into other chunks; on a CPU also whatever other seeds are trained on the same data. On several devices, with
    another number of seeds on an accelerator, or beside seeds with larger data, weights agree to rounding.

    Args:
        objective: what to minimise.
        data: one data set for all seeds, or one per seed, so that runs on different data can be trained side by side.
        steps: the length of the whole training.
        seeds: one network is trained for each.
        name: the name of the data, or one per seed.
        encode_distinct: whether to encode every distinct state once per step; decided by how many there are if None.
        devices: how many devices to divide every batch between.
        start_from: models to start with, one per seed; new weights if empty.

    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([[[0.0], [1.0], [2.0], [1.0]]])
    >>> tiny = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
    >>> trainer = ma.Trainer(tiny, data, steps=4, seeds=(0, 1))
    >>> trainer.advance(4)["loss"].shape
    (2,)
    >>> len(trainer.models())
    2
    """

    def __init__(
        self,
        objective: TrainingObjective,
        data: Trajectories | Sequence[Trajectories],
        *,
        steps: int,
        seeds: Sequence[int] = (0,),
        name: str | Sequence[str] = "",
        encode_distinct: bool | None = None,
        devices: int = 1,
        start_from: Sequence[DistanceModel] = (),
    ) -> None:
        if not 1 <= steps < 1 << 31:
            raise InputError(f"The number of steps must be at least 1, and less than 2**31, but is {steps}.")
        if not seeds or not all(0 <= seed < 1 << 32 for seed in seeds):
            raise InputError("Give at least one seed, each from 0 to 4294967295.")
        keep_compiled_programs()
        self.objective, self.steps, self.seeds = objective, steps, tuple(seeds)
        self.names = self._one_each("names", [name] if isinstance(name, str) else name)
        self.data = self._one_each("data sets", [data] if isinstance(data, Trajectories) else data)
        if len({(item.state_shape, item.states.dtype) for item in self.data}) > 1:
            raise InputError("The data sets of the seeds have states of different shapes or types.")
        objective.architecture.check(self.data[0].state_shape, self.data[0].states.dtype)
        for model in start_from:
            check_fits(model, objective.architecture, self.data[0])
        begins = self._one_each("models to start from", start_from) if start_from else []
        self._sets = _different(self.data)  # what is made of a data set is made once for all seeds that share it
        self.step = 0
        self._devices = Devices(devices)
        self._replicas = replicas_on(self._devices)
        # Weights mean something in the units that they were trained in alone.
        self._units = [begins[0].units if begins else Units.of(item) for item in self._sets]
        timed = [units.in_steps(item) for units, item in zip(self._units, self._sets, strict=True)]
        tables = [objective.tables(item) for item in timed]
        batch = jax.eval_shape(objective.sample, jax.random.key(0), tables[0])
        rows = sum(leaf.size for leaf in jax.tree.leaves(batch) if jnp.issubdtype(leaf.dtype, jnp.integer))
        data_differs = len(self._sets) > 1 and self._replicas.batched
        # A batch of images fills a device, and convolutions with weights of several seeds would be grouped ones.
        images = is_image(self.data[0].state_shape)
        self._program = Program(
            objective, steps, data_differs, self._devices, 1 if images else self._unroll(rows), images
        )
        self._feed: HostFeed | None = None
        self._encodes_distinct = False
        if self._sets[0].is_mapped:
            if len(self._sets) > 1:
                raise InputError("Memory-mapped data cannot differ between seeds; give one data set.")
            self._feed = HostFeed(objective, self._sets[0], tables[0], self._units[0])
        else:
            views = self._state_views(rows, encode_distinct, [objective.more_states(table) for table in tables])
            self._data = self._replicas.put(list(zip(tables, views, strict=True)), self._places())
        self.state = self._initial_state(begins)

    # ---------------------------------------------------------------- training

    @property
    def chunk_length(self) -> int:
        """A good number of steps for one call of `advance`: a fraction of a second to a few seconds of work."""
        on_cpu = 100 if self._encodes_distinct else 20
        length = on_cpu if jax.default_backend() == "cpu" else 2000
        return length if self._feed is None else min(length, self._feed.longest_chunk(len(self.seeds)))

    def advance(self, steps: int) -> dict[str, np.ndarray]:
        """Train `steps` more steps, but not past the end, and return the mean of each term over them, (seeds,)."""
        steps = min(steps, self.steps - self.step)
        if not 1 <= steps < 1 << 31:
            return {}
        if self._feed is None:
            data, program = self._data, self._program.chunk
        else:
            keys = np.asarray(jax.random.key_data(self.state.keys))
            fed = self._feed.take(keys, self.step, steps, self.steps)
            data, program = self._replicas.split(fed), self._program.fed_chunk

        def train(state: TrainState, data: Any) -> tuple[TrainState, dict]:
            return program(state, self.step, data, length=steps)

        self.state, terms = self._replicas.train(train, self.state, data, steps)
        self.step += steps
        return {name: np.asarray(values) for name, values in terms.items()}

    def networks(self) -> list[Any]:
        """What was trained as it stands, one for each seed."""
        averaged = self.objective.averaging and self.step
        found = eqx.combine(self.state.average, self.state.network) if averaged else self.state.network
        return [_entry(found, k) for k in range(len(self.seeds))]

    def models(self) -> list[DistanceModel]:
        """The distances as they stand, one model per seed."""
        networks = self.networks()
        return [
            DistanceModel(
                networks[k],
                self.objective.architecture,
                Provenance(
                    objective=self.objective.name,
                    hyperparameters=self.objective.hyperparameters(),
                    steps=self.step,
                    seed=seed,
                    data=self.names[k],
                    data_fingerprint=self.data[k].fingerprint,
                    episodes=self.data[k].num_episodes,
                    states=self.data[k].num_states,
                ),
                self.data[k].state_shape,
                self.data[k].states.dtype.name,
                self._units[place],
                self.data[k].columns,
                self.data[k].time_unit,
            )
            for k, (seed, place) in enumerate(zip(self.seeds, self._places(), strict=True))
        ]

    # ---------------------------------------------------------------- checkpoints

    def save(self, path: str | Path, replicas: slice = _ALL) -> None:
        """Write a checkpoint of the seeds at `replicas` to `path`."""
        part = _part_of(_plain(self.state), replicas)
        write_tensors(path, "checkpoint", named_leaves(part), {"step": self.step, **self._identity(replicas)})

    def restore(self, path: str | Path, replicas: slice = _ALL) -> None:
        """Continue the seeds at `replicas` from the checkpoint `path`, made with the same settings, data and seeds.

        All seeds share one step, so that after restoring some of them the others have to be restored to the same step.
        """
        tensors, header = read_tensors(path, "checkpoint")
        for what, value in self._identity(replicas).items():
            if header.get(what) != value:
                raise InputError(
                    f"{path} was made with other {what}; start anew in another folder, or use the same settings."
                )
        step = header.get("step")
        if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step <= self.steps:
            raise InputError(f"{path} says that it was made at step {step!r} of {self.steps}; remove it to start anew.")
        plain = _plain(self.state)
        try:
            part = with_named_leaves(_part_of(plain, replicas), tensors)
        except InputError as error:
            raise InputError(f"{path} does not fit this training ({error}); remove it to start anew.") from error
        plain = jax.tree.map(lambda leaf, own: leaf.at[replicas].set(own) if eqx.is_array(leaf) else leaf, plain, part)
        self.state = plain._replace(keys=jax.random.wrap_key_data(plain.keys))
        self.step = step

    def _identity(self, replicas: slice) -> dict[str, Any]:
        return {
            "objective": self.objective.hyperparameters(),
            "seeds": list(self.seeds[replicas]),
            "steps": self.steps,
            "data": [item.fingerprint for item in _different(self.data[replicas])],
        }

    # ---------------------------------------------------------------- inside

    def _one_each(self, what: str, items: Sequence[_Item]) -> list[_Item]:
        """`items`, one per seed, which may all share one."""
        if len(items) not in (1, len(self.seeds)):
            raise InputError(f"There are {len(items)} {what} for {len(self.seeds)} seeds; give one, or one each.")
        return list(items) * (len(self.seeds) if len(items) == 1 else 1)

    def _places(self) -> list[int]:
        """Which of the different data sets is each seed's."""
        places = {id(item): place for place, item in enumerate(self._sets)}
        return [places[id(item)] for item in self.data]

    def _initial_state(self, begins: Sequence[DistanceModel]) -> TrainState:
        # One set of statistics per data set; a seed's own data standardises its own inputs.
        sets = zip(self._sets, self._units, strict=True)
        statistics = [input_statistics(item.states, item.offsets, units.origin) for item, units in sets]
        of_each = jax.tree.map(lambda *leaves: np.stack(leaves)[self._places()], *statistics)
        keys = jax.vmap(jax.random.key)(jnp.asarray(self.seeds, jnp.uint32))
        state = self._program.initial(keys, of_each)
        if not begins:
            return state
        networks = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(model.network for model in begins))
        return state._replace(network=networks, extra=jax.vmap(self.objective.init)(networks))

    def _unroll(self, rows: int) -> int:
        """How many steps to compile into one iteration of the loop, for batches of `rows` states."""
        numbers = rows * self.objective.architecture.width
        few = len(self.seeds) <= _MOST_SEEDS_UNROLLED and numbers <= _MOST_NUMBERS_UNROLLED
        # A CPU would only compile longer.
        return _STEPS_PER_ITERATION if few and jax.default_backend() != "cpu" else 1

    def _state_views(self, rows: int, encode_distinct: bool | None, more: Sequence[np.ndarray | None]) -> list[States]:
        if encode_distinct is None:
            encode_distinct = all(item.has_at_most(rows // 2) for item in self._sets)
        self._encodes_distinct = encode_distinct
        sets = zip(self._sets, more, self._units, strict=True)
        if encode_distinct:
            on_cpu = jax.default_backend() == "cpu"
            return [as_table(item, extra, on_cpu, units) for item, extra, units in sets]
        return [as_recorded(item, extra, self._devices, units) for item, extra, units in sets]


def _different(items: Sequence[Trajectories]) -> list[Trajectories]:
    """Every data set once, in the order of their first appearance."""
    return list({id(item): item for item in items}.values())


@partial(jax.jit, compiler_options=COMPILE_FAST)
def _entry(tree: Any, k: int) -> Any:
    """The k-th of every array's leading axis; one program, where JAX would compile one for every shape of an array."""
    return jax.tree.map(lambda leaf: leaf[k], tree)


def _part_of(state: TrainState, replicas: slice) -> TrainState:
    """The part of `state` that belongs to the seeds at `replicas`."""
    return jax.tree.map(lambda leaf: leaf[replicas] if eqx.is_array(leaf) else leaf, state)


def _plain(state: TrainState) -> TrainState:
    """`state` with its random keys as ordinary arrays, which files can hold."""
    return state._replace(keys=jax.random.key_data(state.keys))
