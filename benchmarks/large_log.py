"""A log of a hundred million rows in several Parquet files: `python -m benchmarks.large_log`.

Writes the log to a temporary folder, reads the files as they are for comparison, and then has a process of its own read
the log mapped and train on it, and another give the command `minaction train`, report and all. Needs about three times
the size of the log on disk for a while.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from . import result
from .contender import Advance, Contender, peak_resident_bytes

EPISODE_LENGTH = 1000
MOST_RESIDENT = 2 << 30
_MIB = 1 << 20


@dataclass(frozen=True)
class Options:
    """Read a large log and train on it."""

    rows: int = 100_000_000
    """Of the log, all files together."""
    files: int = 10
    """In how many Parquet files it lies; 0 for one file in the package's own format, which is mapped as it is."""
    stamps: bool = True
    """Whether it has a clock."""
    objective: str = "pathdist"
    """What is trained on it."""
    seconds: float = 20.0
    """How long to train."""
    steps: int = 100
    """Of the training by `minaction train`."""
    log: Path | None = None
    """A folder with a log that was written before, by `write_log`; one is written, and removed again, by default."""
    folder: Path | None = None
    """Where to put the log while it is needed; by default the system's temporary folder."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def write_log(folder: Path, options: Options) -> None:
    """Random walks in four numbers, float32, with the number of the episode and a clock."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    random = np.random.default_rng(0)
    if options.files == 0:
        return _write_mapped(folder / "log.safetensors", options, random)
    per_file = options.rows // options.files
    for k in range(options.files):
        path = folder / f"part-{k}.parquet"
        kind = [("episode", pa.int32()), *([("time", pa.float64())] * options.stamps)]
        schema = pa.schema([*kind, *((name, pa.float32()) for name in "xyzw")])
        with parquet.ParquetWriter(path, schema) as writer:
            for start in range(k * per_file, (k + 1) * per_file, 1 << 20):
                rows = np.arange(start, min(start + (1 << 20), (k + 1) * per_file))
                columns: dict[str, np.ndarray] = {"episode": (rows // EPISODE_LENGTH).astype(np.int32)}
                times, states = _walk(rows, random)
                if options.stamps:
                    columns["time"] = times
                columns |= dict(zip("xyzw", states.T, strict=True))
                writer.write_table(pa.table(columns, schema=schema))


def _write_mapped(path: Path, options: Options, random: np.random.Generator) -> None:
    from minaction import Trajectories

    states = np.lib.format.open_memmap(path.with_suffix(".npy"), "w+", np.float32, (options.rows, 4))
    times = np.empty(options.rows)
    for start in range(0, options.rows, 1 << 20):
        rows = np.arange(start, min(start + (1 << 20), options.rows))
        times[rows], states[rows] = _walk(rows, random)
    offsets = np.arange(0, options.rows + 1, EPISODE_LENGTH)
    Trajectories.from_flat(states, offsets, times if options.stamps else None, time_unit="s").save(path)
    path.with_suffix(".npy").unlink()


def _walk(rows: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Times, every episode from 0 on, and states of the given rows."""
    times = 0.05 * (rows % EPISODE_LENGTH) + random.uniform(0, 0.01, len(rows))
    walk = np.cumsum(random.normal(0, 0.05, (len(rows), 4)), axis=0)
    return times, np.sin(walk).astype(np.float32)


def disk_speed(folder: Path) -> float:
    """Bytes a second at which the log's files are read, without being unpacked and without the system's cache."""
    began, total = time.monotonic(), 0
    for path in folder.iterdir():
        with open(path, "rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            while block := file.read(8 * _MIB):
                total += len(block)
    return total / (time.monotonic() - began)


def forget(folder: Path) -> None:
    """Have the system drop the files from its cache."""
    os.sync()
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def training(path: str, cache: str, objective: str, told: str) -> Advance:
    """Read the log mapped, as `minaction train` does, and train on it; how long reading took is written to `told`."""
    os.environ["XDG_CACHE_HOME"] = cache
    from minaction.objectives import make_objective
    from minaction.tasks import read as read_data
    from minaction.training import Trainer

    began = time.monotonic()
    data = read_data(path, memory_map=True)
    read = time.monotonic() - began
    data.describe()
    peak = peak_resident_bytes()
    began = time.monotonic()
    trainer = Trainer(make_objective(objective), data, steps=1 << 30)
    Path(told).write_text(f"{read} {peak} {time.monotonic() - began}")

    def advance() -> float:
        trainer.advance(trainer.chunk_length)
        return trainer.chunk_length

    advance()
    return advance


# The command asks itself for its peak: what a parent is told of a child begins, on Linux, at the parent's own.
_COMMAND = """
import sys
from pathlib import Path
from benchmarks.contender import peak_resident_bytes
from minaction.cli import main
code = main(sys.argv[2:])
Path(sys.argv[1]).write_text(str(peak_resident_bytes()))
sys.exit(code)
"""


def commanded(log: str, place: Path, options: Options) -> tuple[float, int]:
    """The seconds and the peak resident bytes of `minaction train`, the log being mapped already."""
    given = ["train", log, "--objective", options.objective, "--steps", str(options.steps)]
    command = [sys.executable, "-c", _COMMAND, str(place / "peak"), *given, "--evaluations", "1"]
    began = time.monotonic()
    ended = subprocess.run(
        [*command, "--out", str(place / "run")], env={**os.environ, "XDG_CACHE_HOME": str(place / "cache")}
    )
    if ended.returncode:
        raise SystemExit(f"`minaction train` ended with {ended.returncode}.")
    return time.monotonic() - began, int((place / "peak").read_text())


def main(options: Options) -> dict[str, Any]:
    """Write the log, read it, train on it, print, write."""
    result.warn_if_busy()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        log, cache, told = options.log or Path(place) / "log", Path(place) / "cache", Path(place) / "told"
        if options.log is None:
            log.mkdir()
            write_log(log, options)
        size = sum(path.stat().st_size for path in log.iterdir())
        forget(log)
        speed = disk_speed(log)
        forget(log)
        source = str(log / "log.safetensors" if options.files == 0 else log)
        settings = {"path": source, "cache": str(cache), "objective": options.objective, "told": str(told)}
        with Contender(training, device="cpu", **settings) as contender:
            contender.wait_until_ready()
            turn = contender.run(options.seconds)
        read, peak_reading, prepare = map(float, told.read_text().split())
        seconds_command, peak_command = commanded(source, Path(place), options)
        mapped = sum(path.stat().st_size for path in (log if options.files == 0 else cache).rglob("*.safetensors"))
    findings = {
        "rows": options.rows,
        "files": options.files,
        "stamps": options.stamps,
        "objective": options.objective,
        "log_bytes": size,
        "mapped_bytes": mapped,
        "disk_bytes_per_second": speed,
        "seconds_reading": read,
        "share_of_disk_speed": size / read / speed,
        "peak_resident_reading": int(peak_reading),
        "seconds_preparing": prepare,
        "steps_per_second": turn.rate,
        "peak_resident_bytes": turn.peak_bytes,
        "command": f"minaction train LOG --objective {options.objective} --steps {options.steps}",
        "seconds_of_command": seconds_command,
        "peak_resident_of_command": peak_command,
        "most_resident_bytes": MOST_RESIDENT,
    }
    rows = [(name, str(value)) for name, value in findings.items()]
    result.show("A log of many rows", ("what", "value"), rows)
    result.write(options.out, findings)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
