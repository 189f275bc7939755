"""The holes of OGBench's teleport maze: an ant that comes near a black hole continues from a white one.

OGBench draws the white hole at random. The paper makes it deterministic: each black hole leads to one white hole.
White hole (1, 7) is walled in: an ant that comes out of it stays there.
"""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..exact import minimum_action_distance
from ..trajectories import Trajectories, shape_in_words
from ._layouts import ANT_LAYOUTS, MazeLayout
from ._truth import cell_moves

LAYOUT: MazeLayout = ANT_LAYOUTS["teleport"]
BLACK_HOLES = np.array([(4, 6), (5, 1)])
WHITE_HOLES = np.array([(1, 7), (6, 1), (6, 10)])
DESTINATIONS = np.array([0, 2])
"""The white hole that each black hole leads to in the deterministic maze."""
RADIUS = 1.5
"""How close to the middle of a black hole an ant is taken."""

_LONGEST_STEP = 2.0  # no ant walks that far in a step; the holes are at least 4 apart


def black_hole_at(positions: np.ndarray) -> np.ndarray:
    """Which black hole takes an ant at each of the positions (..., 2); -1 where none does."""
    centres = LAYOUT.centre(BLACK_HOLES)
    inside = np.linalg.norm(positions[..., None, :] - centres, axis=-1) <= RADIUS
    return np.where(inside.any(axis=-1), inside.argmax(axis=-1), -1)


def white_hole_centre(which: np.ndarray) -> np.ndarray:
    """Where the white holes numbered `which` are, (..., 2)."""
    return LAYOUT.centre(WHITE_HOLES)[which]


def hop(states: np.ndarray) -> np.ndarray:
    """Ants (..., 29) after the deterministic hop: those in a black hole are at its white hole."""
    hole = black_hole_at(states[..., :2])
    after = states.copy()
    after[..., :2] = np.where(hole[..., None] >= 0, white_hole_centre(DESTINATIONS[hole]), states[..., :2])
    return after


def hops_as_mapped(positions: np.ndarray) -> bool:
    """Whether every hop in an episode's positions (time, 2) led where the deterministic maze leads."""
    before, after = positions[:-1], positions[1:]
    jumped = np.linalg.norm(after - before, axis=1) > _LONGEST_STEP
    if not jumped.any():
        return True
    hole = _nearest(before[jumped], LAYOUT.centre(BLACK_HOLES))
    came_out = _nearest(after[jumped], LAYOUT.centre(WHITE_HOLES))
    return bool((came_out == DESTINATIONS[hole]).all())


def _nearest(positions: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return np.linalg.norm(positions[:, None] - centres, axis=-1).argmin(axis=1)


def curate(data: Trajectories) -> Trajectories:
    """The episodes of OGBench's stochastic teleport maze that are possible in the deterministic one.

    As in the paper, an episode with a hop to any other white hole is dropped as a whole.
    """
    if len(data.state_shape) != 1 or data.state_shape[0] < 2:
        raise InputError(
            f"States of {shape_in_words(data.state_shape)} are not those of an ant, which begin with x and y."
        )
    kept = [k for k in range(data.num_episodes) if hops_as_mapped(data.episode(k)[:, :2])]
    if not kept:
        raise InputError(
            f"Each of the {data.num_episodes} episodes came out of a wrong white hole; give more episodes."
        )
    actions = data.actions
    slices = [slice(data.offsets[k], data.offsets[k + 1]) for k in kept]
    return Trajectories.from_episodes(
        [data.states[part] for part in slices],
        actions=None if actions is None else [actions[part] for part in slices],
    )


def directed_cell_distances() -> np.ndarray:
    """As `cell_distances`, with the hops as one-way moves; infinite where there is no path."""
    hops = np.stack([_free_index(BLACK_HOLES), _free_index(WHITE_HOLES[DESTINATIONS])], axis=1)
    return minimum_action_distance(len(LAYOUT.free_cells), np.concatenate([cell_moves(LAYOUT), hops]))


def _free_index(cells: np.ndarray) -> np.ndarray:
    return LAYOUT.cell_index[tuple(cells.T)]
