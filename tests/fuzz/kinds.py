"""Every kind of file that this package reads: how to make a good one, and how it is read.

A reader joins the campaign with one line in `READER_SEEDS`; `tests/robustness/test_mutations.py` finds readers that
have none through the registry.
"""

from __future__ import annotations

import io
import json
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image

import minaction as ma
from minaction._coverage import Coverage
from minaction.trajectories import READERS

STATES = np.random.default_rng(0).normal(size=(12, 2))
OFFSETS = [0, 5, 12]
TIMES = np.arange(12.0)
ACTIONS = np.ones((12, 1))


@dataclass(frozen=True)
class Seed:
    """A small good data set: `write` makes it at `path` in an empty folder, and each of `files` is mutated in turn."""

    write: Callable[[Path], object]
    path: str
    files: tuple[str, ...] = ("",)
    """Inside `path` where that is a folder."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: how to make a good one in a folder (its path comes back) and how to read a folder's."""

    make: Callable[[Path], Path]
    read: Callable[[Path], Any]
    is_json: bool = False
    """Whether values in it, or in its header, are exchanged for others as well as bytes."""


# ---------------------------------------------------------------- data


def _npz(path: Path) -> None:
    np.savez_compressed(path, states=STATES, offsets=OFFSETS, times=TIMES, actions=ACTIONS)


