"""The laws of an objective."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._distance import Distance
from .._trees import stack_padded
from ..encoders import input_statistics
from ..objectives import Objective, States, make_objective
from ..objectives._states import RecordedStates, as_table, with_more
from ..trajectories import Trajectories
from ._laws import attempting, check_description, require, require_close, require_finite

_SEEDS, _STEPS = 2, 3
# Everything runs once, so that compiling it well would take nearly all of the time.
_compiled = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def check_objective(objective: Objective | type[Objective] | str, data: Trajectories | None = None) -> None:
    """Check that an objective does what the trainer relies on.

    `tables`, `sample`, `loss` and `advance` run under `jit` and under `vmap` over seeds. Integers in a batch are
    indices of recorded states, in range, and may be renumbered to rows that were read from a file. The loss and all its
    terms are finite numbers, with gradients. Recorded times count. The description survives JSON.

    Args:
        objective: an object, its class, or its name. Small networks and batches make the check quick.
        data: what to check it on: episodes whose states repeat. By default, walks along a line of twelve points, seen
            as two numbers.

    Raises:
        AssertionError: where a law fails, with the law and the numbers.

    >>> import minaction as ma
    >>> from minaction.testing import check_objective
    >>> check_objective(ma.PlanDist(encoder=ma.MLP(hidden=(8,), latent=4), batch_size=16))
    """
    chosen = make_objective(objective)
    data = _walks() if data is None else replace(data, actions=None)
    what = f"the objective {chosen.name!r}"
    check_description(chosen, what)
    with attempting(f"Training with {what}"):
        _Check(chosen, data, what).run()


def _walks() -> Trajectories:
    random = np.random.default_rng(0)
    episodes = []
    for length in (40, 1, 25, 60, 2):
        position = np.clip(np.cumsum(random.choice([-1, 1, 1], size=length)), 0, 11)
        episodes.append(np.stack([position, position % 3], axis=1).astype(np.float32))
    return Trajectories.from_episodes(episodes)


class _Check:
    def __init__(self, objective: Objective, data: Trajectories, what: str) -> None:
        self.objective, self.what = objective, what
        self.data = replace(data, times=None)
        self.tables = objective.tables(self.data)
        self.more = objective.more_states(self.tables)
        self.rows = with_more(self.data.states, self.more)
        self.states = RecordedStates(jnp.asarray(self.rows))
        self.on_device = jax.tree.map(jnp.asarray, self.tables)
        self.inputs = input_statistics(data.states, data.offsets)
        self.sample = _compiled(objective.sample)
        self.begin = _compiled(self._begin)
        self.loss = _compiled(self._loss_and_gradient)
        self.distance, self.extra = self.begin(jax.random.key(0))
        self.batch = self.sample(jax.random.key(5), self.on_device)

    def run(self) -> None:
        self._check_sampling()
        self._check_loss()
        self._check_views()
        self._check_times()
        self._check_steps()

    def _begin(self, key: jax.Array) -> tuple[Distance, Any]:
        distance = self.objective.architecture.build(self.inputs, key=key)
        return distance, self.objective.init(distance)

    def _loss_and_gradient(
        self, distance: Distance, extra: Any, batch: Any, states: States, progress: jax.Array
    ) -> tuple[tuple[jax.Array, Any], Any]:
        parameters, rest = eqx.partition(distance, eqx.is_inexact_array)

        def loss(parameters: Any) -> tuple[jax.Array, Any]:
            return self.objective.loss(eqx.combine(parameters, rest), extra, batch, states, progress)

        return jax.value_and_grad(loss, has_aux=True)(parameters)

    def _value_and_gradient(self, batch: Any, states: States) -> tuple[tuple[jax.Array, Any], Any]:
        return self.loss(self.distance, self.extra, batch, states, jnp.asarray(0.5))

    # ---------------------------------------------------------------- what a batch is

    def _check_sampling(self) -> None:
        what, sample = self.what, self.sample
        for leaf in jax.tree.leaves(self.tables):
            require(
                isinstance(leaf, np.ndarray | np.generic), f"`tables` of {what} has {type(leaf)}; use NumPy arrays."
            )
        for leaf in jax.tree.leaves(self.batch):
            if not jnp.issubdtype(leaf.dtype, jnp.integer):
                continue
            low, high = int(leaf.min()), int(leaf.max())
            require(
                low >= 0 and high < len(self.rows),
                f"Integers in a batch are indices of recorded states, or of those that `more_states` adds: {what} "
                f"samples {low} to {high} of {len(self.rows)} states.",
            )
        integers = [leaf for leaf in jax.tree.leaves(self.batch) if jnp.issubdtype(leaf.dtype, jnp.integer)]
        require(integers, f"The batch of {what} has no integers, so it names no states.")
        again = sample(jax.random.key(5), self.on_device)
        require(_equal(again, self.batch), f"{what} samples another batch with the same key.")
        other = sample(jax.random.key(6), self.on_device)
        require(not _equal(other, self.batch), f"{what} samples the same batch with every key.")
        keys = jax.random.split(jax.random.key(7), _SEEDS)
        together = _compiled(jax.vmap(self.objective.sample, in_axes=(0, None)))(keys, self.on_device)
        for k in range(_SEEDS):
            require(
                _equal(_entry(together, k), sample(keys[k], self.on_device)),
                f"Under `vmap` over seeds {what} samples other batches than for each seed alone.",
            )
        self._check_padding()

    def _check_padding(self) -> None:
        """Tables of several data sets are filled up with zeros to one length and stacked."""
        # Part of one episode: fewer states, and fewer different ones, so that every axis of a table is filled up.
        start = int(self.data.offsets[np.argmax(self.data.lengths > 1)])
        shorter = Trajectories.from_flat(self.data.states[start : start + max(2, int(self.data.lengths.max()) // 8)])
        tables = self.objective.tables(shorter)
        if jax.tree.structure(tables) != jax.tree.structure(self.tables):
            return  # such data sets are not trained side by side
        stacked = jax.tree.map(jnp.asarray, stack_padded([tables, self.tables]))
        key = jax.random.key(8)
        found = _compiled(jax.vmap(self.objective.sample, in_axes=(None, 0)))(key, stacked)
        expected = self.sample(key, jax.tree.map(jnp.asarray, tables))
        require(
            _equal(_entry(found, 0), expected),
            f"{self.what} samples from what its tables were filled up with beside a larger data set; keep counts in "
            "the tables as arrays and draw below them.",
        )

    # ---------------------------------------------------------------- what is minimised

    def _check_loss(self) -> None:
        (value, terms), gradient = self._value_and_gradient(self.batch, self.states)
        require(value.shape == (), f"The loss is one number: {self.what} gives an array of shape {value.shape}.")
        require_finite(value, f"The loss of {self.what} is finite")
        require(isinstance(terms, dict), f"`loss` of {self.what} gives {type(terms)} as its terms, not a dict.")
        for name, term in terms.items():
            require(jnp.shape(term) == (), f"The term {name!r} of {self.what} has shape {jnp.shape(term)}, not ().")
            require_finite(term, f"The term {name!r} of {self.what} is finite")
        require("loss" not in terms, f"{self.what} calls a term 'loss', which is what the trainer calls the whole.")
        require_finite(gradient, f"Gradients of {self.what} are finite")
        moving = jax.tree.leaves(eqx.filter(gradient.encoder, eqx.is_inexact_array))
        require(any(np.any(leaf) for leaf in moving), f"No gradient of {self.what} reaches the encoder.")
        self.value, self.terms, self.gradient = value, terms, gradient

    def _check_views(self) -> None:
        """States may be rows, a table of different ones, or rows that were read for this batch alone."""
        renumbered, rows = self._renumbered()
        views = (
            ("through a table of different states", self.batch, as_table(self.data, self.more)),
            ("through such a table on a CPU", self.batch, as_table(self.data, self.more, on_cpu=True)),
            ("on rows that were read from a file, with indices renumbered", renumbered, RecordedStates(rows)),
        )
        expected = _flat(self.gradient)
        for how, batch, states in views:
            (value, _), gradient = self._value_and_gradient(batch, states)
            law = f"{self.what} gives the same loss {how}"
            require_close(value, self.value, law, rtol=1e-4, atol=1e-6)
            apart = np.linalg.norm(_flat(gradient) - expected) / np.linalg.norm(expected)
            require(apart < 1e-3, f"{self.what} gives the same gradient {how}: it differs by {apart:.3g} of its norm.")

    def _renumbered(self) -> tuple[Any, jax.Array]:
        """The batch as it comes when states lie in a file: its integers count the rows that were read for it."""
        leaves, structure = jax.tree.flatten(self.batch)
        renumbered, rows, position = [], [], 0
        for leaf in leaves:
            if jnp.issubdtype(leaf.dtype, jnp.integer):
                rows.append(self.rows[np.ravel(leaf)])
                leaf, position = jnp.arange(position, position + leaf.size).reshape(leaf.shape), position + leaf.size
            renumbered.append(leaf)
        return jax.tree.unflatten(structure, renumbered), jnp.asarray(np.concatenate(rows))

    def _check_times(self) -> None:
        """Times 0, 1, 2, ... mean what no times mean; other times give another loss."""
        steps = np.arange(self.data.num_states) - np.repeat(self.data.offsets[:-1], self.data.lengths)
        found = {}
        for name, times in (("steps", steps.astype(np.float64)), ("stretched", 3.0 * steps + 0.5 * np.sin(steps))):
            timed = replace(self.data, times=times)
            tables = jax.tree.map(jnp.asarray, self.objective.tables(timed))
            batch = self.sample(jax.random.key(5), tables)
            (value, _), gradient = self._value_and_gradient(batch, self.states)
            require_finite((value, gradient), f"Loss and gradients of {self.what} are finite with recorded times")
            found[name] = float(value)
        law = f"Times 0, 1, 2, ... give {self.what} the loss that it has without times"
        require_close(found["steps"], self.value, law, rtol=1e-4, atol=1e-6)
        require(
            found["stretched"] != found["steps"],
            f"Recorded times do not count for {self.what}: steps of length 1 and of about 3 both give a loss of "
            f"{found['steps']:.6g}.",
        )

    # ---------------------------------------------------------------- steps

    def _check_steps(self) -> None:
        """Whole training steps in one loop, for several seeds side by side, as the trainer runs them."""
        before = jax.eval_shape(lambda: self.extra)
        after = jax.eval_shape(self.objective.advance, self.distance, self.extra, self.terms)
        require(
            jax.tree.structure(before) == jax.tree.structure(after)
            and all(_alike(*pair) for pair in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True)),
            f"`advance` of {self.what} must give what `init` gives, array for array: {before} became {after}.",
        )
        optimiser = self.objective.optimiser(_STEPS)

        def one_step(state: Any, step: jax.Array) -> tuple[Any, jax.Array]:
            distance, extra, optimising, key = state
            batch = self.objective.sample(jax.random.fold_in(key, step), self.on_device)
            (value, terms), gradient = self._loss_and_gradient(distance, extra, batch, self.states, step / _STEPS)
            parameters, rest = eqx.partition(distance, eqx.is_inexact_array)
            updates, optimising = optimiser.update(gradient, optimising, parameters)
            distance = eqx.combine(eqx.apply_updates(parameters, updates), rest)
            return (distance, self.objective.advance(distance, extra, terms), optimising, key), value

        def train(key: jax.Array) -> tuple[Any, jax.Array]:
            distance, extra = self._begin(key)
            optimising = optimiser.init(eqx.filter(distance, eqx.is_inexact_array))  # type: ignore[arg-type]
            (distance, extra, _, _), losses = jax.lax.scan(
                one_step, (distance, extra, optimising, key), jnp.arange(_STEPS)
            )
            return (distance, extra), losses

        keys = jax.random.split(jax.random.key(9), _SEEDS)
        trained, losses = _compiled(jax.vmap(train))(keys)
        require_finite((trained, losses), f"Training steps of {self.what} stay finite")
        for k, key in enumerate(keys):
            distance, extra = self.begin(key)
            batch = self.sample(jax.random.fold_in(key, 0), self.on_device)
            (alone, _), _ = self.loss(distance, extra, batch, self.states, jnp.asarray(0.0))
            require_close(
                losses[k, 0], alone, f"A seed of {self.what} has beside others the loss that it has alone", rtol=1e-3
            )


def _entry(tree: Any, k: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[k], tree)


def _equal(one: Any, other: Any) -> bool:
    leaves, others = jax.tree.leaves(one), jax.tree.leaves(other)
    return len(leaves) == len(others) and all(np.array_equal(*pair) for pair in zip(leaves, others, strict=True))


def _alike(one: Any, other: Any) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def _flat(gradient: Any) -> np.ndarray:
    leaves = jax.tree.leaves(eqx.filter(gradient, eqx.is_inexact_array))
    return np.concatenate([np.ravel(leaf) for leaf in leaves]).astype(np.float64)
