"""Data larger than memory: batches are sampled and gathered on the host while the device trains on earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._mapped import read_rows
from .._units import Units
from ..objectives import TrainingObjective
from ..trajectories import Trajectories

# Memory for the rows of one chunk; there are two at a time, one being trained on and one being read.
_CHUNK_BYTES = 64 << 20


class HostFeed:
    """Samples with the objective's own `sample`, reads the rows, and renumbers the batch to index them."""

    def __init__(self, objective: TrainingObjective, data: Trajectories, tables: Any, units: Units) -> None:
        self._states = data.states
        self._units = units
        self._more = objective.more_states(tables)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minaction-feed")
        self._ahead: tuple[tuple[int, int], Future] | None = None
        host = jax.local_devices(backend="cpu")[0]
        tables = jax.device_put(jax.tree.map(np.asarray, tables), host)

        def sample(key_data: jax.Array, step: jax.Array, tables: Any) -> Any:
            key = jax.random.fold_in(jax.random.wrap_key_data(key_data), step)
            return objective.sample(key, tables)

        # The tables are an argument: the times of a long recording would be copied into the program as constants.
        compiled = jax.jit(jax.vmap(jax.vmap(sample, in_axes=(None, 0, None)), in_axes=(0, None, None)))

        def sample_on_host(keys: np.ndarray, steps: np.ndarray) -> Any:
            with jax.default_device(host):
                given = (jax.device_put(keys, host), jax.device_put(steps, host))
                return jax.tree.map(np.asarray, compiled(*given, tables))

        self._sample: Callable[[np.ndarray, np.ndarray], Any] = sample_on_host
        batch = jax.eval_shape(objective.sample, jax.random.key(0), tables)
        rows = sum(leaf.size for leaf in jax.tree.leaves(batch) if jnp.issubdtype(leaf.dtype, jnp.integer))
        self._step_bytes = rows * data.states[:1].nbytes

    def longest_chunk(self, seeds: int) -> int:
        """The largest number of steps, of `seeds` seeds, that may be read at once."""
        return max(1, _CHUNK_BYTES // (seeds * self._step_bytes))

    def take(self, keys: np.ndarray, start: int, length: int, end: int) -> tuple[Any, jax.Array]:
        """Batches and rows of steps `start` to `start + length`; starts preparing the next ones."""
        wanted = (start, length)
        if self._ahead is not None and self._ahead[0] == wanted:
            fed = self._ahead[1].result()
        else:
            fed = self._gather(keys, start, length)
        following = (start + length, min(length, end - start - length))
        self._ahead = None
        if following[1] > 0:
            self._ahead = (following, self._pool.submit(self._gather, keys, *following))
        return fed

    def _gather(self, keys: np.ndarray, start: int, length: int) -> tuple[Any, jax.Array]:
        batch = self._sample(keys, start + np.arange(length, dtype=np.int32))
        leaves, structure = jax.tree.flatten(batch)
        lead = (len(keys), length)
        renumbered, indices, position = [], [], 0
        for leaf in leaves:
            if not np.issubdtype(leaf.dtype, np.integer):
                renumbered.append(leaf)
                continue
            count = int(np.prod(leaf.shape[2:]))
            numbers = np.arange(position, position + count, dtype=np.int32).reshape(leaf.shape[2:])
            renumbered.append(np.broadcast_to(numbers, leaf.shape))
            indices.append(leaf.reshape(*lead, count))
            position += count
        wanted = np.concatenate(indices, axis=2).ravel()
        rows = self._units.centred(self._read(wanted))
        shaped = jnp.asarray(rows.reshape(*lead, position, *rows.shape[1:]))
        return jax.tree.unflatten(structure, [jnp.asarray(leaf) for leaf in renumbered]), shaped

    def _read(self, wanted: np.ndarray) -> np.ndarray:
        """Rows of the file, or of the states that the objective adds after them."""
        if self._more is None:
            return read_rows(self._states, wanted)
        count = len(self._states)
        rows = read_rows(self._states, np.minimum(wanted, count - 1))
        added = wanted >= count
        rows[added] = self._more[wanted[added] - count]
        return rows
