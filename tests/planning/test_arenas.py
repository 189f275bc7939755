"""Which tasks can be planned in, and that a task says so itself."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from minaction.errors import InputError
from minaction.mazes._layouts import OGBENCH_LAYOUTS, MazeLayout
from minaction.planning import DatasetGuided, Episodes, RandomShooting, arena_of, untrained
from minaction.tasks import TASKS, Task, Truth, get_task
from minaction.trajectories import Trajectories


@dataclass(frozen=True)
class Own(Task):
    """Somebody's own task in one of OGBench's mazes, or without a maze."""

    name: str
    simulator: str | None
    maze: MazeLayout | None = None
    summary: str = "a task of another distribution"
    default_episodes: int = 1
    state_shape: tuple[int, ...] = (2,)

    def trajectories(
        self, seed: int = 0, episodes: int | None = None, progress=None, keep_actions=False
    ) -> Trajectories:
        raise NotImplementedError

    def truths(self) -> list[Truth]:
        return []


@pytest.mark.parametrize("name", [name for name in TASKS if name.startswith("ogbench")])
def test_every_task_with_ogbenchs_goals_has_an_arena(name: str) -> None:
    task = get_task(name)
    if "teleport" in name or len(task.state_shape) > 1:  # holes that the planner does not know, or images
        assert task.simulator is None
        with pytest.raises(InputError, match="no simulator to plan in"):
            arena_of(name)
        return
    arena = arena_of(name)
    assert arena.task == task
    assert arena.maze in name
    assert isinstance(arena.settings({}), DatasetGuided if "antmaze" in name else RandomShooting)
    assert arena.settings({"candidates": 7}).candidates == 7


def test_a_model_of_other_states_is_refused() -> None:
    model = untrained(OGBENCH_LAYOUTS["medium"])
    arena_of("ogbench-pointmaze-large-stitch").check(model)
    with pytest.raises(InputError, match="states of 2 numbers, but the simulator's have 29 numbers"):
        arena_of("ogbench-antmaze-medium-explore").check(model)


def test_the_ball_and_the_ant_have_controls() -> None:
    episodes = Episodes.draw("medium", (1,), 1, 0)
    for name in ("ogbench-pointmaze-medium-stitch", "ogbench-antmaze-medium-explore"):
        for kind in ("truth", "euclidean"):
            assert callable(arena_of(name).control(kind, episodes))


def test_another_task_chooses_its_simulator_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = (
        Own("own-ball", "ball", OGBENCH_LAYOUTS["large"]),
        Own("own-rocket", "rocket", OGBENCH_LAYOUTS["large"]),
        Own("own-nowhere", "ball"),
    )
    for task in tasks:
        monkeypatch.setitem(TASKS._registered, task.name, task)
    assert arena_of("own-ball").maze == "large"
    for name in ("own-rocket", "own-nowhere"):
        with pytest.raises(InputError, match=f"no simulator to plan in for {name}; .*own-ball"):
            arena_of(name)
