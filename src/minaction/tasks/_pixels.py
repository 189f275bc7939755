"""Tasks seen by a camera: the same worlds and truths, with an image in the place of every state."""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from .._progress import OnProgress
from ..environments import GridWorld, transition_graph
from ..mazes._camera import Camera
from ..mazes._layouts import MazeLayout
from ..trajectories import Trajectories
from ._base import Layout, Task, Truth
from ._gridworlds import CliffWalkingTask, GridWorldTask, KeyDoorTask, NoisyGridTask
from ._mazes import TASKS as MAZES
from ._mazes import OgbenchBallTask

_EVALUATION_SEED = 1_000_033  # noise and distractors at which models are judged belong to no data set
_PIXELS_PER_CELL = 4
_FRAME_NOISE = 20.0  # standard deviation of the noisy background, of 255
_MAZE_EPISODES = 100  # 100,100 frames of 12 KiB
_HELD_BYTES = 2 << 30  # more than this is drawn into a file


@dataclass(frozen=True)
class PixelTask(Task):
    """A task whose states are drawn; the truth of its world stays what it is."""

    name: str
    summary: str
    base: Task
    recipe_version: int | str = 1

    @property
    def default_episodes(self) -> int:  # type: ignore[override]
        """As many as the task itself has."""
        return self.base.default_episodes

    @property
    def fresh_data_per_seed(self) -> bool:  # type: ignore[override]
        """As the task itself has it."""
        return self.base.fresh_data_per_seed

    @property
    @abstractmethod
    def state_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of a frame."""

    @abstractmethod
    def draw(self, states: np.ndarray, random: np.random.Generator, out: np.ndarray) -> None:
        """Draw states of the task, which follow each other, into `out` (n, height, width, 3) uint8."""

    def frames(self, states: np.ndarray, seed: int) -> np.ndarray:
        """Frames (n, height, width, 3) uint8 of states of the task; in a file of its own where they are many."""
        shape = (len(states), *self.state_shape)
        if np.prod(shape) <= _HELD_BYTES:
            out = np.empty(shape, np.uint8)
        else:
            out = np.memmap(tempfile.TemporaryFile(), np.uint8, "w+", shape=shape)  # noqa: SIM115 (lives as the map does)
        self.draw(states, np.random.default_rng([seed, 7]), out)
        return out

    def trajectories(
        self,
        seed: int = 0,
        episodes: int | None = None,
        progress: OnProgress | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """The episodes of the task, drawn."""
        data = self.base.trajectories(
            seed, self.default_episodes if episodes is None else episodes, progress, keep_actions
        )
        return replace(data, states=self.frames(data.states, seed), columns=())

    def truths(self) -> list[Truth]:
        """Those of the task, between frames."""
        return [
            replace(
                truth,
                sources=self.frames(truth.sources, _EVALUATION_SEED),
                targets=self.frames(truth.targets, _EVALUATION_SEED + 1),
            )
            for truth in self.base.truths()
        ]

    def layout(self) -> Layout | None:
        """That of the task, with a frame for every pixel."""
        layout = self.base.layout()
        return None if layout is None else replace(layout, states=self.frames(layout.states, _EVALUATION_SEED))


@dataclass(frozen=True)
class GridPixels(PixelTask):
    """A world of few states, drawn by itself, four pixels to a cell: each state's picture is made once."""

    base: GridWorldTask = field(default_factory=CliffWalkingTask)

    @property
    def state_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of a frame."""
        world = self.base.world
        return world.rows * _PIXELS_PER_CELL, world.columns * _PIXELS_PER_CELL, 3

    def draw(self, states: np.ndarray, random: np.random.Generator, out: np.ndarray) -> None:
        """Look every observation up among the pictures of all states."""
        observed, pictures = _pictures(self.base.world)
        number = {row.tobytes(): k for k, row in enumerate(observed)}
        out[:] = pictures[[number[row.tobytes()] for row in np.ascontiguousarray(states)]]


@dataclass(frozen=True)
class NoisyGridPixels(PixelTask):
    """Real-valued positions before a background that flickers: fresh noise in every pixel of every frame."""

    base: NoisyGridTask = field(default_factory=NoisyGridTask)
    recipe_version: int | str = 2
    noise: float = _FRAME_NOISE

    @property
    def state_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of a frame."""
        return self._camera.shape

    @property
    def _camera(self) -> Camera:
        side = self.base.world.columns
        # Without walls around it, half of an agent at the edge would be out of sight.
        walls = np.pad(np.zeros((side, side), bool), 1, constant_values=True)
        return Camera(MazeLayout("room", walls, 1.0, (-0.5, -0.5), 1, 0.0), len(walls) * _PIXELS_PER_CELL)

    def draw(self, states: np.ndarray, random: np.random.Generator, out: np.ndarray) -> None:
        """The agent as a disc, and noise."""
        side = self.base.world.columns
        for start in range(0, len(states), 1024):
            part = slice(start, start + 1024)
            seen = self._camera.frames(side * states[part, :2]).astype(np.float32)
            seen += self.noise * random.standard_normal(seen.shape, np.float32)
            out[part] = np.clip(np.rint(seen), 0, 255)


