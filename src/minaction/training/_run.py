"""A run on disk, the only form in which trainings are stored; a suite is a folder of run folders.

::

    RUN/config.json                    the settings
    RUN/metrics.jsonl                  one line per evaluation and seed
    RUN/checkpoint-200.safetensors     where to resume, until the run is finished
    RUN/seed-0.safetensors             the model of seed 0, and so on
    RUN/results.json                   the final agreement with every truth, speed, versions; written last
    RUN/failure.json                   why training failed, if it did
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._files import append_json_lines, read_json, read_json_lines, verified_header, write_json
from .._health import Health
from ..errors import DamagedFile, InputError
from ..evaluation import Evaluation
from ..trajectories import TableOptions

FORMAT = 2  # incremented when older versions of this package cannot read what this one writes

# The files of a run; anything else in its folder belongs to the user.
_NAMES = (
    r"config\.json|metrics\.jsonl|results\.json|failure\.json|checkpoint-\d+\.safetensors|seed-\d+\.safetensors"
    r"|report\.html|curves\.png|landscape\.png|planning-[a-z]+\.(json|png)"
)
_TEMPORARY = re.compile(rf"\.({_NAMES})\.\w+\.tmp")
_FILES = re.compile(rf"{_NAMES}|{_TEMPORARY.pattern}")
_FOLDERS = ("tensorboard", "wandb", "mlruns")


@dataclass(frozen=True)
class Ablation:
    """The ablation that a run is part of, and the value of `parameter` in it."""

    name: str
    parameter: str
    value: str | int | float


@dataclass(frozen=True)
class RunConfig:
    """The settings of a run."""

    data: str
    """The name of a task or the path of a file."""
    objective: str
    settings: dict[str, Any]
    """Hyperparameters that differ from the objective's defaults."""
    steps: int
    seeds: tuple[int, ...]
    evaluations: int
    """How many times, evenly spaced, the distance is compared with the truth."""
    episodes: int | None = None
    """The number of episodes of a task to learn from; the task's default if None."""
    method: str = ""
    """A suite's name for the objective with its settings; the objective's name if empty."""
    ablation: Ablation | None = None
    table: TableOptions | None = None
    """How to read the columns of a table, if the user said so."""
    held_out: float = 0.0
    """The share of episodes that is not trained on but used for validation."""
    policy: str | None = None
    """The policy that acts in a Gymnasium environment to record it."""
    start_from: str | None = None
    """The run folder or model file whose weights training begins with."""
    stop_early: bool = False
    """Whether training stops before `steps` when held-out episodes say that nothing more is gained."""
    format: int = FORMAT

    @property
    def label(self) -> str:
        """The name of the method in tables and figures."""
        if self.method:
            return self.method
        changed = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.objective} ({changed})" if changed else self.objective

    def goes_with(self, other: RunConfig) -> bool:
        """Whether the settings allow training both side by side: only data and seeds may differ."""
        alike = replace(other, data=self.data, seeds=self.seeds, method=self.method, ablation=self.ablation)
        return self == alike


@dataclass(frozen=True)
class Measurement:
    """One seed at one step: the loss and its terms, and the agreement with every truth."""

    step: int
    seed: int
    terms: Mapping[str, float | None]
    evaluations: Sequence[Evaluation] = ()


@dataclass(frozen=True)
class Results:
    """The results of a finished run."""

    evaluations: list[Evaluation]
    """Every seed at the last step, overall and by range of true distance."""
    seconds: float
    steps_per_second: float | None
    device: str
    version: str
    health: list[Health] = field(default_factory=list)
    """One per seed; empty if no episodes were held out."""

    def of(self, seed: int) -> list[Evaluation]:
        """The overall evaluations of a seed."""
        return [one for one in self.evaluations if one.seed == seed and one.high is None]

    def by_range(self, seed: int) -> list[Evaluation]:
        """The evaluations of a seed by range of true distance."""
        return [one for one in self.evaluations if one.seed == seed and one.high is not None]


@dataclass(frozen=True)
class Failure:
    """Why training a run failed."""

    error: str
    traceback: str = ""


