"""How right and how fast the ball's look-ahead is: `python -m benchmarks.look_ahead`.

Its table is compared with MuJoCo itself for the error, and with a loop over `env.step` for the speed.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import tyro

from minaction.mazes._ball import make_ogbench_maze
from minaction.planning import ExactBall, TabulatedBall

from . import result

_SHORTEST_TIMING = 0.3  # seconds


@dataclass(frozen=True)
class Options:
    """Measure the look-ahead in OGBench's point mazes."""

    mazes: tuple[str, ...] = ("medium", "large", "giant")
    steps: int = 20_000
    """Steps to compare with MuJoCo."""
    copies: int = 100_000
    """Balls that are moved side by side to measure the speed."""
    environment_steps: int = 2_000
    """Steps of the loop over `env.step`."""
    out: Path | None = None
    """A JSON file to write the findings to."""


@dataclass(frozen=True)
class TableReport:
    """Distances between where the table and where MuJoCo put the ball after one step, and steps per second."""

    steps: int
    contacts: int  # steps in which the ball touched a wall
    median: float
    median_in_contact: float
    percentile_99: float
    worst: float
    table_steps_per_second: float
    environment_steps_per_second: float

    @property
    def speedup(self) -> float:
        """Simulated steps per second against a loop over `env.step`."""
        return self.table_steps_per_second / self.environment_steps_per_second


def measure_table(
    maze: str, steps: int = 20_000, copies: int = 100_000, environment_steps: int = 2_000, seed: int = 0
) -> TableReport:
    """Compare along walks that keep one direction for ten steps, as a planner's do, and so slide along walls."""
    exact, table = ExactBall(maze), TabulatedBall(maze)
    random = np.random.default_rng(seed)
    walkers = max(1, steps // 50)
    positions = exact.layout.random_positions(walkers, random)
    look_ahead = eqx.filter_jit(table.step)
    errors, touching, actions = [], [], np.zeros((walkers, 2))
    for step in range(-(-steps // walkers)):
        if step % 10 == 0:
            actions = random.choice([-1.0, 0.0, 1.0], size=(walkers, 2))
        predicted = np.asarray(look_ahead(jnp.asarray(positions, jnp.float32), jnp.asarray(actions, jnp.float32)))
        touching.append(exact.layout.clearance(positions + 0.2 * actions) < exact.layout.ball_radius)
        positions = exact.step(positions, actions)
        errors.append(np.hypot(*(predicted - positions).T))
    error, touched = np.concatenate(errors)[:steps], np.concatenate(touching)[:steps]
    return TableReport(
        steps=steps,
        contacts=int(touched.sum()),
        median=float(np.median(error)),
        median_in_contact=float(np.median(error[touched])),
        percentile_99=float(np.quantile(error, 0.99)),
        worst=float(error.max()),
        table_steps_per_second=_table_speed(table, exact.layout.random_positions(copies, random), random),
        environment_steps_per_second=_environment_speed(maze, environment_steps, random),
    )


def _table_speed(table: TabulatedBall, positions: np.ndarray, random: np.random.Generator) -> float:
    actions = jnp.asarray(random.choice([-1.0, 0.0, 1.0], size=positions.shape), jnp.float32)

    @eqx.filter_jit
    def ten_steps(table: TabulatedBall, states: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 10, lambda _, states: table.step(states, actions), states)

    states = ten_steps(table, jnp.asarray(positions, jnp.float32)).block_until_ready()
    began, calls = time.perf_counter(), 0
    while time.perf_counter() - began < _SHORTEST_TIMING:
        states = ten_steps(table, states).block_until_ready()
        calls += 1
    return 10 * len(positions) * calls / (time.perf_counter() - began)


def _environment_speed(maze: str, steps: int, random: np.random.Generator) -> float:
    environment = make_ogbench_maze(maze)
    environment.reset()
    actions = random.choice([-1.0, 0.0, 1.0], size=(steps, 2))
    began = time.perf_counter()
    for action in actions:
        environment.step(action)
    return steps / (time.perf_counter() - began)


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    result.warn_if_busy()
    findings, rows = {}, []
    for maze in options.mazes:
        found = measure_table(maze, options.steps, options.copies, options.environment_steps)
        findings[maze] = {**asdict(found), "speedup": found.speedup}
        errors = (found.median, found.median_in_contact, found.percentile_99, found.worst)
        speeds = (found.table_steps_per_second, found.environment_steps_per_second, found.speedup)
        rows.append((maze, f"{found.contacts:,}", *(f"{x:.1e}" for x in errors), *(f"{x:,.0f}" for x in speeds)))
    columns = ("maze", "touch walls", "median error", "touching", "99%", "worst", "steps/s", "env.step", "times")
    result.show(f"{options.steps:,} steps of the table beside MuJoCo's, in units of length", columns, rows)
    result.write(options.out, findings)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
