"""A run on disk: one folder with its settings, its measurements, a checkpoint, and one model per seed.

::

    RUN/config.json          what was asked for
    RUN/metrics.jsonl        one line per evaluation and seed
    RUN/checkpoint.safetensors   where to go on from, until the run is finished
    RUN/seed-0.safetensors   the model of seed 0, and so on
    RUN/results.json         the final agreement with every truth, speed, versions; written last
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from .._files import atomic_write, map_tensors, read_json, write_json
from ..errors import InputError


@dataclass(frozen=True)
class RunConfig:
    """What a person asked for."""

    data: str
    """A task's name or the path of a file."""
    objective: str
    settings: dict[str, Any]
    """Hyperparameters that differ from the objective's defaults."""
    steps: int
    seeds: tuple[int, ...]
    evaluations: int
    """How many times, evenly spaced, the distance is compared with the truth."""
    episodes: int | None = None
    """How many episodes of a task to learn from; the task's own number if None."""

    def as_dict(self) -> dict[str, Any]:
        """As it stands in config.json."""
        return {**asdict(self), "seeds": list(self.seeds)}

    def goes_with(self, other: RunConfig) -> bool:
        """Whether both can be trained side by side, as far as settings go: at most data and seeds differ."""
        return self == replace(other, data=self.data, seeds=self.seeds, episodes=self.episodes)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> RunConfig:
        """The inverse of `as_dict`."""
        return cls(**{**values, "seeds": tuple(values["seeds"])})


class RunDirectory:
    """The files of one run; see the drawing above."""

    def __init__(self, path: str | Path, config: RunConfig) -> None:
        self.path = Path(path)
        self.config = config
        self.checkpoint = self.path / "checkpoint.safetensors"

    @classmethod
    def create(cls, path: str | Path, config: RunConfig, *, overwrite: bool = False) -> RunDirectory:
        """A new run, or the same one to go on with; a folder that holds something else is refused."""
        path = Path(path)
        if overwrite and (path / "config.json").exists():
            shutil.rmtree(path)
        if (path / "config.json").exists():
            found = cls.open(path)
            if found.config != config:
                raise InputError(
                    f"{path} holds a run with other settings; choose another --out, or --overwrite to replace it."
                )
            return found
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError(f"{path} exists and is not a run of minaction; choose another --out.")
        write_json(path / "config.json", config.as_dict())
        return cls(path, config)

    @classmethod
    def open(cls, path: str | Path) -> RunDirectory:
        """An existing run."""
        path = Path(path)
        if not (path / "config.json").exists():
            raise InputError(f"{path} is not a run of minaction (it has no config.json); give a folder made by train.")
        try:
            return cls(path, RunConfig.from_dict(read_json(path / "config.json")))
        except (TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{path / 'config.json'} is not of this version ({error}); train again.") from error

    def model_path(self, seed: int) -> Path:
        """Where the model of `seed` lies."""
        return self.path / f"seed-{seed}.safetensors"

    @property
    def finished(self) -> bool:
        """Whether everything was trained and written."""
        return (self.path / "results.json").exists()

    @property
    def step(self) -> int:
        """Where its checkpoint stands; 0 without one."""
        return int(map_tensors(self.checkpoint, "checkpoint")[1]["step"]) if self.checkpoint.exists() else 0

    # ---------------------------------------------------------------- measurements

    def metrics(self) -> list[dict[str, Any]]:
        """Every evaluation so far."""
        path = self.path / "metrics.jsonl"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text().splitlines()]

    def log(self, rows: list[dict[str, Any]], *, step: int) -> None:
        """Add the evaluations made at `step`; later ones, left by a run that was killed, are dropped."""
        kept = [row for row in self.metrics() if row["step"] < step]
        with atomic_write(self.path / "metrics.jsonl", "w") as file:
            for row in kept + rows:
                file.write(json.dumps(row) + "\n")

    def finish(self, results: dict[str, Any]) -> None:
        """Write the results; the checkpoint has done its duty."""
        write_json(self.path / "results.json", results)
        self.checkpoint.unlink(missing_ok=True)

    def results(self) -> dict[str, Any]:
        """What `finish` wrote."""
        return read_json(self.path / "results.json")