@dataclass(frozen=True)
class MazePixels(PixelTask):
    """OGBench's PointMaze from above; with a `distractor`, a second ball that moves by itself and must not count.

    The second ball, of another colour, runs through the recorded positions of other episodes five times as fast.
    """

    base: OgbenchBallTask = field(default_factory=lambda: MAZES["ogbench-pointmaze-medium-navigate"])  # type: ignore[assignment, return-value]
    distractor: bool = False

    @property
    def default_episodes(self) -> int:  # type: ignore[override]
        """A hundred thousand frames."""
        return _MAZE_EPISODES

    @property
    def state_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of a frame."""
        return Camera(self.base.maze).shape

    def draw(self, states: np.ndarray, random: np.random.Generator, out: np.ndarray) -> None:
        """The ball, and the other one."""
        others = None
        if self.distractor and len(states) > 1000:
            others = states[(random.integers(len(states)) + 5 * np.arange(len(states))) % len(states)]
        elif self.distractor:  # few states that are judged
            others = self.base.maze.random_positions(len(states), random)
        Camera(self.base.maze).frames(states, others, out)


@lru_cache(maxsize=4)
def _pictures(world: GridWorld) -> tuple[np.ndarray, np.ndarray]:
    """The observations of all states of a world, and a small picture of each."""
    states = transition_graph(world, world.starts(1, np.random.default_rng(0))).states
    pictures = []
    for state in states:
        whole = world.draw(state)[:-1, :-1].astype(np.float32)
        rows, columns = world.rows * _PIXELS_PER_CELL, world.columns * _PIXELS_PER_CELL
        blocks = whole.reshape(rows, whole.shape[0] // rows, columns, whole.shape[1] // columns, 3)
        pictures.append(np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8))
    return world.observe(states, np.random.default_rng(0)), np.stack(pictures)


def _mazes() -> list[PixelTask]:
    found: list[PixelTask] = []
    for size in ("medium", "giant"):
        base: OgbenchBallTask = MAZES[f"ogbench-pointmaze-{size}-navigate"]  # type: ignore[assignment]
        seen = f"OGBench PointMaze {size} from above, 64 x 64"
        found.append(MazePixels(f"{base.name}-pixels", seen, base))
        found.append(
            MazePixels(f"{base.name}-distractor", f"{seen}; a second ball that must not count", base, distractor=True)
        )
    return found


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        GridPixels("cliffwalking-pixels", "CliffWalking as images of 16 x 48", CliffWalkingTask()),
        GridPixels("keydoor-gridworld-pixels", "KeyDoorGridWorld as images of 52 x 52", KeyDoorTask()),
        NoisyGridPixels(
            "noisy-gridworld-pixels", "NoisyGridWorld as images of 60 x 60 with a noisy background", NoisyGridTask()
        ),
        NoisyGridPixels(
            "noisy-gridworld-clean-pixels", "the same before a still background", NoisyGridTask(), noise=0.0
        ),
        *_mazes(),
    )
}
