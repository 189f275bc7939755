"""`collect`: episodes of a Gymnasium environment as `Trajectories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Space, flatdim, flatten

from .._progress import OnProgress
from ..errors import InputError
from ..trajectories import Trajectories

_ENDLESS_STEPS = 1_000_000


def collect(
    environment: gymnasium.Env | str,
    episodes: int,
    policy: Callable[[Any], Any] | None = None,
    seed: int = 0,
    max_steps: int | None = None,
    keep_actions: bool = False,
    progress: OnProgress | None = None,
) -> Trajectories:
    """Act in an environment for some episodes and record the observations, including the last one of each episode.

    Observations of a `Box`, images among them, keep their shape and type. All others, and the actions, are flattened as
    `gymnasium.spaces.flatten` does it: a choice among n becomes n numbers, one of them 1. The same seed gives the same
    data, provided that environment and policy have no other source of randomness.

    Args:
        environment: a Gymnasium environment, or the id of one to make.
        episodes: how many episodes to record.
        policy: maps an observation, as the environment gives it, to an action; random actions if None.
        seed: of the environment's resets and of random actions.
        max_steps: ends every episode after so many actions, if the environment does not.
        keep_actions: whether to record the actions; the last row of an episode is zero.
        progress: called with the number of finished episodes and of all.

    >>> import minaction as ma
    >>> ma.collect("CartPole-v1", episodes=2, max_steps=5)
    Trajectories(2 episodes, 12 states of 4 numbers)
    """
    if episodes < 1 or seed < 0:
        raise InputError(f"Cannot collect {episodes} episodes from seed {seed}; give at least 1, and a seed from 0 on.")
    if max_steps is not None and max_steps < 1:
        raise InputError(f"Episodes of {max_steps} steps hold no transition; give max_steps of at least 1.")
    made_here = isinstance(environment, str)
    acting = _make(environment) if isinstance(environment, str) else environment
    try:
        return _collect(acting, episodes, policy, seed, max_steps, keep_actions, progress)
    finally:
        if made_here:
            acting.close()


def as_state(space: Space, observation: Any) -> np.ndarray:
    """An observation as `collect` records it, always a copy, because an environment may reuse its arrays."""
    if isinstance(space, Box) and space.shape:
        return np.array(observation, dtype=space.dtype)
    return np.array(flatten(space, observation), dtype=np.float32)


def recorded_shape(space: Space) -> tuple[int, ...]:
    """The shape of the states that `as_state` makes."""
    return tuple(space.shape) if isinstance(space, Box) and space.shape else (flatdim(space),)


def _collect(
    environment: gymnasium.Env,
    episodes: int,
    policy: Callable[[Any], Any] | None,
    seed: int,
    max_steps: int | None,
    keep_actions: bool,
    progress: OnProgress | None,
) -> Trajectories:
    _check_spaces(environment, keep_actions)
    action_seed, *episode_seeds = np.random.SeedSequence(seed).generate_state(episodes + 1).tolist()
    environment.action_space.seed(action_seed)
    choose = policy if policy is not None else lambda observation: environment.action_space.sample()
    states, actions = [], []
    for finished, episode_seed in enumerate(episode_seeds, start=1):
        seen, done = _roll_out(environment, choose, episode_seed, max_steps, keep_actions)
        states.append(np.stack(seen))
        if keep_actions:
            actions.append(np.stack([*done, np.zeros_like(done[0])]))
        if progress is not None:
            progress(finished, episodes)
    return Trajectories.from_episodes(states, actions=actions if keep_actions else None)


def _roll_out(
    environment: gymnasium.Env,
    choose: Callable[[Any], Any],
    seed: int,
    max_steps: int | None,
    keep_actions: bool,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The states and actions of one episode."""
    observation, _ = environment.reset(seed=seed)
    seen, done = [as_state(environment.observation_space, observation)], []
    for _ in range(_ENDLESS_STEPS if max_steps is None else max_steps):
        action = choose(observation)
        if keep_actions:
            done.append(np.array(flatten(environment.action_space, action), dtype=np.float32))
        observation, _, terminated, truncated, _ = environment.step(action)
        seen.append(as_state(environment.observation_space, observation))
        if terminated or truncated:
            return seen, done
    if max_steps is None:
        raise InputError(f"An episode has not ended after {_ENDLESS_STEPS} steps; give max_steps.")
    return seen, done


def _make(name: str) -> gymnasium.Env:
    try:
        return gymnasium.make(name)
    except (gymnasium.error.Error, ModuleNotFoundError) as error:
        raise InputError(f"Gymnasium cannot make {name!r}: {str(error).rstrip('.')}.") from error


def _check_spaces(environment: gymnasium.Env, keep_actions: bool) -> None:
    if not isinstance(environment, gymnasium.Env):
        raise InputError(f"A {type(environment).__name__} is no Gymnasium environment; give one or its id.")
    spaces = {"observations": environment.observation_space, "actions": environment.action_space}
    for what, space in spaces.items():
        if not space.is_np_flattenable and (what == "observations" or keep_actions):
            raise InputError(f"The {what} ({space}) have no fixed size; wrap the environment so that they do.")
