"""Metrics in TensorBoard, Weights & Biases or MLflow while a run trains.

All are optional and none needs an account: Weights & Biases writes offline and MLflow into the run's folder, unless
their own environment variables say otherwise.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Protocol

from ..errors import MissingExtra, unknown_name
from ..training import Measurement, Run

EXTRA = "track"


class Tracker(Protocol):
    """Receives the metrics of one seed."""

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Record `values` by name at `step`."""
        ...

    def close(self) -> None:
        """Write everything that is still pending."""
        ...


class TensorBoard:
    """Event files in RUN/tensorboard/seed-K: `tensorboard --logdir RUN/tensorboard`."""

    def __init__(self, run: Run, seed: int, step: int, name: str) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise MissingExtra("Tracking with TensorBoard", EXTRA) from None
        del name  # the name of the folder
        # What a killed run wrote past its checkpoint is superseded from `step` on.
        self._writer = SummaryWriter(str(run.path / "tensorboard" / f"seed-{seed}"), purge_step=step or None)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class WeightsAndBiases:
    """One W&B run per seed, in one group; in RUN/wandb, for `wandb sync`, unless WANDB_MODE is online."""

    def __init__(self, run: Run, seed: int, step: int, name: str) -> None:
        try:
            import wandb
        except ImportError:
            raise MissingExtra("Tracking with Weights & Biases", EXTRA) from None
        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "minaction"),
            dir=str(run.path),
            group=name,
            name=f"{name}-seed-{seed}",
            id=_identity(run, seed),
            resume="allow",
            config={**asdict(run.config), "seed": seed},
            mode=os.environ.get("WANDB_MODE", "offline"),  # type: ignore[arg-type]
            reinit="create_new",
            settings=wandb.Settings(silent=True),
        )

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        self._run.finish()


class MLflow:
    """One MLflow run per seed, in RUN/mlruns unless MLFLOW_TRACKING_URI names a server."""

    def __init__(self, run: Run, seed: int, step: int, name: str) -> None:
        try:
            from mlflow import MlflowClient
        except ImportError:
            raise MissingExtra("Tracking with MLflow", EXTRA) from None
        uri = os.environ.get("MLFLOW_TRACKING_URI")
        if uri is None:
            # MLflow prefers a database; here metrics should stay in the run's folder.
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        self._client = MlflowClient(uri or (run.path.resolve() / "mlruns").as_uri())
        identity = _identity(run, seed)
        experiment = self._client.get_experiment_by_name("minaction")
        number = self._client.create_experiment("minaction") if experiment is None else experiment.experiment_id
        known = self._client.search_runs([number], f"tags.`minaction.identity` = '{identity}'", max_results=1)
        if known:
            self._id = known[0].info.run_id
            return
        tags = {"minaction.identity": identity}
        self._id = self._client.create_run(number, run_name=f"{name}-seed-{seed}", tags=tags).info.run_id
        for name, value in {**asdict(run.config), "seed": seed}.items():
            self._client.log_param(self._id, name, value)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        from mlflow.entities import Metric

        self._client.log_batch(self._id, [Metric(name, value, 0, step) for name, value in values.items()])

    def close(self) -> None:
        self._client.set_terminated(self._id)


TRACKERS = {"tensorboard": TensorBoard, "wandb": WeightsAndBiases, "mlflow": MLflow}


class Tracking:
    """The chosen trackers for all seeds of a run."""

    def __init__(self, trackers: Mapping[int, Sequence[Tracker]]) -> None:
        self._trackers = trackers

    def log(self, measurements: Sequence[Measurement]) -> None:
        """Send the measurements to all trackers."""
        for one in measurements:
            values = _flat(one)
            for tracker in self._trackers.get(one.seed, ()):
                tracker.log(one.step, values)


@contextmanager
def tracking(names: Sequence[str], run: Run, step: int = 0, called: str = "") -> Iterator[Tracking]:
    """Start the trackers in `names` for a run that continues from `step`, and close them at the end.

    `called` is the name of the run, if that is not the present name of its folder.
    """
    for name in names:
        if name not in TRACKERS:
            raise unknown_name("tracking tool", name, TRACKERS)
    with ExitStack() as open_ones:
        trackers: dict[int, list[Tracker]] = {seed: [] for seed in run.config.seeds}
        for seed, tools in trackers.items():
            for name in names:
                tools.append(TRACKERS[name](run, seed, step, called or run.path.name))
                open_ones.callback(tools[-1].close)
        yield Tracking(trackers)


def _flat(measured: Measurement) -> dict[str, float]:
    """All values by name; trackers group names by what comes before the slash."""
    values = {f"terms/{name}": value for name, value in measured.terms.items()}
    for one in measured.evaluations:
        values |= {f"{one.truth}/{measure}": value for measure, value in one.agreement.items()}
    return {name: float(value) for name, value in values.items() if value is not None}


def _identity(run: Run, seed: int) -> str:
    """The same for the same seed of the same run, so that a resumed run adds to its earlier metrics."""
    return hashlib.sha256(f"{run.path.resolve()}\n{asdict(run.config)}\n{seed}".encode()).hexdigest()[:16]
