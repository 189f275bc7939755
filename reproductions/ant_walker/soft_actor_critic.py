"""Soft actor-critic for an ant that walks where it is told, written for many updates per compiled call.

The ant is the same after a quarter turn, so it is always seen with the command ahead of it. A recorded step earns a
reward under any command, so a quarter of a batch is seen under a command drawn anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from minaction.mazes import _walker as walker

# A row of the replay buffer: state and next state without x and y, torques, command, displacement, fallen.
ROW_PARTS = {"state": 27, "next_state": 27, "action": 8, "direction": 2, "displacement": 2, "fallen": 1}
ROW_SIZE = sum(ROW_PARTS.values())


@dataclass(frozen=True)
class Settings:
    """The learner's hyperparameters."""

    hidden: int = 256
    batch: int = 128
    discount: float = 0.99
    target_rate: float = 0.005
    learning_rates: tuple[tuple[int, float], ...] = (
        (0, 6e-4),
        (129_024, 6e-4),
        (170_000, 3e-5),
        (171_000, 2e-4),
        (195_000, 2e-5),
    )
    """Updates done and the learning rate then, linear in between."""
    entropies: tuple[tuple[int, float], ...] = ((0, -8.0), (20_000, -8.0), (60_000, -20.0))
    """Updates done and the entropy wanted then, linear in between. The ant's joints are heavy for their motors: the
    fastest gaits drive them at full torque, which a policy that has to stay as random as usual cannot."""
    first_temperature: float = 0.05
    sideways_costs: tuple[tuple[int, float], ...] = (
        (0, 0.2),
        (129_024, 0.2),
        (129_025, 0.4),
        (170_000, 0.4),
        (171_000, 0.9),
    )
    """Updates done and what displacement across the command costs then, where along it earns 1; linear in between."""
    relabelled: float = 0.25
    """Share of a batch that is seen under a command drawn anew."""


class Learner(NamedTuple):
    """Everything that an update changes."""

    actor: Any
    critics: Any
    target_critics: Any
    log_temperature: jax.Array
    actor_optimiser: Any
    critic_optimiser: Any
    temperature_optimiser: Any
    updates: jax.Array


def optimiser(settings: Settings) -> optax.GradientTransformation:
    """Adam with the learning rates of the settings."""
    return optax.adam(lambda count: _at(count, settings.learning_rates))


def _at(updates: Any, course: tuple[tuple[int, float], ...]) -> jax.Array:
    begins, values = (jnp.asarray(column, dtype=jnp.float32) for column in zip(*course, strict=True))
    return jnp.interp(updates, begins, values)


def make_learner(settings: Settings, seed: int) -> Learner:
    """Networks as drawn from `seed`, untrained."""
    actor_key, critic_key = jax.random.split(jax.random.key(seed))
    width, seen, torques = settings.hidden, walker.FEATURES, ROW_PARTS["action"]
    actor = eqx.nn.MLP(seen, 2 * torques, width, 2, key=actor_key)
    critics = eqx.filter_vmap(lambda key: eqx.nn.MLP(seen + torques, "scalar", width, 2, key=key))(
        jax.random.split(critic_key)
    )
    log_temperature = jnp.log(jnp.float32(settings.first_temperature))
    init = optimiser(settings).init
    return Learner(
        actor=eqx.filter(actor, eqx.is_array),
        critics=eqx.filter(critics, eqx.is_array),
        target_critics=jax.tree.map(jnp.copy, eqx.filter(critics, eqx.is_array)),
        log_temperature=log_temperature,
        actor_optimiser=init(eqx.filter(actor, eqx.is_array)),
        critic_optimiser=init(eqx.filter(critics, eqx.is_array)),
        temperature_optimiser=init(log_temperature),
        updates=jnp.int32(0),
    )


def _layers(network: Any, x: jax.Array) -> jax.Array:
    """A perceptron on a batch of rows at once."""
    *hidden, last = network.layers
    for layer in hidden:
        x = jax.nn.relu(x @ layer.weight.T + layer.bias)
    return x @ last.weight.T + last.bias


