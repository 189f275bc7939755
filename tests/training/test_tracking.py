"""Each tool is the real one, and what it wrote is read back with its own reader."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minaction.commands._tracking import TRACKERS, tracking
from minaction.errors import InputError, MissingExtra
from minaction.training import Evaluated, Measurement, Run, RunConfig, Training
from minaction.training import train as driven
from minaction.trajectories import Trajectories


@pytest.fixture
def run(tmp_path: Path, line_walks: Trajectories, driver: Any) -> Run:
    line_walks.save(tmp_path / "walks.safetensors")
    config = RunConfig(str(tmp_path / "walks.safetensors"), "maddist", driver.settings, 20, (0, 4), 2)
    return Run.create(tmp_path / "run", config)


def train(run: Run, tool: str) -> dict[tuple[int, int], Measurement]:
    """Train with a tool; what metrics.jsonl says, by seed and step."""
    with tracking([tool], run) as trackers:
        for event in driven([Training.of(run)]):
            if isinstance(event, Evaluated):
                trackers.log(event.measurements)
    return {(row.seed, row.step): row for row in run.metrics}


def from_tensorboard(run: Run, seed: int) -> dict[int, dict[str, float]]:
    from tensorboardX.proto.event_pb2 import Event  # type: ignore[attr-defined]

    found: dict[int, dict[str, float]] = {}
    (path,) = (run.path / "tensorboard" / f"seed-{seed}").glob("events*")
    content, place = path.read_bytes(), 0
    while place < len(content):
        (length,) = struct.unpack_from("<Q", content, place)
        event = Event.FromString(content[place + 12 : place + 12 + length])
        place += 16 + length
        for value in event.summary.value:
            found.setdefault(event.step, {})[value.tag] = value.simple_value
    return found


def wandb_records(content: bytes) -> Iterator[bytes]:
    """The records of a .wandb file, a log of 32 KiB blocks: checksum, length, which part of a record, that part."""
    record, place = b"", 7
    while place + 7 <= len(content):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        length, part = struct.unpack_from("<HB", content, place + 4)
        record += content[place + 7 : place + 7 + length]
        place += 7 + length
        if part in (1, 4):  # the whole record, or its last part
            yield record
            record = b""


def from_wandb(run: Run, seed: int) -> dict[int, dict[str, float]]:
    import wandb
    from wandb.proto.wandb_internal_pb2 import Record  # type: ignore[attr-defined]

    wandb.teardown()  # its service writes on after `finish`, and has written everything when this returns
    found: dict[int, dict[str, float]] = {}
    for path in (run.path / "wandb").glob("offline-run-*/run-*.wandb"):
        records = [Record.FromString(record) for record in wandb_records(path.read_bytes())]
        if any(record.run.display_name == f"run-seed-{seed}" for record in records):
            for record in records:
                values = {"/".join(item.nested_key) or item.key: item.value_json for item in record.history.item}
                if values:
                    found[record.history.step.num] = {name: float(value) for name, value in values.items()}
    return found


def from_mlflow(run: Run, seed: int) -> dict[int, dict[str, float]]:
    from mlflow import MlflowClient

    client = MlflowClient((run.path / "mlruns").as_uri())
    experiment = client.get_experiment_by_name("minaction")
    assert experiment is not None
    (one,) = client.search_runs([experiment.experiment_id], f"attributes.run_name = 'run-seed-{seed}'")
    assert one.data.params["objective"] == "maddist"
    found: dict[int, dict[str, float]] = {}
    for name in one.data.metrics:
        for metric in client.get_metric_history(one.info.run_id, name):
            found.setdefault(metric.step, {})[name] = metric.value
    return found


@pytest.mark.parametrize(
    ("tool", "read_back"), [("tensorboard", from_tensorboard), ("wandb", from_wandb), ("mlflow", from_mlflow)]
)
def test_a_tool_holds_what_the_metrics_file_holds(
    run: Run,
    tool: str,
    read_back: Callable[[Run, int], dict[int, dict[str, float]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("WANDB_MODE", "WANDB_PROJECT", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(variable, raising=False)
    rows = train(run, tool)
    assert set(rows) == {(seed, step) for seed in (0, 4) for step in (10, 20)}
    for (seed, step), row in rows.items():
        found = read_back(run, seed)[step]
        assert found["terms/loss"] == pytest.approx(row.terms["loss"], rel=1e-6)
        assert found["observed/pearson"] == pytest.approx(row.evaluations[0].agreement["pearson"], rel=1e-6)


def test_an_unknown_tool_is_refused_with_the_nearest(run: Run) -> None:
    with pytest.raises(InputError, match="did you mean 'wandb'"), tracking(["wanbd"], run):
        pass


@pytest.mark.parametrize(
    ("tool", "module"), [("tensorboard", "tensorboardX"), ("wandb", "wandb"), ("mlflow", "mlflow")]
)
def test_a_missing_tool_names_its_extra(run: Run, tool: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"minaction\[track\]"):
        TRACKERS[tool](run, 0, 0, "run")