def _hdf5(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("observations", data=STATES, compression="gzip")
        file["terminals"] = np.isin(np.arange(12), [4, 11])


def _csv(path: Path) -> None:
    rows = [f"{k // 6},{k},{x},{y},{k > 10}" for k, (x, y) in enumerate(STATES.tolist())]
    path.write_text("\n".join(["episode,time,x,y,success", *rows]) + "\n")


def _parquet(path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    ids = ["first"] * 5 + ["second"] * 7
    columns = {"episode": ids, "time": TIMES, "x": STATES[:, 0], "y": STATES[:, 1], "success": TIMES > 10}
    parquet.write_table(pyarrow.table({**columns, "reward": ids}), path)


def _minari(path: Path, data_format: str = "hdf5") -> None:
    import minari
    from gymnasium import spaces
    from minari.data_collector import EpisodeBuffer

    numbers = spaces.Box(-10, 10, (2,), np.float64)
    parts: dict[str, Any] = {
        "observations": STATES,
        "actions": STATES[1:],
        "rewards": np.zeros(11),
        "terminations": np.arange(11) == 10,
        "truncations": np.zeros(11, bool),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Minari wants an author, a permalink and more
        minari.MinariDataset(_minari_storage(path, numbers, EpisodeBuffer(id=0, **parts), data_format))


def _minari_storage(path: Path, space: Any, episode: Any, data_format: str) -> Any:
    from minari.dataset.minari_storage import MinariStorage

    path.mkdir()
    storage = MinariStorage.new(path, observation_space=space, action_space=space, data_format=data_format)
    storage.update_episodes([episode])
    storage.update_metadata({"dataset_id": "fuzz/small-v0", "minari_version": "0.5.0"})
    return storage


def _lerobot(path: Path) -> None:
    """As LeRobot's own writer wrote it."""
    shutil.copytree(Path(__file__).parents[1] / "trajectories" / "lerobot" / "v3.0", path)


_CAMERA = "observation.images.top"
_PICTURES, _PLACES = "data/chunk-000/file-000.parquet", "meta/episodes/chunk-000/file-000.parquet"


def _lerobot_camera(file: str) -> Kind:
    """A data set whose camera is stored as pictures in `file`, or as a video whose episodes `file` places."""
    import pyarrow
    import pyarrow.parquet as parquet

    def make(folder: Path) -> Path:
        _lerobot(path := folder / "arm")
        info, table = json.loads((path / "meta/info.json").read_text()), parquet.read_table(path / _PICTURES)
        info["features"][_CAMERA] = {"dtype": "image" if file == _PICTURES else "video", "shape": [16, 16, 3]}
        (path / "meta/info.json").write_text(json.dumps(info))
        if file == _PICTURES:
            Image.fromarray(_frames()[0]).save(png := io.BytesIO(), "png")
            pictures = pyarrow.array([{"bytes": png.getvalue(), "path": None}] * table.num_rows)
            parquet.write_table(table.append_column(_CAMERA, pictures), path / _PICTURES)
        else:
            (video := path / "videos" / _CAMERA / "chunk-000" / "file-000.mp4").parent.mkdir(parents=True)
            _video(video, (_frames() * table.num_rows)[: table.num_rows])
            (path / _PLACES).parent.mkdir(parents=True)
            names = [f"videos/{_CAMERA}/{name}" for name in ("chunk_index", "file_index", "from_timestamp")]
            parquet.write_table(
                pyarrow.table({"episode_index": [0, 1, 2], **{name: [0, 0, 0] for name in names}}), path / _PLACES
            )
        return path / file

    return Kind(make, lambda path: ma.read(str(path.parents[len(Path(file).parts) - 1]), states=[_CAMERA]))


def _frames() -> list[np.ndarray]:
    """A bright square that moves over a dark ground."""
    frames = np.full((6, 16, 16, 3), 40, np.uint8)
    for k, frame in enumerate(frames):
        frame[4:8, 2 * k : 2 * k + 4] = 220
    return list(frames)


def _images(path: Path) -> None:
    path.mkdir()
    for k, frame in enumerate(_frames()):
        Image.fromarray(frame).save(path / f"{k}.png")


def _video(path: Path, frames: list[np.ndarray] | None = None) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 16, 16, "yuv420p"
        for frame in frames or _frames():
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())


def recording() -> ma.Trajectories:
    """The seed's numbers as a person has them in Python."""
    return ma.Trajectories.from_flat(STATES, OFFSETS, times=TIMES, actions=ACTIONS, succeeded=[True, False])


READER_SEEDS: dict[str, Seed] = {
    "npy": Seed(lambda path: np.save(path, STATES), "data.npy"),
    "npz": Seed(_npz, "data.npz"),
    "csv": Seed(_csv, "data.csv"),
    "hdf5": Seed(_hdf5, "data.hdf5"),
    "parquet": Seed(_parquet, "data.parquet"),
    "safetensors": Seed(lambda path: recording().save(path), "data.safetensors"),
    "minari": Seed(_minari, "small", ("main_data.hdf5", "metadata.json")),
    "images": Seed(_images, "pictures", ("2.png",)),
    "video": Seed(_video, "clip.mp4"),
    "lerobot": Seed(_lerobot, "arm", ("data/chunk-000/file-000.parquet", "meta/info.json")),
}
"""By the reader's name."""


def _data_kind(seed: Seed, file: str) -> Kind:
    def make(folder: Path) -> Path:
        seed.write(folder / seed.path)
        return folder / seed.path / file

    def read(path: Path) -> Any:
        whole = path.parents[len(Path(file).parts) - 1] if file else path
        return ma.read(str(whole), keep_actions=True)

    return Kind(make, read, is_json=file.endswith(".json"))


def _mapped(name: str) -> Kind:
    seed = READER_SEEDS[name]
    file = seed.files[0]

    def make(folder: Path) -> Path:
        seed.write(folder / seed.path)
        return folder / seed.path / file

    def read(path: Path) -> Any:
        return ma.read(str(path.parent if file else path), memory_map=True)

    return Kind(make, read, is_json=name == "safetensors")  # which is not asked for its checksum


def _cached(folder: Path) -> Path:
    path = folder / "kept.safetensors"
    _read_cached(path)
    return path


def _read_cached(path: Path) -> Any:
    """A damaged file in the cache is made again, so that nothing may be refused."""
    from unittest import mock

    from minaction.tasks import _cache

    with mock.patch.object(_cache, "cache_path", return_value=path):
        found = _cache.cached("walk", 0, None, recording, 1)
    assert np.array_equal(found.states, STATES)


# ---------------------------------------------------------------- models, checkpoints, runs and suites


_TRAINER: list[Any] = []


def _trainer() -> Any:
    if not _TRAINER:
        objective = ma.MadDist(encoder=ma.MLP(hidden=(4,), latent=4))
        _TRAINER.append(ma.Trainer(objective, recording(), steps=2))
    return _TRAINER[0]


def _model(folder: Path) -> Path:
    path = folder / "model.safetensors"
    model = _trainer().models()[0]
    model.recorded = Coverage.of(recording())
    model.save(path)
    return path


# What loads is used as well: nothing in a file may come out wrong only then.


def _ask_model(path: Path) -> Any:
    model = ma.load(path)
    return model.distance(STATES[0], STATES[7]), model.coverage(STATES) if model.recorded else None


def _ask_without_jax(path: Path) -> Any:
    from minaction.runtimes.numpy import load

    return load(path).distance(STATES[0], STATES[7])


def _send(agent: Any) -> Any:
    return [agent.act(STATES[0], STATES[7]) for _ in range(2)], agent.model.distance(STATES[0], STATES[7])


def _send_without_jax(path: Path) -> Any:
    from minaction.runtimes.numpy import load_agent

    return _send(load_agent(path))


def _agent(folder: Path) -> Path:
    path = folder / "agent.safetensors"
    ma.fit_agent(recording(), _trainer().models()[0], steps=2, progress=False, hidden=(4,)).save(path)
    return path


def _checkpoint(folder: Path) -> Path:
    path = folder / "checkpoint-0.safetensors"
    _trainer().save(path)
    return path


def _unsigned(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
    """Without its checksum, so that what is wrong in it gets as far as the code behind."""

    def unsigned(folder: Path) -> Path:
        path = make(folder)
        path.write_bytes(path.read_bytes().replace(b'"checksum": "', b'"unsigned": "', 1))
        return path

    return unsigned


def _run_with(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        from minaction.evaluation import Evaluation
        from minaction.training._run import Measurement, Results, Run, RunConfig

        run = Run.create(folder / "run", RunConfig("cliffwalking", "maddist", {"learning_rate": 1e-3}, 10, (0,), 2))
        found = Evaluation(step=10, seed=0, truth="exact", unit="actions", agreement={"pearson": 0.5, "spearman": None})
        run.log([Measurement(10, 0, {"loss": 0.5}, [found])], step=10)
        run.finish(Results([found], 1.0, 10.0, "cpu", "0"))
        if name == "failure.json":
            run.fail("it broke", "Traceback")
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
    return found, run.metrics, run.results, run.failure


def _suite(folder: Path) -> Path:
    from minaction.suite import SuiteFolder

    with SuiteFolder(folder / "suite").opened("x"):
        return folder / "suite" / "suite.json"


def _read_suite(path: Path) -> Any:
    from minaction.suite import SuiteFolder

    return SuiteFolder(path.parent)


def _grid(folder: Path) -> Path:
    path = folder / "grid.toml"
    path.write_text(
        'tasks = ["cliffwalking"]\nsteps = 20\nseeds = 2\nepisodes = 5\n[methods.maddist]\n[methods.wide]\n'
        'objective = "maddist"\nsettings = { quasimetric = "wide-norm", "encoder.fourier" = 8 }\n'
    )
    return path


def _read_grid(path: Path) -> Any:
    from minaction.suite._own_grid import own_grid

    return own_grid(path)


def _minari_table(data_format: str) -> Kind:
    """Minari's other formats, a file for every episode."""
    return _data_kind(Seed(lambda path: _minari(path, data_format), "small"), f"0/part-0.{data_format}")


KINDS: dict[str, Kind] = {
    **{
        f"{name}/{file}" if file else name: _data_kind(seed, file)
        for name, seed in READER_SEEDS.items()
        for file in seed.files
    },
    **{f"minari-{name}": _minari_table(name) for name in ("arrow", "parquet")},
    **{f"lerobot-camera/{file}": _lerobot_camera(file) for file in (_PICTURES, _PLACES)},
    **{f"{name}-mapped": _mapped(name) for name in READER_SEEDS if READERS[name].mappable},
    "cached-data": Kind(_cached, _read_cached),
    "model": Kind(_model, _ask_model),
    "model-without-jax": Kind(_model, _ask_without_jax),
    "agent": Kind(_agent, lambda path: _send(ma.Agent.load(path))),
    "checkpoint": Kind(_checkpoint, lambda path: _trainer().restore(path)),
    "safetensors-unsigned": Kind(
        _unsigned(_data_kind(READER_SEEDS["safetensors"], "").make), lambda path: ma.read(str(path)), is_json=True
    ),
    "model-unsigned": Kind(_unsigned(_model), _ask_model, is_json=True),
    "model-without-jax-unsigned": Kind(_unsigned(_model), _ask_without_jax, is_json=True),
    "agent-without-jax-unsigned": Kind(_unsigned(_agent), _send_without_jax, is_json=True),
    "agent-unsigned": Kind(_unsigned(_agent), lambda path: _send(ma.Agent.load(path)), is_json=True),
    "checkpoint-unsigned": Kind(_unsigned(_checkpoint), lambda path: _trainer().restore(path), is_json=True),
    **{
        name: Kind(_run_with(name), _read_run, is_json=True)
        for name in ("config.json", "metrics.jsonl", "results.json", "failure.json", "planning-learned.json")
    },
    "suite.json": Kind(_suite, _read_suite, is_json=True),
    "grid.toml": Kind(_grid, _read_grid),
}
"""By name."""
