"""Worlds of disconnected parts, like the log of several machines: rooms with inner walls, real-valued positions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..exact import Room
from ..trajectories import Trajectories
from ._base import Layout, Task, Truth
from ._synthetic import EVALUATION_SEED, SyntheticTask

_JUDGED_STATES = 200
_EPISODES_PER_PART = 50
_ROOMS_IN_A_ROW = 4
_KEPT_HEADING = 0.8  # the share of steps that repeat the one before: independent steps would hardly cross a room


@dataclass(frozen=True)
class PartsTask(SyntheticTask):
    """Rooms far apart with no connection between them; an action moves a point by up to 1 in x and up to 1 in y.

    Any path of that extent counts as one action, bends included, so the minimum number of actions is the length of
    the shortest path in the maximum norm (`exact._rooms`); as for OGBench's ball it is not rounded up. The rooms share
    one plan, transposed and mirrored, which leaves the norm unchanged. Walls are thin compared with the world: two
    steps of about a hundred and fifty.
    """

    parts: int = 4
    room: Room = field(default_factory=Room)
    spacing: float = 20.0

    def place(self, points: np.ndarray, part: np.ndarray) -> np.ndarray:
        """The world's coordinates of `points` (n, 2) of the plan, each in the room `part` (n,)."""
        mirrored = np.where(part[:, None] & np.array([1, 2]), self.room.side - points, points)
        turned = np.where(part[:, None] & 4, mirrored[:, ::-1], mirrored)
        row, column = np.divmod(part, _ROOMS_IN_A_ROW)
        return turned + np.stack([column, row], axis=1) * (self.room.side + self.spacing)

    def truths(self) -> list[Truth]:
        """The lengths of the shortest paths between 200 places, the same number in every room."""
        part = np.arange(_JUDGED_STATES) % self.parts
        points = self._anywhere(_JUDGED_STATES, np.random.default_rng(EVALUATION_SEED))
        lengths = np.where(part[:, None] == part, self.room.shortest_paths(points), np.inf)
        return [Truth.between("true", "steps", self.view.observe(self.place(points, part)), lengths)]

    def layout(self) -> Layout:
        """One pixel per square of side 1; the space between rooms shrinks to one pixel."""
        side = int(self.room.side)
        squares = np.indices((side, side)).reshape(2, -1).T
        squares = squares[self.room.is_free(squares + 0.5)]
        part = np.repeat(np.arange(self.parts), len(squares))
        points = np.tile(squares + 0.5, (self.parts, 1))
        places = self.place(points, part)
        row, column = np.divmod(part, _ROOMS_IN_A_ROW)
        shift = np.stack([column, row], axis=1)
        pixels = np.floor(places - shift * (self.room.side + self.spacing)).astype(np.int64) + shift * (side + 1)
        rows, columns = -(-self.parts // _ROOMS_IN_A_ROW), min(self.parts, _ROOMS_IN_A_ROW)
        shape = (rows * (side + 1) - 1, columns * (side + 1) - 1)
        return Layout(shape, self.view.observe(places), pixels[:, ::-1])

    def _anywhere(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Uniformly random free points of the plan."""
        points = random.uniform(0, self.room.side, (count, 2))
        while not (free := self.room.is_free(points)).all():
            points[~free] = random.uniform(0, self.room.side, (int((~free).sum()), 2))
        return points

    def _record(self, episodes: int, random: np.random.Generator) -> Trajectories:
        part = np.arange(episodes) % self.parts
        points, heading = self._anywhere(episodes, random), random.uniform(-1, 1, (episodes, 2))
        visited, taken = [points], []
        for _ in range(self.episode_steps):
            ahead = np.clip(points + heading, 0, self.room.side)
            clear = self.room.sees(points, ahead)[:, None]
            points = np.where(clear, ahead, points)  # a step that would cross a wall does not move
            visited.append(points)
            taken.append(heading)
            kept = clear & (random.random((episodes, 1)) < _KEPT_HEADING)
            heading = np.where(kept, heading, random.uniform(-1, 1, (episodes, 2)))
        states = np.stack(visited, axis=1).reshape(-1, 2)
        actions = np.stack([*taken, np.zeros_like(points)], axis=1).reshape(-1, 2)
        length = self.episode_steps + 1
        seen = self.view.observe(self.place(states, np.repeat(part, length)))
        return Trajectories.from_flat(seen, np.arange(episodes + 1) * length, actions=actions.astype(np.float32))


TASKS: dict[str, Task] = {
    f"parts-{parts}": PartsTask(
        f"parts-{parts}",
        f"{parts} disconnected rooms with inner walls; real-valued positions",
        default_episodes=_EPISODES_PER_PART * parts,
        episode_steps=100,
        parts=parts,
    )
    for parts in (2, 4, 8)
}
