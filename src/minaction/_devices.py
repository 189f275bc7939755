"""Data-parallel training: each device encodes a part of every batch; weights are the same on all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Int

from .errors import InputError


@dataclass(frozen=True)
class Devices:
    """The first `count` devices of JAX's default backend."""

    count: int = 1

    def __post_init__(self) -> None:
        if self.count == 1:  # one always exists, and asking for it would initialise JAX
            return
        found = jax.local_device_count()
        if not 1 <= self.count <= found:
            raise InputError(
                f"Cannot train on {self.count} devices: there {'is' if found == 1 else 'are'} {found} here; "
                f"choose --devices from 1 to {found}."
            )

    def put(self, tree: Any) -> Any:
        """Copy data from the host to every device."""
        return jax.device_put(tree, None if self.count == 1 else self._sharding())

    def share_out(
        self, work: Callable[[Int[Array, " n"]], Float[Array, "n latent"]], rows: Int[Array, " n"]
    ) -> Float[Array, "n latent"]:
        """In compiled code: `work(rows)`, with an equal part of the rows on each device."""
        if self.count == 1:
            return work(rows)
        # Parts must be equal: rows that pad the last one are computed and discarded.
        filled = jnp.pad(rows, (0, -len(rows) % self.count))
        return work(jax.lax.with_sharding_constraint(filled, self._sharding("rows")))[: len(rows)]

    def agree(self, tree: Any) -> Any:
        """In compiled code: declare that values are the same on all devices."""
        if self.count == 1:
            return tree
        return jax.tree.map(lambda leaf: jax.lax.with_sharding_constraint(leaf, self._sharding()), tree)

    def _sharding(self, *axes: str) -> NamedSharding:
        mesh = Mesh(np.array(jax.local_devices()[: self.count]), ("rows",))
        return NamedSharding(mesh, PartitionSpec(*axes))
