"""How time and memory of training grow with the size of the problem: `python -m benchmarks.growth`.

One quantity grows at a time; every measurement is made in a process of its own. Data are random walks.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import tyro

from . import result
from .contender import peak_resident_bytes
from .data import write_random_walks
from .small_suite import matrix_gflops

_MAPPED_FROM = 20_000_000  # states


@dataclass(frozen=True)
class Size:
    """The size of a problem."""

    states: int = 20_000
    dimension: int = 2
    episodes: int = 100
    seeds: int = 1
    latent: int = 256


GROWTH: dict[str, tuple[int, ...]] = {
    "states": (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000),
    "dimension": (2, 8, 32, 128),
    "episodes": (10, 100, 1000),
    "seeds": (1, 2, 5, 20),
    "latent": (64, 256, 1024),
}


@dataclass(frozen=True)
class Options:
    """Train the default objective for a moment at every size."""

    only: tuple[Literal["states", "dimension", "episodes", "seeds", "latent"], ...] = tuple(GROWTH)  # type: ignore[assignment]
    objective: str = "pathdist"
    most_states: int = 100_000_000
    seconds: float = 3.0
    """How long steps are counted for."""
    out: Path | None = None
    """A JSON file to write the findings to."""
    figure: Path | None = None
    """An image to draw them into."""


def measure(size: Size, objective: str, seconds: float, path: Path) -> dict[str, Any]:
    """Write, read, prepare, compile and train, in this process."""
    import jax

    import minaction as ma
    from minaction.objectives import make_objective
    from minaction.training import Trainer

    length = max(2, size.states // size.episodes)
    write_random_walks(path, 4 * size.dimension * length * size.episodes, length, size.dimension)
    began = time.perf_counter()
    data = ma.read(path, memory_map=size.states >= _MAPPED_FROM)
    read = time.perf_counter() - began
    chosen = make_objective(objective)
    chosen = replace(chosen, encoder=replace(chosen.encoder, latent=size.latent))  # type: ignore[call-arg]
    trainer = Trainer(chosen, data, steps=1 << 30, seeds=range(size.seeds))
    prepared = time.perf_counter() - began - read
    trainer.advance(trainer.chunk_length)
    first = time.perf_counter() - began - read - prepared
    steps, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        float(trainer.advance(trainer.chunk_length)["loss"][0])
        steps += trainer.chunk_length
    rate = steps * size.seeds / (time.perf_counter() - began)
    on_device = jax.devices()[0].memory_stats() or {}
    return {
        "states": data.num_states,
        "read_seconds": read,
        "prepare_seconds": prepared,
        "first_steps_seconds": first,
        "seed_steps_per_second": rate,
        "peak_resident_bytes": peak_resident_bytes(),
        "peak_device_bytes": on_device.get("peak_bytes_in_use"),
    }


def in_a_process(size: Size, objective: str, seconds: float) -> dict[str, Any]:
    """`measure` with nothing before it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process,
    ):
        return process.submit(measure, size, objective, seconds, Path(folder) / "walks.safetensors").result()


def draw(findings: dict[str, Any], path: Path) -> None:
    """A column for every quantity that grows: time before the first step, speed, memory."""
    from matplotlib.figure import Figure

    grown = [field.name for field in fields(Size) if field.name in findings]
    figure = Figure(figsize=(3 * len(grown), 7), layout="constrained")
    axes = figure.subplots(3, len(grown), sharex="col", sharey="row", squeeze=False)
    for column, name in zip(axes.T, grown, strict=True):
        rows = findings[name]
        x = [row["size"] for row in rows]
        column[0].plot(x, [row["read_seconds"] + row["prepare_seconds"] for row in rows], "o-", label="read, prepare")
        column[0].plot(x, [row["first_steps_seconds"] for row in rows], "s-", label="compile, first steps")
        column[1].plot(x, [row["seed_steps_per_second"] for row in rows], "o-")
        column[2].plot(x, [row["peak_resident_bytes"] / 2**30 for row in rows], "o-", label="main memory")
        if all(row["peak_device_bytes"] for row in rows):
            column[2].plot(x, [row["peak_device_bytes"] / 2**30 for row in rows], "s-", label="GPU")
        column[2].set_xlabel(name)
        for one in column:
            one.set(xscale="log", yscale="log")
            one.grid(alpha=0.3)
    for one, label in zip(axes[:, 0], ("seconds", "seed-steps per second", "GiB at most"), strict=True):
        one.set_ylabel(label)
    axes[0, 0].legend(fontsize=8)
    axes[2, 0].legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main(options: Options) -> dict[str, Any]:
    """Run, print, write; what is done is written after every measurement."""
    result.warn_if_busy()
    findings: dict[str, Any] = {"objective": options.objective, "matrix_gflops_per_core": matrix_gflops()}
    rows = []
    for name in options.only:
        findings[name] = []
        for value in GROWTH[name]:
            if name == "states" and value > options.most_states:
                continue
            size = Size(**{name: value})  # type: ignore[arg-type]
            found = in_a_process(size, options.objective, options.seconds)
            findings[name].append({"size": value, **found})
            result.write(options.out, findings)
            seconds = [found[f"{what}_seconds"] for what in ("read", "prepare", "first_steps")]
            memory = [result.gibibytes(found[f"peak_{where}_bytes"] or 0) for where in ("resident", "device")]
            speed = f"{found['seed_steps_per_second']:,.0f}"
            rows.append((name, f"{value:,}", *(f"{one:.1f}" for one in seconds), speed, *memory))
    columns = ("grows", "to", "read, s", "prepare, s", "first steps, s", "seed-steps/s", "memory", "GPU memory")
    result.show(f"Growth of {options.objective}", columns, rows)
    if options.figure is not None:
        draw(findings, options.figure)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
