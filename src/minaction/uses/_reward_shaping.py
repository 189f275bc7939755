"""Potential-based reward shaping (Ng, Harada and Russell, 1999) with a learned distance as the potential."""

from __future__ import annotations

from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from ..environments import as_state, recorded_shape
from ..errors import InputError
from ..trajectories import shape_in_words


class HasDistance(Protocol):
    """A `DistanceModel`, or anything else that measures how many actions lead from a state to a goal."""

    def distance(self, states: Any, goals: Any) -> Any:
        """d(states, goals)."""
        ...


class ShapedReward(gymnasium.Wrapper):
    """A wrapper that adds F = discount * Phi(s') - Phi(s) to the reward, where Phi(s) = -scale * d(s, goal).

    Phi is 0 where an episode terminates (not where it is truncated), so over an episode the discounted shaping sums to
    -Phi(first state) whatever the agent does: the optimal policy does not change, as long as the agent discounts with
    the same `discount`. `info["shaping"]` is F, and `info["environment_reward"]` the reward of the environment.

    Args:
        env: the environment. The model gets its observations as `collect` records them.
        model: a `DistanceModel`, or any object with a method `distance(states, goals)`.
        goal: the state to reach, of the shape that `collect` records: (D,), or (height, width, channels) for images.
        discount: that of the agent, in (0, 1].
        scale: how much reward one action is worth.

    >>> import gymnasium
    >>> import numpy as np
    >>> import minaction as ma
    >>> data = ma.collect("CartPole-v1", episodes=2)
    >>> model = ma.fit(data, ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=8)), steps=2, progress=False)
    >>> env = ma.ShapedReward(gymnasium.make("CartPole-v1"), model, goal=np.zeros(4))
    >>> _ = env.reset(seed=0)
    >>> _, reward, _, _, info = env.step(0)
    >>> reward == info["environment_reward"] + info["shaping"]
    True
    """

    def __init__(
        self, env: gymnasium.Env, model: HasDistance, goal: ArrayLike, discount: float = 0.99, scale: float = 1.0
    ) -> None:
        if not isinstance(env, gymnasium.Env):
            hint = "; make it with gymnasium.make" if isinstance(env, str) else ""
            raise InputError(f"The environment to shape is a {type(env).__name__}, not one of Gymnasium's{hint}.")
        super().__init__(env)
        if not 0 < discount <= 1:
            raise InputError(f"The discount is {discount:g}; give a number above 0 and up to 1.")
        if not (np.isfinite(scale) and scale > 0):
            raise InputError(f"The scale of the shaping is {scale:g}; give a positive number.")
        if not env.observation_space.is_np_flattenable:
            raise InputError(f"The observations ({env.observation_space}) have no fixed size; wrap the environment.")
        self.model, self.discount, self.scale = model, discount, scale
        self.goal = np.asarray(goal, dtype=_recorded_type(env.observation_space))
        expected = recorded_shape(env.observation_space)
        if self.goal.shape != expected:
            raise InputError(f"The goal has shape {self.goal.shape}, but a recorded observation has {expected}.")
        trained_on = getattr(model, "state_shape", expected)
        if tuple(trained_on) != expected:
            raise InputError(
                f"The model was trained on states of {shape_in_words(tuple(trained_on))}, but this environment's "
                f"observations have {shape_in_words(expected)}; give the environment that its data is from."
            )
        if self.goal.dtype.kind == "f" and not np.isfinite(self.goal).all():
            raise InputError("The goal holds NaN or infinity; give a state that can be reached.")
        self._potential: float | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; `seed` and `options` are passed to the environment."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._potential = self.potential(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take `action`; the reward includes the shaping."""
        if self._potential is None:
            raise InputError("The environment has no state yet; call reset first.")
        observation, reward, terminated, truncated, info = self.env.step(action)
        reached = 0.0 if terminated else self.potential(observation)
        shaping = self.discount * reached - self._potential
        self._potential = reached
        told = {**info, "shaping": shaping, "environment_reward": float(reward)}
        return observation, float(reward) + shaping, terminated, truncated, told

    def potential(self, observation: Any) -> float:
        """Phi of an `observation` that does not end the episode."""
        state = as_state(self.env.observation_space, observation)
        distance = float(np.asarray(self.model.distance(state, self.goal)))
        if not np.isfinite(distance):
            shown = state.tolist() if state.ndim == 1 else "an observation"
            raise InputError(f"The distance from {shown} to the goal is {distance}; it must be finite.")
        return -self.scale * distance


def _recorded_type(space: gymnasium.Space) -> Any:
    """The type of the states that `as_state` makes."""
    return space.dtype if isinstance(space, gymnasium.spaces.Box) and space.shape else np.float32
