"""Every encoder, every quasimetric, every runtime: the same distances."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minaction._descriptions import make
from minaction._model import DistanceModel
from minaction.encoders import ENCODERS, MLP
from minaction.quasimetrics import IQE, QUASIMETRICS
from minaction.runtimes._file import read
from minaction.runtimes.javascript import SCRIPT, describe

from .conftest import CASES, Case, model_of, states_of

PAIRS = 1000


def with_numpy(model: DistanceModel, folder: Path) -> Callable[..., Any]:
    from minaction.runtimes.numpy import load

    model.save(folder / "model.safetensors")
    return load(folder / "model.safetensors").distance


def with_torch(model: DistanceModel, folder: Path) -> Callable[..., Any]:
    torch = pytest.importorskip("torch")
    from minaction.runtimes.torch import load

    model.save(folder / "model.safetensors")
    loaded = load(folder / "model.safetensors")
    return lambda states, goals: loaded(torch.tensor(states), torch.tensor(goals)).detach().numpy()


def with_onnx(model: DistanceModel, folder: Path) -> Callable[..., Any]:
    session = onnx_session(model, folder, "distance")
    return lambda states, goals: session.run(None, {"states": states, "goals": goals})[0]


def with_onnx_parts(model: DistanceModel, folder: Path) -> Callable[..., Any]:
    encoder, quasimetric = (onnx_session(model, folder, part) for part in ("encoder", "quasimetric"))

    def distance(states: np.ndarray, goals: np.ndarray) -> np.ndarray:
        x, y = (encoder.run(None, {"states": side})[0] for side in (states, goals))
        return quasimetric.run(None, {"x": x, "y": y})[0]

    return distance


def onnx_session(model: DistanceModel, folder: Path, part: Any) -> Any:
    onnxruntime = pytest.importorskip("onnxruntime")
    model.export(folder / f"{part}.onnx", part)
    return onnxruntime.InferenceSession(folder / f"{part}.onnx")


def agree(found: np.ndarray, expected: np.ndarray, embeddings: np.ndarray) -> None:
    """To 1e-4 relative; and where a distance is much less than the numbers it is the difference of, to their last
    digits.
    """
    rounding = 2e-6 * np.abs(embeddings).max(axis=-1)
    wrong = np.abs(found - expected) > 1e-4 * np.abs(expected) + rounding
    assert found.shape == expected.shape
    assert np.isfinite(found).all()
    assert not wrong.any(), (found[wrong][:5], expected[wrong][:5], int(wrong.sum()))


class Calculator:
    """A page with nothing but our script in it."""

    def __init__(self, browser: Any) -> None:
        self.page = browser.new_page()
        self.page.add_script_tag(path=str(SCRIPT))

    def __call__(self, model: DistanceModel, folder: Path) -> Callable[..., Any]:
        model.save(folder / "model.safetensors")
        described = describe(read(folder / "model.safetensors"))

        def distance(states: np.ndarray, goals: np.ndarray) -> np.ndarray:
            given = [described, *(side.reshape(len(side), described["size"]).tolist() for side in (states, goals))]
            ask = "([described, states, goals]) => [...new Model(described).distance(states, goals)]"
            return np.array(self.page.evaluate(ask, given), np.float32)

        return distance


@pytest.fixture(scope="module")
def with_browser(browser: Any) -> Calculator:
    return Calculator(browser)


RUNTIMES = ["numpy", "onnx", "onnx_parts", "torch", "browser"]


@pytest.fixture
def runtime(request: pytest.FixtureRequest) -> Any:
    if request.param == "browser":
        return request.getfixturevalue("with_browser")
    return globals()[f"with_{request.param}"]


def test_every_encoder_of_the_package_is_among_the_cases() -> None:
    """Quasimetrics are found by their registry; an encoder needs a case of its own, with states that it can take."""
    assert {make(ENCODERS, name).name for name in ENCODERS} <= {case.encoder.name for case in CASES.values()}


@cache
def asked_in_jax(case: str, quasimetric: str) -> tuple[DistanceModel, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A model, states and goals, their distances and embeddings; computed once for all runtimes."""
    model = model_of(CASES[case], quasimetric)
    states, goals = states_of(CASES[case], PAIRS, 1), np.roll(states_of(CASES[case], PAIRS, 2), 3, axis=0)
    goals[-5:] = states[-5:]
    embeddings = np.concatenate([model.embed(states), model.embed(goals)], axis=-1)
    return model, states, goals, np.asarray(model.distance(states, goals)), embeddings


@pytest.mark.parametrize("runtime", RUNTIMES, indirect=True)
@pytest.mark.parametrize("quasimetric", list(QUASIMETRICS))
@pytest.mark.parametrize("name", CASES)
def test_distances_are_those_of_jax(name: str, quasimetric: str, runtime: Any, tmp_path: Path) -> None:
    model, states, goals, expected, embeddings = asked_in_jax(name, quasimetric)
    assert np.isfinite(expected).all()
    distance = runtime(model, tmp_path)
    agree(distance(states, goals), expected, embeddings)
    agree(distance(states[:1], goals[:1]), expected[:1], embeddings[:1])


@pytest.mark.parametrize("runtime", RUNTIMES, indirect=True)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 32])
def test_intervals_of_components_of_any_size(size: int, runtime: Any, tmp_path: Path) -> None:
    case = Case(MLP(hidden=(24,), latent=3 * size))
    model, states, goals = model_of(case, IQE(size)), states_of(case, 100, 1)[20:], states_of(case, 100, 2)[20:]
    embeddings = np.concatenate([model.embed(states), model.embed(goals)], axis=-1)
    agree(runtime(model, tmp_path)(states, goals), np.asarray(model.distance(states, goals)), embeddings)


def test_a_page_measures_one_state_against_all_others(with_browser: Calculator, tmp_path: Path) -> None:
    model, states, goals, _, embeddings = asked_in_jax("selu", "iqe")
    distance = with_browser(model, tmp_path)
    for here, there in ((states[30:31], goals), (states, goals[30:31])):
        agree(distance(here, there), np.asarray(model.distance(here, there)), embeddings)
    assert distance(states[:1], goals[:0]).shape == (0,)
