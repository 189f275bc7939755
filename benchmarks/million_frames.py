"""A million frames of 64 x 64 x 3: drawn, then trained on from device memory and memory-mapped.

    python -m benchmarks.million_frames --out benchmarks/results/million_frames.json

The file has 12.3 GB, and as much is needed beside it while it is written.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from . import result
from .contender import Advance, Contender

TASK = "ogbench-pointmaze-medium-navigate-pixels"
MOST_RESIDENT = 2 << 30
Where = Literal["device", "mapped", "mapped-cpu"]


@dataclass(frozen=True)
class Options:
    """Draw, train in every way, and write how fast it was and how much memory each process had resident."""

    episodes: int = 1000
    """Of 1001 frames."""
    ways: tuple[Where, ...] = ("device", "mapped", "mapped-cpu")
    """Frames in device memory; mapped, on the default device; mapped, on a CPU."""
    steps: int = 200
    """Of the default objective, in one turn; on a CPU a twentieth of it."""
    settings: tuple[str, ...] = ()
    """Settings of the objective, as NAME=VALUE."""
    folder: Path | None = None
    """Where to put the file while it is needed; by default the system's temporary folder."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def draw(episodes: int, path: Path) -> dict[str, float]:
    """Write the file; how long that took."""
    from minaction.tasks import get_task

    began = time.perf_counter()
    task = get_task(TASK)
    base = task.base.trajectories(0, episodes)  # type: ignore[attr-defined]
    walked = time.perf_counter()
    frames = task.frames(base.states, 0)  # type: ignore[attr-defined]
    drawn = time.perf_counter()
    from minaction.trajectories import Trajectories

    Trajectories.from_flat(frames, base.offsets).save(path)
    return {
        "seconds_to_walk": walked - began,
        "seconds_to_draw": drawn - walked,
        "seconds_to_write": time.perf_counter() - drawn,
    }


def training(path: str, mapped: bool, steps: int, settings: dict[str, str]) -> Advance:
    """The default objective, as `minaction train` trains it, from the file."""
    from minaction.objectives import make_objective
    from minaction.objectives._make import suited
    from minaction.tasks import read
    from minaction.training import Trainer

    data = read(Path(path), memory_map=mapped)
    trainer = Trainer(suited(make_objective("pathdist", settings), data.state_shape), data, steps=1 << 30)

    def advance() -> float:
        done = 0
        while done < steps:
            length = min(steps - done, trainer.chunk_length)
            trainer.advance(length)
            done += length
        trainer.models()
        return steps

    advance()
    return advance


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    settings = dict(setting.split("=", 1) for setting in options.settings)
    findings: dict[str, Any] = {"task": TASK, "episodes": options.episodes, "settings": settings}
    rows = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "frames.safetensors"
        findings |= draw(options.episodes, path)
        findings["file_bytes"] = path.stat().st_size
        print(findings, flush=True)
        for way in options.ways:
            on_cpu = way == "mapped-cpu"
            steps = max(1, options.steps // 20) if on_cpu else options.steps
            began = time.perf_counter()
            given = {"path": str(path), "mapped": way != "device", "steps": steps, "settings": settings}
            with Contender(training, device="cpu" if on_cpu else "auto", **given) as contender:
                contender.wait_until_ready()
                ready = time.perf_counter() - began
                turn = contender.run(0.0)
            findings[way] = {
                "seconds_to_start": ready,
                "steps_per_second": turn.rate,
                "peak_resident_bytes": turn.peak_bytes,
            }
            print(way, findings[way], flush=True)
            rows.append((way, f"{ready:.0f}", f"{turn.rate:.1f}", result.gibibytes(turn.peak_bytes)))
            result.write(options.out, findings)
    result.show("A million frames", ("", "seconds to start", "steps per second", "peak resident"), rows)
    print(f"Target for mapped data: under {result.gibibytes(MOST_RESIDENT)} resident.")
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
