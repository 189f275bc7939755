from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import minaction._blockwise
from minaction._descriptions import make
from minaction._distance import Architecture
from minaction._files import write_tensors
from minaction._model import DistanceModel, Provenance
from minaction._trees import named_leaves
from minaction.encoders import MLP, Encoder, Ensemble, Projected, input_statistics
from minaction.errors import InputError
from minaction.quasimetrics import QUASIMETRICS, Simple

STATES = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)


def untrained(quasimetric: str = "simple", encoder: Encoder | None = None) -> DistanceModel:
    encoder = encoder or MLP(hidden=(24,), latent=32, fourier=4)
    architecture = Architecture(encoder, make(QUASIMETRICS, quasimetric))
    distance = architecture.build(input_statistics(STATES), key=jax.random.key(1))
    return DistanceModel(distance, architecture, Provenance("maddist", {"a": 1}, 10, 2, "test", "abc"), (3,))


def test_distance_broadcasts() -> None:
    model = untrained()
    assert model.distance(STATES[0], STATES[1]).shape == ()
    assert model.distance(STATES[0], STATES).shape == (50,)
    assert model.distance(STATES[:, None], STATES[None, :7]).shape == (50, 7)


@pytest.mark.parametrize(("rows", "columns"), [(50, 50), (7, 1), (1, 100), (13, 29), (0, 5), (5, 0)])
def test_blocks_have_one_shape_and_miss_nothing(rows: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minaction._blockwise, "WORKING_BYTES", 8 * 32 * 13)
    seen, shapes = np.zeros((rows, columns), bool), set[tuple[int, int]]()
    for down, across in minaction._blockwise.blocks(rows, columns, 32):
        seen[down, across] = True
        shapes.add(seen[down, across].shape)
    assert seen.all()
    assert len(shapes) == (1 if seen.size else 0)
    assert all(height * width <= 13 for height, width in shapes)


@pytest.mark.parametrize("quasimetric", list(QUASIMETRICS))
def test_pairwise_agrees_with_distance_for_any_block_size(quasimetric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = untrained(quasimetric)
    expected = np.asarray(model.distance(STATES[:, None], STATES[None, :20]))
    np.testing.assert_allclose(model.pairwise(STATES, STATES[:20]), expected, rtol=1e-4, atol=1e-4)
    monkeypatch.setattr(minaction._blockwise, "WORKING_BYTES", 8 * 32 * 13)  # 13 pairs at a time
    np.testing.assert_allclose(model.pairwise(STATES, STATES[:20]), expected, rtol=1e-4, atol=1e-4)


@pytest.fixture
def compiled() -> Iterator[list[str]]:
    """What JAX compiles during a test."""
    programs: list[str] = []

    def note(event: str, duration_secs: float, **_: Any) -> None:
        programs.extend([event] * event.endswith("backend_compile_duration"))

    jax.monitoring.register_event_duration_secs_listener(note)
    yield programs
    jax.monitoring.unregister_event_duration_listener(note)


def test_a_new_number_of_states_takes_no_new_program(compiled: list[str]) -> None:
    model = untrained(encoder=MLP(hidden=(21,), latent=32))
    questions = (
        lambda states: model.distance(states, states[::-1]),
        lambda states: model.distance(states[0], states),
        lambda states: model.embed(states),
        lambda states: model.pairwise(states, states),
        lambda states: model.nearest(states[0], states, 1),
        lambda states: model.remaining(states, states[:3]),
    )
    for ask in questions:
        ask(STATES.astype(np.float64)[:13])
        assert compiled
        before = len(compiled)
        for count in (9, 14, 15, 16):
            ask(STATES[:count])
            ask(STATES.astype(np.float64)[:count])
        assert len(compiled) == before
    model.pairwise(np.tile(STATES, (2, 1)), STATES)
    before = len(compiled)
    for count in (80, 99, 127):
        model.pairwise(np.tile(STATES, (3, 1))[:count], STATES)
    assert len(compiled) == before


def test_distances_can_be_differentiated_in_compiled_code() -> None:
    model = untrained()

    def total(states: jax.Array) -> jax.Array:
        return model.distance(states[:, None], STATES[10:14]).sum()  # of a state from itself there is no slope

    states = jax.numpy.asarray(STATES[:5])
    slope = jax.jit(jax.grad(total))(states)
    ahead = (total(states + 1e-3 * slope) - total(states - 1e-3 * slope)) / 2e-3
    np.testing.assert_allclose(ahead, (slope**2).sum(), rtol=0.05)


@pytest.mark.parametrize("direction", ["from", "to"])
def test_nearest_agrees_with_sorting_all_distances(direction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minaction._blockwise, "WORKING_BYTES", 8 * 32 * 9)
    model = untrained()
    queries = STATES[:3] + 0.1
    index, distance = model.nearest(queries, STATES, k=5, direction=direction)  # type: ignore[arg-type]
    table = model.pairwise(queries, STATES) if direction == "from" else model.pairwise(STATES, queries).T
    np.testing.assert_allclose(distance, np.sort(table, axis=1)[:, :5], rtol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(table, index, 1), distance, rtol=1e-5)
    single, _ = model.nearest(queries[0], STATES, k=5, direction=direction)  # type: ignore[arg-type]
    np.testing.assert_array_equal(single, index[0])


@pytest.mark.parametrize("quasimetric", list(QUASIMETRICS))
def test_a_saved_model_loads_to_the_same_distances(quasimetric: str, tmp_path: Path) -> None:
    base = MLP(hidden=(8,), latent=4, layer_norm=True, activation="gelu")
    model = untrained(
        quasimetric, Ensemble(Projected(base, hidden=(8,), latent=32, activation="gelu", layer_norm=True))
    )
    model.save(tmp_path / "model.safetensors")
    loaded = DistanceModel.load(tmp_path / "model.safetensors")
    assert loaded.provenance == model.provenance
    assert loaded.architecture == model.architecture
    assert (loaded.state_shape, loaded.state_dtype) == ((3,), "float32")
    np.testing.assert_array_equal(loaded.pairwise(STATES, STATES), model.pairwise(STATES, STATES))


def test_a_model_file_loads_in_a_fresh_process(tmp_path: Path) -> None:
    model = untrained()
    model.save(tmp_path / "model.safetensors")
    code = (
        "import json, sys, minaction as ma; m = ma.load(sys.argv[1]); s = json.loads(sys.argv[2]);"
        "print(json.dumps(m.pairwise(s, s).tolist()))"
    )
    states = STATES[:5].tolist()
    arguments = [sys.executable, "-c", code, str(tmp_path / "model.safetensors"), json.dumps(states)]
    printed = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    np.testing.assert_array_equal(np.array(json.loads(printed), np.float32), model.pairwise(states, states))


def test_a_model_whose_arrays_do_not_fit_is_refused(tmp_path: Path) -> None:
    model, path = untrained(), tmp_path / "model.safetensors"
    header = {**model.architecture.as_dict(), "provenance": {"objective": "maddist"}}
    header |= {"state_shape": [4], "state_dtype": "float32"}
    write_tensors(path, "model", named_leaves(model.network), header)
    with pytest.raises(InputError, match="another version"):
        DistanceModel.load(path)


@pytest.mark.parametrize(
    ("states", "goals"),
    [([1.0, 2.0], [1.0, 2.0]), (STATES[:3], STATES[:4]), ([["a", "b", "c"]], STATES[0]), (1.0, STATES[0])],
)
def test_states_that_do_not_fit_are_refused(states: object, goals: object) -> None:
    with pytest.raises(InputError):
        untrained().distance(states, goals)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [0, 51])
