"""Options of reaching goals: `plan`, `agent`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from ._devices import Device


@dataclass(frozen=True)
class Plan:
    """Plan with a run's distance to goals in its maze, and count how often they are reached.

    For example
      minaction plan runs/ogbench-pointmaze-medium-stitch-maddist
      minaction plan RUN --tasks 1 3 --episodes 50
      minaction plan RUN --distance truth
      minaction plan RUN --goal 20 20
    """

    run: Annotated[Positional[Path], arg(metavar="RUN")]
    """Folder of a run on one of OGBench's mazes."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5)
    """OGBench's start-goal pairs."""
    episodes: int = 10
    """Episodes per pair."""
    goal: Annotated[tuple[float, ...], arg(metavar="X Y")] = ()
    """Another goal instead, from random starts."""
    distance: Literal["learned", "truth", "euclidean", "untrained"] = "learned"
    """The distance to plan with; all but learned are controls."""
    candidates: int | None = None
    """Number of action sequences to draw for each plan; 100 by default."""
    horizon: int | None = None
    """Number of steps to look ahead; the default depends on the maze, as for the next two."""
    repeat: int | None = None
    """Number of steps for which an action is held (planning for the ball)."""
    interval: int | None = None
    """Number of steps to execute before planning again."""
    seed: int = 0
    """The seed of starts, goals and candidates."""
    device: Device = "auto"
    """Where to compute."""


@dataclass(frozen=True)
class Agent:
    """Learn to reach goals from recordings with actions, and see how often that succeeds in OGBench's environments.

    For example
      minaction agent train ogbench-pointmaze-medium-stitch
      minaction agent train log.hdf5 --model runs/log-pathdist --out agents/log
      minaction agent evaluate agents/ogbench-pointmaze-medium-stitch pointmaze-medium-v0 --gif episode.gif
    """

    action: Positional[Literal["train", "evaluate"]]
    """train: a distance (unless --model gives one) and an agent for every seed; evaluate: OGBench's protocol."""
    source: Annotated[Positional[str], arg(metavar="SOURCE")]
    """For train: a task or a file with actions; for evaluate: the folder that train wrote, or an agent's file."""
    environment: Annotated[Positional[str], arg(metavar="[ENVIRONMENT]")] = ""
    """For evaluate: OGBench's environment, such as antmaze-large-v0."""
    model: Path | None = None
    """For train: a run or a model file; by default a distance is trained first."""
    method: Literal["roadmap", "gcbc", "qrl"] = "roadmap"
    """For train: ours, or what others do: goal-conditioned behaviour cloning, or QRL with an actor."""
    goal_inputs: tuple[int, ...] = ()
    """For train: the numbers of a state that goals are about, from 0; by default those that last."""
    steps: int | None = None
    """For train: gradient steps of the agent's policy."""
    seeds: int = 1
    """For train: how many agents, each with a distance of its own unless --model gives one."""
    first_seed: int = 0
    """The seeds are this number and the ones after it; for evaluate, that of starts and goals."""
    episodes: int | None = None
    """For train: how many episodes to learn from; for evaluate: how many of each task, OGBench's 50 by default."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5)
    """For evaluate: OGBench's tasks."""
    jobs: int | None = None
    """For evaluate: processes; as many as there are cores by default."""
    gif: Path | None = None
    """For evaluate: a film of the first episode of every task, .gif."""
    out: Path | None = None
    """For train: the folder of the agents; agents/DATA by default."""
    device: Device = "auto"
    """Where to compute."""
