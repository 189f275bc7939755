"""Small good files of every kind that this package reads, seeded mutations of them, and what reading one comes to."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import minaction as ma
from minaction.errors import InputError


@dataclass(frozen=True)
class Kind:
    """A kind of file: how to make a good one in a folder (its path comes back) and how to read a folder's."""

    make: Callable[[Path], Path]
    read: Callable[[Path], Any]
    is_json: bool = False
    """Whether values in it, or in its header, are exchanged for others as well as bytes."""


def _recording() -> Any:
    states = np.random.default_rng(0).normal(size=(12, 2))
    return ma.Trajectories.from_flat(states, [0, 5, 12], times=np.arange(12.0), actions=np.ones((12, 1)))


def _saved(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path, data = folder / name, _recording()
        if name.endswith(".npy"):
            np.save(path, data.states)
        elif name.endswith(".npz"):
            np.savez_compressed(path, states=data.states, offsets=data.offsets, times=data.times, actions=data.actions)
        elif name.endswith(".hdf5"):
            import h5py

            with h5py.File(path, "w") as file:
                file.create_dataset("observations", data=data.states, compression="gzip")
                file["terminals"] = np.isin(np.arange(12), [4, 11])
        elif name.endswith(".parquet"):
            import pyarrow
            import pyarrow.parquet as parquet

            ids = ["first"] * 5 + ["second"] * 7
            columns = {"episode": ids, "time": data.times, "x": data.states[:, 0], "y": data.states[:, 1]}
            parquet.write_table(pyarrow.table({**columns, "reward": ids}), path)
        elif name.endswith(".csv"):
            rows = [f"{k // 6},{k},{x},{y}" for k, (x, y) in enumerate(data.states.tolist())]
            path.write_text("\n".join(["episode,time,x,y", *rows]) + "\n")
        else:
            data.save(path)
        return path

    return make


def _read_data(path: Path) -> Any:
    return ma.read(str(path), keep_actions=True)


def _model(folder: Path) -> Path:
    path = folder / "model.safetensors"
    _trainer().models()[0].save(path)
    return path


_TRAINER: list[Any] = []


def _trainer() -> Any:
    if not _TRAINER:
        objective = ma.MadDist(encoder=ma.MLP(hidden=(4,), latent=4))
        _TRAINER.append(ma.Trainer(objective, _recording(), steps=2))
    return _TRAINER[0]


def _checkpoint(folder: Path) -> Path:
    path = folder / "checkpoint-0.safetensors"
    _trainer().save(path)
    return path


def _run_with(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        from minaction.evaluation import Evaluation
        from minaction.suite import SuiteFolder
        from minaction.training._run import Measurement, Results, Run, RunConfig

        if name == "suite.json":
            with SuiteFolder(folder / "suite").opened("x"):
                return folder / "suite" / name
        run = Run.create(folder / "run", RunConfig("cliffwalking", "maddist", {"learning_rate": 1e-3}, 10, (0,), 2))
        found = Evaluation(step=10, seed=0, truth="exact", unit="actions", agreement={"pearson": 0.5, "spearman": None})
        run.log([Measurement(10, 0, {"loss": 0.5}, [found])], step=10)
        run.finish(Results([found], 1.0, 10.0, "cpu", "0"))
        total = {"task": 1, "episodes": 2, "successes": 1, "success_rate": 0.5, "interval": [0.1, 0.9]}
        planning = {"0": {"total": {**total, "task": 0}, "tasks": [total]}}
        (run.path / "planning-learned.json").write_text(json.dumps(planning))
        return run.path / name

    return make


def _read_run(path: Path) -> Any:
    from minaction.reports._trials import read_trials
    from minaction.training import Run

    found = read_trials([path.parent])
    run = Run.open(path.parent)
    return found, run.metrics, run.results


def _read_suite(path: Path) -> Any:
    from minaction.suite import SuiteFolder

    return SuiteFolder(path.parent)


def _unsigned(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
    """Without its checksum, so that what is wrong in it gets as far as the code behind."""

    def unsigned(folder: Path) -> Path:
        path = make(folder)
        path.write_bytes(path.read_bytes().replace(b'"checksum": "', b'"unsigned": "', 1))
        return path

    return unsigned


KINDS: dict[str, Kind] = {
    **{
        name: Kind(_saved(f"data.{name}"), _read_data)
        for name in ("npy", "npz", "csv", "hdf5", "parquet", "safetensors")
    },
    "model": Kind(_model, lambda path: ma.load(path)),
    "checkpoint": Kind(_checkpoint, lambda path: _trainer().restore(path)),
    "safetensors-unsigned": Kind(_unsigned(_saved("data.safetensors")), _read_data, is_json=True),
    "model-unsigned": Kind(_unsigned(_model), lambda path: ma.load(path), is_json=True),
    "checkpoint-unsigned": Kind(_unsigned(_checkpoint), lambda path: _trainer().restore(path), is_json=True),
    **{
        name: Kind(_run_with(name), _read_run, is_json=True)
        for name in ("config.json", "metrics.jsonl", "results.json", "planning-learned.json")
    },
    "suite.json": Kind(_run_with("suite.json"), _read_suite, is_json=True),
}

_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**6,
    10**30,
    1e308,
    0.5,
    "",
    "two",
    "[/red]x",
    [],
    [[]],
    {},
    {"a": 1},
    "\udcff",
)


def mutated(good: bytes, chance: random.Random, is_json: bool) -> bytes:
    """`good` with something wrong."""
    if is_json and chance.random() < 0.6:
        return _other_value(good, chance)
    bad = bytearray(good)
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        place = chance.randrange(len(bad) + 1)
        kind = chance.randrange(7)
        if kind == 0 and bad:
            bad[place % len(bad)] ^= 1 << chance.randrange(8)
        elif kind == 1 and bad:
            bad[place % len(bad)] = chance.choice((0, 255, 127, 128, 10, 34, 91))
        elif kind == 2:
            del bad[place:]
        elif kind == 3:
            bad[place:place] = chance.randbytes(chance.randrange(1, 20))
        elif kind == 4:
            other = chance.randrange(len(bad) + 1)
            bad[place:place] = bad[other : other + 64]
        elif kind == 5:
            bad[place : place + 8] = chance.choice((1 << 31, 1 << 40, (1 << 63) - 1, 0)).to_bytes(8, "little")
        else:
            del bad[place : place + chance.randrange(1, 64)]
    return bytes(bad)


def _other_value(good: bytes, chance: random.Random) -> bytes:
    """A JSON file with one value of another kind, a key too few, or brackets without end."""
    if chance.random() < 0.02:
        return chance.choice((b"[", b'{"a":')) * 100_000
    if good[8:9] == b"{":  # a header behind eight bytes that say how long it is
        length = int.from_bytes(good[:8], "little")
        entries = json.loads(good[8 : 8 + length])
        ours = entries["__metadata__"]["minaction"].encode()
        entries["__metadata__"]["minaction"] = _other_value(ours, chance).decode(errors="replace")
        header = json.dumps(entries).encode()
        header += b" " * (-len(header) % 8)
        return len(header).to_bytes(8, "little") + header + good[8 + length :]
    value = json.loads(good.splitlines()[0] if b"}\n{" in good else good)
    places: list[tuple[Any, Any]] = []

    def visit(item: Any) -> None:
        for key in list(item) if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ():
            places.append((item, key))
            visit(item[key])

    visit(value)
    if not places or chance.random() < 0.05:
        return json.dumps(chance.choice(_ODD)).encode()
    item, key = chance.choice(places)
    if isinstance(item, dict) and chance.random() < 0.2:
        del item[key]
    else:
        item[key] = chance.choice(_ODD)
    return json.dumps(value).encode() + b"\n"


def outcome(kind: Kind, path: Path) -> str:
    """ "read", "refused", or the exception that should not have come out, with what it says."""
    try:
        kind.read(path)
    except InputError:
        return "refused"
    except Exception as error:
        import traceback

        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:120]} ({Path(last.filename).name}:{last.lineno})"
    return "read"
