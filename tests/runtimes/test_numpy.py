"""The NumPy runtime answers as the model does, needs nothing else, and refuses in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import safetensors

import minaction
from minaction import _files
from minaction._files import read_tensors, write_tensors
from minaction.errors import InputError
from minaction.quasimetrics import QUASIMETRICS
from minaction.runtimes import _file
from minaction.runtimes import numpy as numpy_runtime
from minaction.runtimes.numpy import NumpyModel, load

from .conftest import CASES, model_of, states_of

CASE = CASES["selu"]
STATES, GOALS = states_of(CASE, 300, 1)[20:], states_of(CASE, 100, 2)[20:]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    model_of(CASE, "iqe").save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("quasimetric", list(QUASIMETRICS))
def test_it_answers_all_questions_as_the_model_does(quasimetric: str, tmp_path: Path) -> None:
    model = model_of(CASE, quasimetric)
    model.save(tmp_path / "model.safetensors")
    alone = load(tmp_path / "model.safetensors")
    close = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-5)
    close(alone.embed(STATES), model.embed(STATES))
    close(alone.pairwise(STATES, GOALS), model.pairwise(STATES, GOALS))
    some = STATES[:9, None], GOALS[None, :8]
    close(alone.distance(*some), model.distance(*some))
    for direction in ("from", "to"):
        _, expected = model.nearest(STATES[:4], GOALS, 5, direction=direction)
        index, found = alone.nearest(STATES[:4], GOALS, 5, direction=direction)
        close(found, expected)
        pairs = (STATES[:4, None], GOALS[index]) if direction == "from" else (GOALS[index], STATES[:4, None])
        close(alone.distance(*pairs), found)


def test_no_more_pixels_are_encoded_at_once_for_the_nearest_than_for_embeddings(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, rows = load(path), []
    encode = model._encode
    monkeypatch.setattr(numpy_runtime, "_PIXELS_AT_ONCE", 7 * STATES.shape[1])
    monkeypatch.setattr(model, "_encode", lambda some: (rows.append(len(some)), encode(some))[1])
    index, _ = model.nearest(STATES[0], GOALS, 3)
    assert max(rows) == 7
    assert index[0] == model.pairwise(STATES[:1], GOALS)[0].argmin()


def test_shapes_are_those_of_the_model(path: Path) -> None:
    alone = load(path)
    assert alone.distance(STATES[0], STATES[1]).shape == ()
    assert alone.distance(STATES[:1], STATES[1]).shape == (1,)
    assert alone.distance(STATES[0], STATES).shape == (len(STATES),)
    assert alone.distance(STATES[:0], STATES[:0]).shape == (0,)
    assert alone.pairwise(STATES[:0], STATES[:7]).shape == (0, 7)
    assert alone.embed(STATES[:6].reshape(2, 3, 3)).shape == (2, 3, 32)
    assert alone.nearest(STATES[0], STATES, 4)[0].shape == (4,)


@pytest.mark.parametrize(
    "refused",
    [
        lambda model: model.distance([0, 1], [0, 1]),
        lambda model: model.distance("abc", [0, 1, 2]),
        lambda model: model.distance(STATES[:3], STATES[:4]),
        lambda model: model.pairwise(STATES[0], STATES),
        lambda model: model.nearest(STATES[0], STATES, 0),
        lambda model: model.nearest(STATES[0], STATES, len(STATES) + 1),
        lambda model: model.nearest(STATES[0], STATES, 1, direction="sideways"),
    ],
)
def test_what_cannot_be_answered_is_refused(refused: object, path: Path) -> None:
    with pytest.raises(InputError):
        refused(load(path))  # type: ignore[operator]


def test_numbers_that_the_recorded_type_cannot_hold_are_refused(tmp_path: Path) -> None:
    case = CASES["image"]
    model_of(case, "simple").save(tmp_path / "model.safetensors")
    image = np.full(case.shape, 0.5)
    with pytest.raises(InputError, match="uint8"):
        load(tmp_path / "model.safetensors").embed(image)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"encoder": {"name": "convolutional"}}, "encoder 'convolutional' cannot be run here"),
        ({"quasimetric": {"name": "own"}}, "quasimetric 'own' cannot be run here"),
        ({"format": 99}, "newer version"),
        ({"state_shape": None}, "does not describe the weights"),
        ({"state_shape": [10**9]}, "does not describe the weights"),
        ({"encoder": {"name": "mlp"}}, "does not describe the weights"),
    ],
)
def test_files_that_it_does_not_know_are_refused(change: dict[str, object], message: str, path: Path) -> None:
    tensors, header = read_tensors(path, "model")
    write_tensors(path, "model", tensors, {**header, **change, "something_new": 1})
    with pytest.raises(InputError, match=message):
        load(path)


def test_files_that_are_no_models_are_refused(path: Path, tmp_path: Path) -> None:
    tensors, header = read_tensors(path, "model")
    del header["kind"]
    write_tensors(tmp_path / "other.safetensors", "trajectories", tensors, header)
    (tmp_path / "text.safetensors").write_text("no")
    for name in ("other.safetensors", "text.safetensors", "missing.safetensors"):
        with pytest.raises(InputError, match=name):
            load(tmp_path / name)


def test_a_header_may_say_more_than_is_known_here(path: Path) -> None:
    tensors, header = read_tensors(path, "model")
    write_tensors(path, "model", tensors, {**header, "something_new": {"a": 1}})
    assert isinstance(load(path), NumpyModel)


def test_it_reads_the_format_that_is_written() -> None:
    assert _file.FORMAT == _files.FORMAT


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, minaction.runtimes.numpy; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"jax", "equinox", "scipy", "msgspec", "gymnasium", "jaxtyping", "optax", "matplotlib", "torch", "onnx"}
    assert not heavy & set(loaded)
    code = "import sys, minaction.runtimes.numpy; print(*sorted(name for name in sys.modules if 'minaction.' in name))"
    ours = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in ours if not name.startswith("minaction.runtimes")] == [
        "minaction._checksums",
        "minaction._image_axes",
        "minaction.errors",
    ]


def test_its_import_takes_little_longer_than_that_of_numpy(tmp_path: Path) -> None:
    """In time of a core, which other processes do not lengthen much; with bytecode kept, as of an installed package."""
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    code = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
    taken: dict[str, list[float]] = {"numpy, safetensors": [], "minaction.runtimes.numpy": []}
    for _ in range(8):  # in turns, so that noise meets both alike; the first writes the bytecode
        for modules, seconds in taken.items():
            command = [sys.executable, "-c", code.format(modules)]
            seconds.append(float(subprocess.run(command, capture_output=True, check=True, env=kept).stdout))
    alone, ours = (np.array(seconds[1:]) for seconds in taken.values())
    assert np.median(ours / alone) < 1.3, taken  # the least of each may be of a core that ran faster for a moment


def test_an_environment_with_numpy_and_safetensors_alone_answers(path: Path, tmp_path: Path) -> None:
    """A fresh environment; what is installed in it is copied, because tests do not reach the network."""
    fresh = tmp_path / "fresh"
    venv.create(fresh, symlinks=True)
    inside = next((fresh / "lib").glob("python*/site-packages"))
    for package in (np, safetensors):
        found = Path(package.__file__ or "").parent
        for folder in (found, found.with_name(f"{found.name}.libs")):  # beside it: what its wheel brings along
            if folder.exists():
                shutil.copytree(folder, inside / folder.name, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    shutil.copytree(Path(minaction.__file__).parent, inside / "minaction", ignore=shutil.ignore_patterns("__pycache__"))
    code = f"""
import importlib.util, json
from minaction.runtimes.numpy import load
assert all(importlib.util.find_spec(name) is None for name in ("jax", "equinox", "msgspec", "scipy", "lazy_loader"))
model = load({str(path)!r})
states, goals = {STATES[:5].tolist()}, {GOALS[:5].tolist()}
print(json.dumps([model.distance(states, goals).tolist(), model.nearest(states[0], goals, 2)[0].tolist()]))
"""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [str(fresh / "bin" / "python"), "-I", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    distances, nearest = json.loads(run.stdout)
    here = load(path)
    np.testing.assert_allclose(distances, here.distance(STATES[:5], GOALS[:5]), rtol=1e-5)
    assert nearest == here.nearest(STATES[0], GOALS[:5], 2)[0].tolist()
