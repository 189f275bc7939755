"""Training several seeds at once: vectorised on an accelerator, in threads on a CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from .._cores import core_count
from .._devices import Devices
from .._trees import stack_padded
from ._program import COMPILE_FAST

Tree = TypeVar("Tree")

Train = Callable[[Any, Any], Any]
"""Maps a state and data to a result; all arrays of the state and of the result have a leading axis over seeds."""


class Replicas(Protocol):
    """How a trainer stores the data of its seeds and trains them."""

    @property
    def batched(self) -> bool:
        """Whether the trainer's program takes all seeds at once rather than one at a time."""
        ...

    def put(self, parts: Sequence[Any], places: Sequence[int]) -> Any:
        """Data for `train`: `parts` has one entry per data set, `places` the index of each seed's entry."""
        ...

    def split(self, stacked: Any) -> Any:
        """Data for `train` from arrays with a leading axis over seeds."""
        ...

    def train(self, train: Train, state: Any, data: Any, steps: int) -> Any:
        """Call `train`, which takes `steps` steps, for all seeds."""
        ...


def replicas_on(devices: Devices) -> Replicas:
    """The implementation for these devices."""
    return Threaded(devices) if jax.default_backend() == "cpu" else Vectorised(devices)


class Vectorised:
    """All seeds in one program: a single one does not fill an accelerator."""

    batched = True

    def __init__(self, devices: Devices) -> None:
        self._devices = devices

    def put(self, parts: Sequence[Any], places: Sequence[int]) -> Any:
        if len(parts) == 1:
            return self._devices.put(_on_host(parts[0]))
        return self._devices.put(stack_padded([parts[place] for place in places]))

    def split(self, stacked: Any) -> Any:
        return stacked

    def train(self, train: Train, state: Any, data: Any, steps: int) -> Any:
        del steps
        return train(state, data)


class Threaded:
    """Each in a thread of its own, as many at a time as there are cores, with one program that all share.

    A seed keeps a core of a CPU busy; cores that share its many small kernels mostly wait for each other. On the same
    data a seed's weights are the same to the bit, whatever other seeds are trained beside it.
    """

    batched = False

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._compiled = set[int]()  # for how many steps

    def put(self, parts: Sequence[Any], places: Sequence[int]) -> list[Any]:
        # Padded to one shape, since every shape is compiled separately.
        stacked = stack_padded(parts) if len(parts) > 1 else jax.tree.map(lambda leaf: leaf[None], _on_host(parts[0]))
        held = [self._devices.put(jax.tree.map(lambda leaf, k=k: leaf[k], stacked)) for k in range(len(parts))]
        return [held[place] for place in places]

    def split(self, stacked: Any) -> list[Any]:
        return [_one(stacked, k) for k in range(len(jax.tree.leaves(stacked)[0]))]

    def train(self, train: Train, state: Any, data: list[Any], steps: int) -> Any:
        if len(data) == 1:
            return train(state, data[0])

        def train_one(k: int) -> Any:
            return jax.block_until_ready(train(_one(state, k), data[k]))

        # Threads that start a new program at the same time would each compile it.
        found = [] if steps in self._compiled else [train_one(0)]
        self._compiled.add(steps)
        # Programs that communicate between the same devices would deadlock.
        at_a_time = core_count() if self._devices.count == 1 else 1
        with ThreadPoolExecutor(at_a_time, thread_name_prefix="minaction-seed") as pool:
            found += pool.map(train_one, range(len(found), len(data)))
        return _joined(found)


def _on_host(tree: Tree) -> Tree:
    return jax.tree.map(np.asarray, tree)


# One program for all arrays of a tree; one by one, JAX would compile a program for each of their shapes.


@partial(jax.jit, compiler_options=COMPILE_FAST)
def _one(stacked: Tree, k: Int[Array, ""] | int) -> Tree:
    """The k-th entry of the leading axis, which is kept."""
    return jax.tree.map(lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, k, 1), stacked)


@partial(jax.jit, compiler_options=COMPILE_FAST)
def _joined(parts: Sequence[Tree]) -> Tree:
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)
