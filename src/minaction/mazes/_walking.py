"""How well a policy walks the ant on flat ground: speed along the command, straightness, falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._ant import ACTION_SIZE, HEALTHY_HEIGHTS, Ants, flat_ground, reset_noise, reset_states, uprightness
from ._walker import Walker

REDRAW = 100  # steps between two commands


@dataclass(frozen=True)
class Gait:
    """How well the ants walked in some episodes."""

    speed: float
    """Displacement along the command per step."""
    speed_error: float
    """Standard error of `speed`, over episodes."""
    cosine: float
    """Of the angle between a step's displacement and the command, mean over steps."""
    straightness: float
    """Displacement along the command over the distance covered: the same cosine, weighted by the steps' lengths."""
    healthy: float
    """Fraction of episodes in which the torso never left the healthy height."""
    upright: float
    """Fraction of episodes that did not end on the back."""


def measure_gait(
    walker: Walker, episodes: int = 200, steps: int = 200, noise: float = 0.0, seed: int = 0, threads: int = 1
) -> Gait:
    """Walk `episodes` ants at once under commands redrawn every 100 steps, with Gaussian noise on the torques."""
    random = np.random.default_rng(seed)
    ants = Ants(flat_ground(), episodes, threads)
    states = reset_states(np.zeros((episodes, 2)), reset_noise(random, episodes))
    ants.place(states)
    along, covered = np.zeros((2, steps, episodes))
    healthy = np.ones(episodes, dtype=bool)
    directions = np.empty((episodes, 2))
    for step in range(steps):
        if step % REDRAW == 0:
            directions = random_directions(random, episodes)
        actions = walker.actions(states, directions) + noise * random.standard_normal((episodes, ACTION_SIZE))
        after = ants.step(np.clip(actions, -1.0, 1.0))
        moved = after[:, :2] - states[:, :2]
        along[step] = (moved * directions).sum(axis=1)
        covered[step] = np.linalg.norm(moved, axis=1)
        healthy &= is_healthy(after)
        states = after
    speeds = along.mean(axis=0)
    return Gait(
        speed=float(speeds.mean()),
        speed_error=float(speeds.std(ddof=1) / np.sqrt(episodes)),
        cosine=float((along / (covered + 1e-9)).mean()),
        straightness=float(along.sum() / covered.sum()),
        healthy=float(healthy.mean()),
        upright=float((uprightness(states) > 0).mean()),
    )


def is_healthy(states: np.ndarray) -> np.ndarray:
    """Whether an ant's torso is at a height that OGBench calls healthy."""
    low, high = HEALTHY_HEIGHTS
    return (states[:, 2] >= low) & (states[:, 2] <= high)


def random_directions(random: np.random.Generator, count: int) -> np.ndarray:
    """Unit vectors (count, 2) in uniformly random directions."""
    angle = random.uniform(0.0, 2.0 * np.pi, size=count)
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)