def test_too_many_neighbours_are_refused(k: int) -> None:
    with pytest.raises(InputError, match="nearest"):
        untrained().nearest(STATES[0], STATES, k=k)


def test_a_file_keeps_every_setting_of_both_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A default that changes later does not change old models."""
    model, path = untrained(), tmp_path / "model.safetensors"
    model.save(path)
    before = np.asarray(model.pairwise(STATES, STATES))

    @dataclass(frozen=True)
    class OtherDefault(Simple):
        alpha: float = 0.1

    monkeypatch.setitem(QUASIMETRICS._members(), "simple", OtherDefault)
    assert make(QUASIMETRICS, "simple").alpha == 0.1
    loaded = DistanceModel.load(path)
    assert isinstance(loaded.architecture.quasimetric, OtherDefault)
    np.testing.assert_array_equal(loaded.pairwise(STATES, STATES), before)


@pytest.mark.parametrize(
    ("part", "sentence"),
    [("encoder", "no encoder named 'resnet'"), ("quasimetric", "no quasimetric named 'resnet'")],
)
def test_a_model_of_a_part_that_is_not_installed_is_refused(part: str, sentence: str, tmp_path: Path) -> None:
    model, path = untrained(), tmp_path / "model.safetensors"
    header = {**model.architecture.as_dict(), "state_shape": [3], "state_dtype": "float32"}
    header |= {"provenance": {"objective": "maddist"}, part: {"name": "resnet", "depth": 18}}
    write_tensors(path, "model", named_leaves(model.network), header)
    with pytest.raises(InputError, match=f"{sentence}.*not installed") as caught:
        DistanceModel.load(path)
    assert "\n" not in str(caught.value)


def test_no_states_have_no_embeddings_and_no_distances() -> None:
    model = untrained("wide-norm")
    assert model.embed(STATES[:0]).shape == (0, 32)
    assert model.distance(STATES[:0], STATES[0]).shape == (0,)
    assert model.pairwise(STATES[:0], STATES).shape == (0, 50)
