"""Replay buffers of Stable-Baselines3 and d3rlpy, recognised by what they hold; neither library is imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ._dataset import Trajectories
from .readers._layouts import arrange
from .readers._minari import as_numbers_of, as_states_of


def is_replay_buffer(given: Any) -> bool:
    """Whether it looks like a buffer of Stable-Baselines3: a ring of transitions for several environments."""
    return all(hasattr(given, name) for name in ("observations", "pos", "full", "observation_space", "n_envs"))


def is_episode_buffer(given: Any) -> bool:
    """Whether it looks like a buffer of d3rlpy: a sequence of episodes."""
    return hasattr(given, "episodes") and hasattr(given, "dataset_info")


def episodes_of_replay_buffer(buffer: Any) -> Trajectories:
    """The episodes of a buffer of Stable-Baselines3, environment by environment, the oldest transition first.

    Of an episode that the ring has begun to overwrite only the rest is left. Observations become states as Minari's do:
    choices among n become n numbers, and of a goal-conditioned observation the goals are left out.
    """
    if hasattr(buffer, "episode_starts"):
        return _of_rollout(buffer)
    count = len(buffer.dones) if buffer.full else buffer.pos
    if count == 0:
        raise InputError("The replay buffer is empty; let the agent act before it is read.")
    order = np.roll(np.arange(len(buffer.dones)), -buffer.pos) if buffer.full else np.arange(count)
    parts = [_of_environment(buffer, order, k) for k in range(buffer.n_envs)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


def _of_environment(buffer: Any, order: np.ndarray, k: int) -> Trajectories:
    """The episodes of one of the buffer's environments."""
    space = buffer.observation_space
    ends = buffer.dones[order, k].astype(bool)
    states = as_states_of(space, _rows(buffer.observations, order, k), "The replay buffer")
    actions = as_numbers_of(buffer.action_space, buffer.actions[order, k], "The replay buffer (actions)")
    arrays = {"observations": states, "actions": actions, "terminals": ends | (np.arange(len(ends)) == len(ends) - 1)}
    following = getattr(buffer, "next_observations", None)
    if following is not None and not getattr(buffer, "optimize_memory_usage", False):
        arrays["next_observations"] = as_states_of(space, _rows(following, order, k), "The replay buffer")
    return arrange(arrays, keep_actions=True)


def _of_rollout(buffer: Any) -> Trajectories:
    """An on-policy buffer: only where episodes start is known, and not what their last action led to."""
    if getattr(buffer, "generator_ready", False):
        raise InputError("The rollout buffer was shuffled for training; read it before the agent learns from it.")
    rows, episodes = np.arange(len(buffer.episode_starts) if buffer.full else buffer.pos), []
    for k in range(buffer.n_envs if len(rows) else 0):
        states = as_states_of(buffer.observation_space, _rows(buffer.observations, rows, k), "The rollout buffer")
        episodes += np.split(states, np.flatnonzero(buffer.episode_starts[rows[1:], k]) + 1)
    return Trajectories.from_episodes(episodes)


def _rows(observations: Any, order: np.ndarray, k: int) -> Any:
    if isinstance(observations, dict):
        return {name: values[order, k] for name, values in observations.items()}
    return observations[order, k]


def episodes_of_d3rlpy(buffer: Any) -> Trajectories:
    """The episodes of d3rlpy's buffer; it does not keep the observation that follows an episode's last action."""
    states, actions = [], []
    for episode in buffer.episodes:
        parts = episode.observations if isinstance(episode.observations, list | tuple) else [episode.observations]
        rows = [np.asarray(part) for part in parts]
        states.append(
            rows[0] if len(rows) == 1 else np.concatenate([row.reshape(len(row), -1) for row in rows], axis=1)
        )
        actions.append(np.asarray(episode.actions))
    if not states:
        raise InputError("The replay buffer has no episode; add one before it is read.")
    return Trajectories.from_episodes(states, actions=actions)
