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

from .._devices import Devices
from .._distance import Distance
from .._files import read_tensors, write_tensors
from .._model import DistanceModel, Provenance
from .._trees import named_leaves, with_named_leaves
from ..encoders._standardise import fit_statistics
from ..errors import InputError
from ..objectives._base import Objective
from ..objectives._states import DistinctStates, RecordedStates, States
from ..trajectories._dataset import Trajectories
from ._feed import HostFeed
from ._program import AT_ONCE, Program, TrainState
from ._replicas import seeds_on

# The more seeds, the longer the steps and the less there is to gain from compiling several into a piece.
_MOST_SEEDS_UNROLLED = 8

_ALL = slice(None)
_Item = TypeVar("_Item")


class Trainer:
    """Trains one distance per seed, all with the same compiled program.

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
        self._at_once = seeds_on(self._devices)
        data_differs = len(self._sets) > 1 and self._at_once.batched
        self._program = Program(objective, steps, data_differs, self._devices, unroll)
        tables = [objective.tables(item) for item in self._sets]
        self._feed: HostFeed | None = None
        self._encodes_distinct = False
        if self._sets[0].is_mapped:
            if len(self._sets) > 1:
                raise InputError("Memory-mapped data cannot differ between seeds; give one data set.")
            self._feed = HostFeed(objective, self._sets[0], tables[0])
        else:
            views = self._state_views(tables[0], encode_distinct)
            self._data = self._at_once.put(list(zip(tables, views, strict=True)), self._places())
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
            data, program = self._data, self._program.chunk
        else:
            keys = np.asarray(jax.random.key_data(self.state.keys))
            fed = self._feed.take(keys, self.step, steps, self.steps)
            data, program = self._at_once.split(fed), self._program.fed_chunk

        def train(state: TrainState, data: Any) -> tuple[TrainState, dict]:
            return program(state, self.step, data, length=steps)

        self.state, terms = self._at_once.train(train, self.state, data, steps)
        self.step += steps
        return {name: np.asarray(values) for name, values in terms.items()}

    def models(self) -> list[DistanceModel]:
        """The distances as they stand, one model per seed."""
        averaged = self.objective.averaging and self.step
        found = eqx.combine(self.state.average, self.state.distance) if averaged else self.state.distance
        return [
            DistanceModel(
                _entry(found, k),
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

    def _places(self) -> list[int]:
        """Which of the different data sets is each seed's."""
        places = {id(item): place for place, item in enumerate(self._sets)}
        return [places[id(item)] for item in self.data]

    def _initial_state(self) -> TrainState:
        # One set of statistics per data set; a seed's own data standardises its own inputs.
        statistics = [fit_statistics(item.states, item.offsets) for item in self._sets]
        of_each = jax.tree.map(lambda *leaves: np.stack(leaves)[self._places()], *statistics)
        keys = jax.vmap(jax.random.key)(jnp.asarray(self.seeds, jnp.uint32))
        return self._program.initial(keys, of_each)

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


@partial(jax.jit, compiler_options=AT_ONCE)
def _entry(tree: Distance, k: int) -> Distance:
    """The k-th of every array's leading axis; one program, where JAX would compile one for every shape of an array."""
    return jax.tree.map(lambda leaf: leaf[k], tree)


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
