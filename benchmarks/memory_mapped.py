"""Training on data larger than the memory it may use: `python -m benchmarks.memory_mapped`.

Writes a file of the asked size to a temporary folder (and needs twice that on disk for a while), trains on it mapped,
and beside it on the same data held in memory, or on as much of it as fits.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import tyro

from . import result
from .contender import Advance, Contender, Round

EPISODE_LENGTH, STATE_SIZE = 1000, 8
MOST_RESIDENT = 2 << 30
LEAST_RATIO = 0.5


@dataclass(frozen=True)
class Options:
    """Compare training on mapped data with training on data in memory; the two take turns."""

    gib: float = 8.0
    """Size of the file."""
    held_gib: float | None = None
    """How much of it to hold in memory for comparison; by default all, or as much as is free."""
    seconds: float = 10.0
    """How long one turn takes."""
    rounds: int = 4
    """How many turns each has."""
    folder: Path | None = None
    """Where to put the file while it is needed; by default the system's temporary folder."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def training(path: str, episodes: int | None) -> Advance:
    """Training on the file: mapped, or with its first `episodes` episodes in memory.

    A mapped one also goes through everything else that reads the whole file: description and fingerprint.
    """
    import numpy as np

    from minaction._mapped import release_pages
    from minaction.objectives import MadDist
    from minaction.training import Trainer
    from minaction.trajectories import Trajectories

    data = Trajectories.load(path, memory_map=True)
    if episodes is None:
        data.describe()
    else:
        part = data.first(episodes)
        data = Trajectories(np.array(part.states), part.offsets)
        release_pages(part.states)  # or they would count as memory that this training needs
    trainer = Trainer(MadDist(), data, steps=1 << 30)

    def advance() -> float:
        trainer.advance(trainer.chunk_length)
        return trainer.chunk_length

    advance()
    return advance


def episodes_to_hold(options: Options) -> int:
    """How many episodes the training in memory gets: the data is there twice while it is handed to the device."""
    import psutil

    wanted = options.gib if options.held_gib is None else options.held_gib
    room = psutil.virtual_memory().available / 2**30 - 3
    return max(1, int(min(wanted, options.gib, room / 2.2) * 2**30) // (4 * STATE_SIZE * EPISODE_LENGTH))


def compare(path: Path, held_episodes: int, options: Options) -> dict[str, list[Round]]:
    """The turns of both."""
    settings = {"device": "cpu", "path": str(path)}
    with (
        Contender(training, **settings, episodes=None) as mapped,
        Contender(training, **settings, episodes=held_episodes) as held,
    ):
        mapped.wait_until_ready()
        held.wait_until_ready()
        rounds: dict[str, list[Round]] = {"mapped": [], "in memory": []}
        for _ in range(options.rounds):
            rounds["in memory"].append(held.run(options.seconds))
            rounds["mapped"].append(mapped.run(options.seconds))
    return rounds


def main(options: Options) -> dict[str, Any]:
    """Write the data, run, print, write."""
    from .data import write_random_walks

    result.warn_if_busy()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "walks.safetensors"
        write_random_walks(path, int(options.gib * 2**30), EPISODE_LENGTH, STATE_SIZE)
        size, held_episodes = path.stat().st_size, episodes_to_hold(options)
        rounds = compare(path, held_episodes, options)
    ratio = median(m.rate / h.rate for m, h in zip(rounds["mapped"], rounds["in memory"], strict=True))
    findings = {
        name: {
            "steps_per_second": median(turn.rate for turn in turns),
            "peak_resident_bytes": max(turn.peak_bytes for turn in turns),
        }
        for name, turns in rounds.items()
    }
    held_bytes = 4 * STATE_SIZE * EPISODE_LENGTH * held_episodes
    rows = [
        (
            name,
            result.gibibytes(held),
            f"{found['steps_per_second']:.1f}",
            result.gibibytes(found["peak_resident_bytes"]),
        )
        for (name, found), held in zip(findings.items(), (size, held_bytes), strict=True)
    ]
    result.show("MadDist on a large file", ("states", "size", "steps per second", "peak resident"), rows)
    print(f"Mapped data reaches {ratio:.2f} of the speed of data in memory (target: at least {LEAST_RATIO})", end=" ")
    print(f"with a peak of {rows[0][3]} (target: under {result.gibibytes(MOST_RESIDENT)}).")
    findings |= {"file_bytes": size, "held_bytes": held_bytes, "ratio": ratio}
    findings |= {"most_resident_bytes": MOST_RESIDENT, "least_ratio": LEAST_RATIO}
    result.write(options.out, findings)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
