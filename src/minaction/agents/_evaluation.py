"""OGBench's protocol in OGBench's own environments: five tasks, 50 episodes each, its success flag.

Nothing is looked up in the simulator while acting: the agent sees observations and the goal's observation only.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from .._cores import core_count
from .._orphans import end_with_parent
from .._progress import OnProgress
from ..errors import InputError, MissingExtra
from ..mazes._layouts import OGBENCH_LAYOUTS
from ..mazes._truth import ball_steps
from ..mazes._walking_time import route_lengths
from ..runtimes._acting import is_recorded
from ._agent import Agent

MOST_STEPS = 1000
ALL_TASKS = (1, 2, 3, 4, 5)

_NEAR_GOAL = 1.5  # lookaheads: a failure that ends so near was at the goal
_OFF_ROAD = 6.0  # typical moves from anything recorded: a failure that ends there has drifted


@dataclass(frozen=True)
class EpisodeResult:
    """One episode."""

    task: int
    success: bool
    steps: int
    failure: str
    """"" for a success; else one of those that `evaluate_agent` lists."""
    path: np.ndarray = field(repr=False)  # (steps + 1, 2) x and y


@dataclass(frozen=True)
class TaskSuccess:
    """The episodes of one task together; task 0 is all of them."""

    task: int
    episodes: int
    successes: int
    interval: tuple[float, float]  # Wilson's 95% interval of the success rate
    mean_steps: float  # of successes; NaN where there are none
    of_least: float  # median of their steps over the least possible; NaN where that is not known
    failures: dict[str, int]

    @property
    def success_rate(self) -> float:
        """The share of episodes that reached the goal."""
        return self.successes / self.episodes


@dataclass(frozen=True)
class AgentEvaluation:
    """What an agent achieved in an environment."""

    environment: str
    seed: int
    total: TaskSuccess
    tasks: tuple[TaskSuccess, ...]
    episodes: tuple[EpisodeResult, ...] = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the paths; None where there is no number."""
        return {
            "environment": self.environment,
            "seed": self.seed,
            "total": _plain(self.total),
            "tasks": [_plain(one) for one in self.tasks],
        }


def evaluate_agent(
    agent: Agent,
    environment: str,
    *,
    tasks: Sequence[int] = ALL_TASKS,
    episodes: int = 50,
    seed: int = 0,
    workers: int | None = None,
    progress: OnProgress | None = None,
) -> AgentEvaluation:
    """Let an agent act in one of OGBench's environments and count how often it reaches its goals.

    Failures are counted by kind: "goal not recorded", for a goal far from anything recorded; "no path" from the start
    to the goal; "drifted", ended far from anything recorded or where no path leads on; "at the goal", near it; and
    "local policy", anywhere else on the way.

    Args:
        agent: the agent.
        environment: the name of the environment, such as "pointmaze-medium-v0".
        tasks: which of the five tasks, 1 to 5.
        episodes: the number of episodes per task.
        seed: the same seed gives the same starts and goals, and the same result.
        workers: the number of processes; one per core if None.
        progress: called with how many episodes are done and how many there are.

    >>> import minaction as ma
    >>> agent = ma.Agent.load("agents/medium/agent-seed0.safetensors")  # doctest: +SKIP
    >>> ma.evaluate_agent(agent, "pointmaze-medium-v0").total.success_rate  # doctest: +SKIP
    1.0
    """
    unknown = [task for task in tasks if task not in ALL_TASKS]
    if unknown or not tasks or not isinstance(episodes, Integral) or episodes < 1:
        raise InputError("OGBench's tasks are numbered 1 to 5, and each takes at least one episode.")
    if workers is not None and not (isinstance(workers, Integral) and workers >= 1):
        raise InputError(f"There are {workers} processes to evaluate in (--jobs); give at least 1.")
    if not isinstance(seed, Integral) or not 0 <= seed < 1 << 32:
        raise InputError(f"The seed (--first-seed) is {seed!r}; give a whole number from 0 to 4294967295.")
    check_spaces(agent, make_environment(environment), environment)
    jobs = [(task, number) for number in range(episodes) for task in tasks]
    workers = min(len(jobs), core_count() if workers is None else workers)
    found: list[EpisodeResult] = []
    for result in _results(agent, environment, jobs, seed, workers):
        found.append(result)
        if progress is not None:
            progress(len(found), len(jobs))
    least = _least_steps(environment, found)
    parts = tuple(_together(task, found, least) for task in sorted(set(tasks)))
    return AgentEvaluation(environment, seed, _together(0, found, least), parts, tuple(found))


def run_episode(agent: Agent, environment: Any, task: int, seed: int) -> EpisodeResult:
    """One episode of a task, until OGBench's flag says success or the steps are used up."""
    np.random.seed(seed)  # noqa: NPY002 (OGBench draws the noise of starts and goals from NumPy's global generator)
    environment.action_space.seed(seed)
    observation, info = environment.reset(seed=seed, options={"task_id": task})
    goal, visited = info["goal"], [observation[:2].copy()]
    agent.reset()
    foreseen = _foreseen(agent, observation, goal)
    for step in range(1, MOST_STEPS + 1):
        observation, _, _, truncated, info = environment.step(agent.act(observation, goal))
        visited.append(observation[:2].copy())
        if info["success"]:
            return EpisodeResult(task, True, step, "", np.stack(visited))
        if truncated:
            break
    failure = foreseen or _failure(agent, observation, goal)
    return EpisodeResult(task, False, len(visited) - 1, failure, np.stack(visited))


