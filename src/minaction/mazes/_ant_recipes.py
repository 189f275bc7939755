"""How OGBench's AntMaze data sets are made, with the walking policy that comes with this package.

As with the ball, every episode has its own random generator, so the first episodes of a large data set are those of a
small one. The same seed gives the same bytes with the same version of MuJoCo; another version integrates the ant
differently.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._progress import OnProgress
from ..trajectories import Trajectories
from ._ant import ACTION_SIZE, STATE_SIZE, Ants, maze_model, reset_noise, reset_states
from ._layouts import ANT_LAYOUTS, MazeLayout
from ._recipes import Draws, GoalSeekers, generators, in_blocks
from ._teleport import WHITE_HOLES, black_hole_at, hop, hops_as_mapped, white_hole_centre
from ._walker import Walker
from ._walking import random_directions

GOAL_TOLERANCE = 0.5
EXPLORE_STEPS = 10  # for which an exploring ant keeps a direction

_ANTS_AT_ONCE = 50


@dataclass(frozen=True)
class AntRecipe:
    """One of OGBench's AntMaze data sets.

    "navigate" and "stitch" head for goals as `GoalSeekers` says, "explore" follows random directions. `length` counts
    the states recorded of an episode; OGBench's own set has `published_episodes` episodes. In the teleport maze
    `random_holes` behaves like OGBench's: a black hole leads to any white hole, the observation is from before the hop,
    and episodes that are impossible in the deterministic maze are dropped.
    """

    maze: str
    behaviour: str
    length: int
    published_episodes: int
    noise: float
    random_holes: bool = False

    @property
    def layout(self) -> MazeLayout:
        """The maze it plays in."""
        return ANT_LAYOUTS[self.maze]

    def collect(
        self,
        seed: int,
        episodes: int,
        progress: OnProgress | None = None,
        keep_actions: bool = False,
        *,
        walker: Walker | None = None,
        threads: int = 0,
    ) -> Trajectories:
        """The first `episodes` episodes of the unlimited data set of `seed`, on `threads` threads (0: all)."""
        walker = Walker.load() if walker is None else walker
        model = maze_model(self.maze)

        def roll(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            states, actions, _ = self.roll_out(Ants(model, len(block), threads), walker, seed, block)
            if not self.random_holes:
                return states, actions
            kept = np.array([hops_as_mapped(episode[:, :2]) for episode in states])
            return states[kept], actions[kept]

        return in_blocks(roll, seed, episodes, progress, keep_actions, _ANTS_AT_ONCE)

    def roll_out(
        self, ants: Ants, walker: Walker, seed: int, episodes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States (episodes, length, 29), actions (episodes, length, 8) and the goals reached in each episode."""
        randoms = generators(seed, episodes)
        draws = Draws.draw(self.layout, self.behaviour, randoms, (self.length, ACTION_SIZE), self.noise)
        seekers = GoalSeekers(self.layout, self.behaviour, draws, GOAL_TOLERANCE)
        legs = -(-self.length // EXPLORE_STEPS)
        wander = np.stack([random_directions(random, legs) for random in randoms])
        state = reset_states(draws.start, np.concatenate([reset_noise(random, 1) for random in randoms]))
        ants.place(state)
        states = np.empty((len(episodes), self.length, STATE_SIZE))
        actions = np.empty((len(episodes), self.length, ACTION_SIZE))
        for time in range(self.length):
            exploring = self.behaviour == "explore"
            directions = wander[:, time // EXPLORE_STEPS] if exploring else seekers.directions(state[:, :2])
            action = np.clip(walker.actions(state, directions) + draws.noise[:, time], -1.0, 1.0)
            states[:, time], actions[:, time] = state, action
            state = ants.step(action)
            seekers.arrive(state[:, :2])
            if self.maze == "teleport":
                state = self._hop(ants, state, randoms)
        return states, actions, seekers.reached

    def _hop(self, ants: Ants, states: np.ndarray, randoms: list[np.random.Generator]) -> np.ndarray:
        """Move the ants in a black hole to a white one, and return the observed states."""
        which = np.flatnonzero(black_hole_at(states[:, :2]) >= 0)
        if not len(which):
            return states
        if self.random_holes:
            ants.move(which, white_hole_centre(np.array([randoms[k].integers(len(WHITE_HOLES)) for k in which])))
            return states
        after = hop(states)
        ants.move(which, after[which, :2])
        return after


_NAVIGATE_LENGTHS = {"medium": (1001, 1000), "large": (1001, 1000), "giant": (2001, 500)}

ANT_RECIPES = {
    **{
        f"ogbench-antmaze-{maze}-{recipe.behaviour}": recipe
        for maze, (length, episodes) in _NAVIGATE_LENGTHS.items()
        for recipe in (
            AntRecipe(maze, "navigate", length, episodes, 0.2),
            AntRecipe(maze, "stitch", 201, 5000, 0.2),
            *([AntRecipe(maze, "explore", 501, 10_000, 1.0)] if maze != "giant" else []),
        )
    },
    "ogbench-antmaze-teleport-explore": AntRecipe("teleport", "explore", 501, 10_000, 1.0),
    "ogbench-antmaze-teleport-curated": AntRecipe("teleport", "explore", 501, 10_000, 1.0, random_holes=True),
}