class Run:
    """The files of one run, as listed above. Reading them writes nothing."""

    def __init__(self, path: str | Path, config: RunConfig) -> None:
        self.path = Path(path)
        self.config = config

    # ---------------------------------------------------------------- opening

    @classmethod
    def create(cls, path: str | Path, config: RunConfig) -> Run:
        """Create a run, or open the same one to resume it; a folder with anything else in it is refused."""
        path = Path(path)
        if is_run(path):
            found = cls.open(path)
            if links := sorted(own.name for own in path.iterdir() if own.is_symlink() and _is_ours(own)):
                raise InputError(f"{path / links[0]} is a link, behind which training would write; put a copy there.")
            if found.config != config:
                raise InputError(
                    f"{path} holds a run with other settings; choose another --out, or --overwrite to replace it."
                )
            return found
        check_free(path)
        write_json(path / "config.json", config)
        return cls(path, config)

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open an existing run."""
        path = Path(path)
        if not is_run(path):
            raise InputError(f"{path} is not a run of minaction (it has no config.json); give a folder made by train.")
        config = read_json(path / "config.json", RunConfig)
        if config.format != FORMAT:
            raise InputError(
                f"{path} is a run of another format ({config.format}, this version has {FORMAT}); use the version of "
                "minaction that made it, or train again."
            )
        return cls(path, config)

    # ---------------------------------------------------------------- what is there

    def model_path(self, seed: int) -> Path:
        """The path of the model of `seed`."""
        return self.path / f"seed-{seed}.safetensors"

    @property
    def finished(self) -> bool:
        """Whether everything was trained and written."""
        return (self.path / "results.json").exists()

    @property
    def results(self) -> Results:
        """What `finish` wrote."""
        return read_json(self.path / "results.json", Results)

    @property
    def failure(self) -> Failure | None:
        """Why training failed, if it did."""
        path = self.path / "failure.json"
        return read_json(path, Failure) if path.exists() else None

    @property
    def checkpoints(self) -> dict[int, Path]:
        """Checkpoints by step. There is more than one only if a kill came between writing and removing."""
        found = (re.fullmatch(r"checkpoint-(\d+)", path.stem) for path in self.path.glob("checkpoint-*.safetensors"))
        return {int(match[1]): self.path / f"{match[0]}.safetensors" for match in found if match}

    @property
    def metrics(self) -> list[Measurement]:
        """Every measurement so far."""
        return read_json_lines(self.path / "metrics.jsonl", Measurement)

    # ---------------------------------------------------------------- what changes it

    def log(self, rows: Sequence[Measurement], *, step: int) -> None:
        """Add measurements at `step`; later rows, left by a run that was killed, are dropped."""
        append_json_lines(self.path / "metrics.jsonl", rows, keep=[row for row in self.metrics if row.step < step])

    def drop_checkpoints(self, before: int | None = None) -> None:
        """Remove the checkpoints before a step, or all of them."""
        for step, path in self.checkpoints.items():
            if before is None or step < before:
                path.unlink(missing_ok=True)

    def drop_damaged(self) -> list[str]:
        """Remove damaged checkpoints and return their names; the run then resumes from an earlier step."""
        dropped = []
        for path in self.checkpoints.values():
            try:
                verified_header(path, "checkpoint")
            except DamagedFile:
                path.unlink(missing_ok=True)
                dropped.append(path.name)
        return dropped

    def finish(self, results: Results) -> None:
        """Write the results and remove what is no longer needed."""
        write_json(self.path / "results.json", results)
        self.tidy()

    def tidy(self) -> None:
        """Remove temporary files that kills left, and checkpoints of a finished run; the caller must hold its lock."""
        for path in self.path.iterdir():
            if _TEMPORARY.fullmatch(path.name):
                path.unlink(missing_ok=True)
        if self.finished:
            (self.path / "failure.json").unlink(missing_ok=True)
            self.drop_checkpoints()

    def fail(self, error: str, traceback: str = "") -> None:
        """Record why training failed."""
        write_json(self.path / "failure.json", Failure(error, traceback))


def is_run(path: Path) -> bool:
    """Whether a folder holds a run, of any version: it has a `config.json` with the settings of one."""
    try:
        described = read_json(path / "config.json", dict[str, Any])
    except InputError:
        return False
    return {"data", "objective", "steps", "seeds"} <= described.keys()


def check_free(path: Path) -> None:
    """Refuse a path that holds anything but temporary files of a run that was killed at its start."""
    if path.exists() and not (path.is_dir() and all(_TEMPORARY.fullmatch(own.name) for own in path.iterdir())):
        raise InputError(f"{path} exists and is not a run of minaction; choose another --out.")


def empty_run(path: Path) -> None:
    """Remove the files of a run from its folder, `config.json` last; the user's own files are left alone."""
    for own in sorted(path.iterdir(), key=lambda own: own.name == "config.json"):
        if _is_ours(own):
            shutil.rmtree(own) if own.is_dir() else own.unlink()


def foreign_files(path: Path) -> list[str]:
    """The files in a run's folder that do not belong to the run."""
    return sorted(own.name for own in path.iterdir() if not _is_ours(own)) if path.is_dir() else []


def _is_ours(path: Path) -> bool:
    if path.is_dir() and not path.is_symlink():
        return path.name in _FOLDERS
    return _FILES.fullmatch(path.name) is not None