def sample_action(actor: Any, seen: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Torques drawn from the policy, and the logarithm of their density."""
    mean, log_width = jnp.split(_layers(actor, seen), 2, axis=-1)
    log_width = -5.0 + 3.5 * (1.0 + jnp.tanh(log_width))  # within [-5, 2]
    noise = jax.random.normal(key, mean.shape)
    raw = mean + jnp.exp(log_width) * noise
    # log(1 - tanh(raw)^2), written so that it does not overflow
    squeeze = 2.0 * (jnp.log(2.0) - raw - jax.nn.softplus(-2.0 * raw))
    density = -0.5 * noise**2 - log_width - 0.5 * jnp.log(2.0 * jnp.pi) - squeeze
    return jnp.tanh(raw), density.sum(axis=-1)


def _values(critics: Any, seen: jax.Array, action: jax.Array) -> jax.Array:
    """What both critics think, (2, batch)."""
    x = jnp.concatenate([seen, action], axis=-1)
    return jax.vmap(lambda critic: _layers(critic, x)[..., 0])(critics)


def _ahead(states: jax.Array, directions: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What the policy sees, from the torso turned until the command points ahead, and by how many quarters that is."""
    seen = walker.features(states, directions, jnp)
    quarters = walker.quarters_ahead(seen, jnp)
    return walker.turn_features(seen, quarters, jnp), quarters


def _batch(settings: Settings, rows: jax.Array, key: jax.Array, sideways_cost: jax.Array) -> tuple[jax.Array, ...]:
    """Features, torques, next features, rewards and falls of replayed rows, partly relabelled."""
    parts = jnp.split(rows, np.cumsum(list(ROW_PARTS.values()))[:-1], axis=-1)
    state, next_state, action, direction, displacement, fallen = parts
    angle_key, relabel_key = jax.random.split(key)
    angle = jax.random.uniform(angle_key, (len(rows),), maxval=2 * jnp.pi)
    relabelled = jax.random.bernoulli(relabel_key, settings.relabelled, (len(rows), 1))
    direction = jnp.where(relabelled, jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=-1), direction)
    along = (displacement * direction).sum(axis=-1)
    across = displacement[:, 0] * direction[:, 1] - displacement[:, 1] * direction[:, 0]
    reward = along - sideways_cost * jnp.abs(across)
    seen, quarters = _ahead(state, direction)
    next_seen, _ = _ahead(next_state, direction)
    return seen, walker.turn_actions(action, quarters, jnp), next_seen, reward, fallen[:, 0]


def _update(settings: Settings, learner: Learner, rows: jax.Array, key: jax.Array) -> Learner:
    """One step of every optimiser on one batch."""
    batch_key, next_key, action_key = jax.random.split(key, 3)
    seen, action, next_seen, reward, fallen = _batch(
        settings, rows, batch_key, _at(learner.updates, settings.sideways_costs)
    )
    optimise = optimiser(settings).update
    temperature = jnp.exp(learner.log_temperature)

    next_action, next_density = sample_action(learner.actor, next_seen, next_key)
    next_value = _values(learner.target_critics, next_seen, next_action).min(axis=0) - temperature * next_density
    target = reward + settings.discount * (1.0 - fallen) * next_value

    critic_gradient = jax.grad(lambda critics: ((_values(critics, seen, action) - target) ** 2).mean(axis=1).sum())(
        learner.critics
    )
    change, critic_optimiser = optimise(critic_gradient, learner.critic_optimiser)
    critics = optax.apply_updates(learner.critics, change)

    def actor_loss(actor: Any) -> tuple[jax.Array, jax.Array]:
        fresh, density = sample_action(actor, seen, action_key)
        return (temperature * density - _values(critics, seen, fresh).min(axis=0)).mean(), density.mean()

    actor_gradient, density = jax.grad(actor_loss, has_aux=True)(learner.actor)
    change, actor_optimiser = optimise(actor_gradient, learner.actor_optimiser)
    actor = optax.apply_updates(learner.actor, change)

    wanted = _at(learner.updates, settings.entropies)
    change, temperature_optimiser = optimise(-(density + wanted), learner.temperature_optimiser)
    rate = settings.target_rate
    return Learner(
        actor=actor,
        critics=critics,
        target_critics=jax.tree.map(lambda old, new: old + rate * (new - old), learner.target_critics, critics),
        log_temperature=optax.apply_updates(learner.log_temperature, change),  # pyright: ignore[reportArgumentType]
        actor_optimiser=actor_optimiser,
        critic_optimiser=critic_optimiser,
        temperature_optimiser=temperature_optimiser,
        updates=learner.updates + 1,
    )


@partial(jax.jit, static_argnums=(0, 4), donate_argnums=(1,))
def learn(
    settings: Settings, learner: Learner, replay: jax.Array, filled: jax.Array, updates: int, key: jax.Array
) -> Learner:
    """`updates` updates on batches drawn from the first `filled` rows of `replay`; `key` is the run's."""

    def body(learner: Learner, _: None) -> tuple[Learner, None]:
        row_key, update_key = jax.random.split(jax.random.fold_in(key, learner.updates))
        rows = replay[jax.random.randint(row_key, (settings.batch,), 0, filled)]
        return _update(settings, learner, rows, update_key), None

    return jax.lax.scan(body, learner, None, length=updates)[0]


@jax.jit
def act(actor: Any, states: jax.Array, directions: jax.Array, key: jax.Array) -> jax.Array:
    """Torques drawn from the policy for states without x and y."""
    seen, quarters = _ahead(states, directions)
    return walker.turn_actions(sample_action(actor, seen, key)[0], -quarters % 4, jnp)


@partial(jax.jit, donate_argnums=(0,))
def remember(replay: jax.Array, rows: jax.Array, start: jax.Array) -> jax.Array:
    """The replay buffer with `rows` written from row `start` on."""
    return jax.lax.dynamic_update_slice_in_dim(replay, rows, start, axis=0)
