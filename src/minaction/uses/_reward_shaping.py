"""Potential-based reward shaping (Ng, Harada and Russell, 1999) with a learned distance as the potential."""

from __future__ import annotations

from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError


class HasDistance(Protocol):
    """A `DistanceModel`, or anything else that says how many actions lead from a state to a goal."""

    def distance(self, states: Any, goals: Any) -> Any:
        """d(states, goals)."""
        ...


class ShapedReward(gymnasium.Wrapper):
    """Adds F = discount * Phi(s') - Phi(s) to the reward, where Phi(s) = -scale * d(s, goal).

    Phi is 0 where an episode terminates (not where it is cut off), so that over an episode the shaping adds up to
    -Phi(first state), whatever was done: which policy is best does not change, as long as the learner discounts with
    the same `discount`. `info["shaping"]` tells F and `info["environment_reward"]` what the environment gave.

    The model sees observations flat, as `collect` records them; `goal` is such a flat observation.
    """

    def __init__(
        self, env: gymnasium.Env, model: HasDistance, goal: ArrayLike, discount: float = 0.99, scale: float = 1.0
    ) -> None:
        super().__init__(env)
        if not 0 < discount <= 1:
            raise InputError(f"The discount is {discount:g}; give a number above 0 and up to 1.")
        if not (np.isfinite(scale) and scale > 0):
            raise InputError(f"The scale of the shaping is {scale:g}; give a positive number.")
        if not env.observation_space.is_np_flattenable:
            raise InputError(f"The observations ({env.observation_space}) have no fixed size; wrap the environment.")
        self.model, self.discount, self.scale = model, discount, scale
        self.goal = np.asarray(goal, dtype=np.float32)
        expected = gymnasium.spaces.flatdim(env.observation_space)
        if self.goal.shape != (expected,):
            raise InputError(f"The goal has shape {self.goal.shape}, but a flat observation has {expected} numbers.")
        self._potential: float | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._potential = self.potential(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act, and be told on the way how much nearer to the goal that led."""
        if self._potential is None:
            raise InputError("The environment has no state yet; call reset first.")
        observation, reward, terminated, truncated, info = self.env.step(action)
        reached = 0.0 if terminated else self.potential(observation)
        shaping = self.discount * reached - self._potential
        self._potential = reached
        told = {**info, "shaping": shaping, "environment_reward": float(reward)}
        return observation, float(reward) + shaping, terminated, truncated, told

    def potential(self, observation: Any) -> float:
        """Phi of an observation that does not end the episode."""
        flat = np.asarray(gymnasium.spaces.flatten(self.env.observation_space, observation), dtype=np.float32)
        distance = float(np.asarray(self.model.distance(flat, self.goal)))
        if not np.isfinite(distance):
            raise InputError(f"The distance from {flat.tolist()} to the goal is {distance}; it must be finite.")
        return -self.scale * distance
