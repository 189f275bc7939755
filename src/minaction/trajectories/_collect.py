"""Roll a Gymnasium environment out into `Trajectories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ._dataset import Trajectories

if TYPE_CHECKING:
    import gymnasium

_ENDLESS_STEPS = 1_000_000


def collect(
    environment: gymnasium.Env | str,
    episodes: int,
    policy: Callable[[Any], Any] | None = None,
    seed: int = 0,
    max_steps: int | None = None,
    keep_actions: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Act for `episodes` episodes and record what was observed, the last observation of each included.

    `environment` is one that was made or the id of one to make. `policy` gets an observation as the
    environment gives it and returns an action; without one, actions are drawn from the action space.
    Observations (and actions, if kept) are recorded flat as `gymnasium.spaces.flatten` lays them out: a
    choice among n becomes n numbers, one of them 1; the last row of actions in an episode is zero. An
    episode ends when the environment says so or after `max_steps` actions. `progress` is called with the
    number of finished episodes and of all. The same seed gives the same data as long as environment and
    policy use no other source of chance.
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


def _collect(
    environment: gymnasium.Env,
    episodes: int,
    policy: Callable[[Any], Any] | None,
    seed: int,
    max_steps: int | None,
    keep_actions: bool,
    progress: Callable[[int, int], None] | None,
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
    """The observations of one episode and its actions, flattened at once because arrays may be reused."""
    observation, _ = environment.reset(seed=seed)
    seen, done = [_flat(environment.observation_space, observation)], []
    for _ in range(_ENDLESS_STEPS if max_steps is None else max_steps):
        action = choose(observation)
        if keep_actions:
            done.append(_flat(environment.action_space, action))
        observation, _, terminated, truncated, _ = environment.step(action)
        seen.append(_flat(environment.observation_space, observation))
        if terminated or truncated:
            return seen, done
    if max_steps is None:
        raise InputError(f"An episode has not ended after {_ENDLESS_STEPS} steps; give max_steps.")
    return seen, done


def _make(name: str) -> gymnasium.Env:
    import gymnasium

    from .. import environments as environments  # ours are known to Gymnasium from here on

    try:
        return gymnasium.make(name)
    except (gymnasium.error.Error, ModuleNotFoundError) as error:
        raise InputError(f"Gymnasium cannot make {name!r}: {str(error).rstrip('.')}.") from error


def _check_spaces(environment: gymnasium.Env, keep_actions: bool) -> None:
    import gymnasium

    if not isinstance(environment, gymnasium.Env):
        raise InputError(f"A {type(environment).__name__} is no Gymnasium environment; give one or its id.")
    spaces = {"observations": environment.observation_space, "actions": environment.action_space}
    for what, space in spaces.items():
        if not space.is_np_flattenable and (what == "observations" or keep_actions):
            raise InputError(f"The {what} ({space}) have no fixed size; wrap the environment so that they do.")


def _flat(space: gymnasium.Space, value: Any) -> np.ndarray:
    import gymnasium

    return np.array(gymnasium.spaces.flatten(space, value), dtype=np.float32)