def _foreseen(agent: Agent, observation: np.ndarray, goal: np.ndarray) -> str:
    """Why the recording does not say how to get to a goal, whatever the policy does; "" where it does."""
    way = agent.way(observation, goal)
    if not is_recorded(agent.roadmap, way):
        return "goal not recorded"
    return "" if np.isfinite(way.remaining) else "no path"


def _failure(agent: Agent, observation: np.ndarray, goal: np.ndarray) -> str:
    """Where an episode ended that could have succeeded."""
    way = agent.way(observation, goal)
    if way.off_road > _OFF_ROAD or np.isinf(way.remaining):
        return "drifted"
    return "at the goal" if way.remaining <= _NEAR_GOAL * agent.lookahead else "local policy"


def make_environment(name: str) -> Any:
    """OGBench's environment of this name."""
    try:
        importlib.import_module("ogbench")
    except ImportError:
        raise MissingExtra("OGBench's environments", "mazes") from None
    import gymnasium

    try:
        environment = gymnasium.make(name, max_episode_steps=MOST_STEPS)
    except gymnasium.error.Error as error:
        raise InputError(f"OGBench has no environment {name!r} ({str(error).rstrip('.')}).") from error
    with contextlib.suppress(OSError, AttributeError):
        os.unlink(environment.unwrapped.fullpath)  # type: ignore[attr-defined]  # it leaves its model file behind
    return environment


def check_spaces(agent: Agent, environment: Any, name: str) -> None:
    """Refuse an environment whose observations or actions are not those that the agent learned from."""
    seen, done = environment.observation_space, environment.action_space
    if seen.shape != agent.model.state_shape:
        raise InputError(
            f"{name} has observations of shape {seen.shape}, but the agent takes {agent.model.state_shape}."
        )
    choices = getattr(done, "n", 0)
    fits = choices >= agent.actions.choices > 0 if agent.actions.choices else done.shape == (agent.actions.size,)
    if not fits:
        raise InputError(f"{name} takes actions of {done}, but the agent has learned {agent.actions.in_words}.")


_held: tuple[Agent, Any] | None = None


def _start(path: str, environment: str) -> None:
    global _held
    end_with_parent()
    _held = Agent.load(path), make_environment(environment)


def _run(job: tuple[int, int, int]) -> EpisodeResult:
    assert _held is not None, "a worker starts with `_start`"
    task, number, seed = job
    return run_episode(*_held, task, int(np.random.SeedSequence([seed, task, number]).generate_state(1)[0]))


def _results(agent: Agent, environment: str, jobs: list[tuple[int, int]], seed: int, workers: int) -> Any:
    numbered = [(task, number, seed) for task, number in jobs]
    with tempfile.TemporaryDirectory(prefix="minaction-") as folder:
        path = str(Path(folder) / "agent.safetensors")
        agent.save(path)
        if workers == 1:
            _start(path, environment)
            yield from map(_run, numbered)
            return
        context = multiprocessing.get_context("spawn")
        with (
            _one_thread_each(),
            ProcessPoolExecutor(workers, context, initializer=_start, initargs=(path, environment)) as pool,
        ):
            yield from pool.map(_run, numbered)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Within the block, new processes compute on one core each: a single state keeps neither a GPU nor threads busy."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false".strip()
    wanted = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _least_steps(environment: str, found: Sequence[EpisodeResult]) -> np.ndarray:
    """The least steps in which each success could have reached the place where it ended; NaN where unknown."""
    body, _, rest = environment.partition("maze-")
    layout = OGBENCH_LAYOUTS.get(rest.split("-")[0])
    least = np.full(len(found), np.nan)
    if layout is None or body not in ("point", "ant"):
        return least
    for k, episode in enumerate(found):
        if episode.success:
            ends = episode.path[[0, -1]].astype(np.float64)
            if body == "point":
                least[k] = ball_steps(layout, ends)[0, 1]
            else:
                from ..tasks._ant_mazes import walking_speed

                least[k] = route_lengths(layout, ends)[0, 1] / walking_speed()
    return least


def _together(task: int, found: Sequence[EpisodeResult], least: np.ndarray) -> TaskSuccess:
    from scipy.stats import binomtest  # takes most of a second to load

    chosen = [k for k, episode in enumerate(found) if task in (0, episode.task)]
    reached = [k for k in chosen if found[k].success]
    interval = binomtest(len(reached), len(chosen)).proportion_ci(0.95, method="wilson")
    steps = np.array([found[k].steps for k in reached], float)
    ratios = steps / least[reached]
    ratios = ratios[np.isfinite(ratios)]
    return TaskSuccess(
        task,
        len(chosen),
        len(reached),
        (float(interval.low), float(interval.high)),
        float(steps.mean()) if len(steps) else float("nan"),
        float(np.median(ratios)) if len(ratios) else float("nan"),
        dict(Counter(found[k].failure for k in chosen if found[k].failure)),
    )


def _plain(result: TaskSuccess) -> dict[str, Any]:
    values = {**asdict(result), "success_rate": result.success_rate}
    return {key: None if isinstance(value, float) and np.isnan(value) else value for key, value in values.items()}
