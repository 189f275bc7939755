from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from benchmarks import (
    growth,
    large_log,
    latency,
    memory_mapped,
    objective_speed,
    pairwise,
    small_suite,
    time_to_accuracy,
    training_speed,
)
from benchmarks.contender import Advance, Contender, Round
from benchmarks.data import random_walks
from benchmarks.runtimes import runtimes

from minaction.encoders import ImageEncoder, input_statistics
from minaction.objectives import OBJECTIVES, EpisodeTable, MadDist
from minaction.objectives._states import RecordedStates
from minaction.training import Trainer
from minaction.trajectories import Trajectories


def test_the_baseline_minimises_the_same_loss_of_the_same_network() -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.plain_loop import PlainTraining, plain_loss

    data, objective = random_walks(20, 30, 2), MadDist()
    ours: Any = Trainer(objective, data, steps=1).models()[0].network
    plain = PlainTraining(data)
    linear_layers = [layer for layer in plain.distance.encoder if isinstance(layer, torch.nn.Linear)]
    for layer, same in zip(linear_layers, ours.encoder.perceptron.layers, strict=True):
        layer.weight.data = torch.from_numpy(np.array(same.weight.T))
        layer.bias.data = torch.from_numpy(np.array(same.bias))

    batch = objective.sample(jax.random.key(3), EpisodeTable.of(data))

    def rows(*parts: jax.Array) -> list:
        states = [plain.sampler.states[np.asarray(index)] for index in parts[:2]]
        return [torch.from_numpy(np.array(array)) for array in (*states, *parts[2:])]

    expected, _ = objective.loss(ours, (), batch, RecordedStates(jnp.asarray(data.states)), jnp.zeros(()))
    found = plain_loss(plain.distance, rows(*batch.pairs), rows(*batch.near), rows(*batch.random))
    assert float(found.detach()) == pytest.approx(float(expected), rel=1e-4)


def test_the_baseline_draws_pairs_inside_episodes_and_horizons() -> None:
    pytest.importorskip("torch")
    from benchmarks.plain_loop import Sampler

    lengths = np.array([2, 9, 5])
    data = Trajectories.from_flat(np.arange(16.0)[:, None], np.concatenate([[0], np.cumsum(lengths)]))
    sampler = Sampler(data, seed=0)
    scale = 1 / np.diff(sampler.states[:2, 0])
    first, second, elapsed = sampler.trajectory_pairs(5000, horizon=4)
    i, j = (np.rint((array[:, 0] - sampler.states[0, 0]) * scale).astype(int) for array in (first, second))
    np.testing.assert_array_equal(j - i, elapsed)
    np.testing.assert_array_equal(*(np.searchsorted(data.offsets, index, side="right") for index in (i, j)))
    assert set(elapsed) == {1, 2, 3, 4}


def test_ratios_are_those_of_turns_in_the_same_round() -> None:
    base = [Round(10, 1, 1, 0), Round(10, 5, 5, 0), Round(10, 1, 1, 0)]
    ours = [Round(40, 1, 1, 0), Round(8, 1, 1, 0), Round(40, 1, 1, 0)]
    found = training_speed.summary({training_speed.BASELINE: base, "ours": ours})
    assert found["ours"]["ratio"] == 4
    assert found["ours"]["steps_per_second"] == 40
    assert found[training_speed.BASELINE]["ratio"] == 1


def test_pairwise_stays_below_its_stated_memory_at_toy_size(tmp_path: Path) -> None:
    options = pairwise.Options(size=700, candidates=(3000,), device="cpu", out=tmp_path / "found.json")
    found = pairwise.main(options)
    assert 0 <= found["pairwise"]["added_bytes"] < pairwise.stated_bound(700)
    assert found["nearest"][0]["seconds"] > 0
    assert json.loads((tmp_path / "found.json").read_text())["pairwise"] == found["pairwise"]


def idle() -> Advance:
    return lambda: 1


def test_a_contender_does_not_count_the_memory_of_the_process_that_started_it() -> None:
    here = np.ones(100_000_000, dtype=np.float32)
    with Contender(idle) as contender:
        contender.wait_until_ready()
        assert contender.run(0).peak_bytes < here.nbytes


@pytest.mark.slow
def test_mapped_data_trains_in_little_memory_and_leaves_nothing_behind(tmp_path: Path) -> None:
    found = memory_mapped.main(memory_mapped.Options(gib=0.6, seconds=2, rounds=2, folder=tmp_path))
    assert found["mapped"]["peak_resident_bytes"] < found["in memory"]["peak_resident_bytes"]
    assert found["ratio"] > 0.3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_log_of_several_files_is_read_and_trained_on_mapped(tmp_path: Path) -> None:
    options = large_log.Options(rows=300_000, files=3, objective="maddist", seconds=1, steps=2, folder=tmp_path)
    found = large_log.main(options)
    assert found["mapped_bytes"] > 300_000 * 24
    assert found["steps_per_second"] > 0
    assert max(found["peak_resident_bytes"], found["peak_resident_of_command"]) < large_log.MOST_RESIDENT
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_training_speeds_are_compared() -> None:
    pytest.importorskip("torch")
    options = training_speed.Options(only=("cliffwalking",), device="cpu", seconds=1, rounds=2)
    found = training_speed.main(options)["cliffwalking"]
    assert found["minaction, one seed"]["ratio"] > 2
    assert found["minaction, five seeds"]["steps_per_second"] > 0


def test_the_speed_of_an_objective_is_written_with_its_device(tmp_path: Path) -> None:
    assert set(objective_speed.OBJECTIVES) <= set(OBJECTIVES)
    out = tmp_path / "speeds.json"
    objective_speed.main(objective_speed.Options(("plandist",), seeds=(), seconds=0.1, rounds=2, out=out))
    found = json.loads(out.read_text())
    assert found["device"] == jax.devices()[0].device_kind
    speeds = found["plandist"]["1 seed"]["seed_steps_per_second"]
    assert len(speeds) == 2
    assert all(speed > 0 for speed in speeds)


@pytest.mark.slow
def test_a_suite_is_timed_from_nothing_to_the_page(tmp_path: Path) -> None:
    out = tmp_path / "suite.json"
    small_suite.main(small_suite.Options("cliffwalking,plandist", seeds=1, steps=20, rounds=1, out=out))
    (found,) = json.loads(out.read_text())["rounds"]
    assert found["suite_seconds"] > found["page_seconds"] > 0
    assert found["core_seconds"] > 1, "those of the workers count"
    assert 1 < found["matrix_gflops"] < 10_000


def test_a_suite_that_fails_ends_its_benchmark_in_its_own_words(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        small_suite.main(small_suite.Options("clifwalking", rounds=1))
    assert "did you mean 'cliffwalking'" in capfd.readouterr().err


@pytest.mark.slow
def test_latency_is_measured_in_every_runtime(tmp_path: Path) -> None:
    out = tmp_path / "latency.json"
    latency.main(latency.Options(queries=50, pairs=40, states=20, candidates=300, repeats=1, out=out))
    found = json.loads(out.read_text())
    assert found["import_seconds"]["minaction.runtimes.numpy"] > 0
    everything = found["models"]["default (PathDist)"]
    assert {"NumPy", "JAX", "browser"} <= set(everything)
    for taken in everything.values():
        assert taken["one query, median, us"] > 0
        assert min(*taken["pairs"], *taken["all pairs"], *taken["nearest"]) > 0


def test_what_is_timed_are_the_same_answers_in_every_runtime(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    states, goals = random.normal(size=(300, 2)).astype(np.float32), random.normal(size=(9000, 2)).astype(np.float32)
    model = latency.models()["256-256-64, simple"]
    with runtimes(model, tmp_path) as asked:
        for runtime in asked.values():
            expected = model.distance(states, goals[:300])
            np.testing.assert_allclose(runtime.distance(states, goals[:300]), expected, rtol=1e-4, atol=1e-5)
            expected = model.pairwise(states[:5], goals[:300])
            np.testing.assert_allclose(runtime.pairwise(states[:5], goals[:300]), expected, rtol=1e-4, atol=1e-5)
            assert set(runtime.nearest(states[0], goals, 10)) == set(model.nearest(states[0], goals, 10)[0])


def line(what: str, seconds: float, **more: float) -> dict[str, Any]:
    return {"what": what, "seconds": seconds, "core_seconds": seconds / 2, "evaluating_seconds": 0.0, **more}


def test_time_to_accuracy_is_that_of_the_first_evaluation_that_is_good_enough() -> None:
    target = time_to_accuracy.Target("true", 0.9, 0.1, maddist_steps=1000)
    lines = [line("ready", 1), line("compiled", 2)]
    for k, (pearson, ratio_cv) in enumerate([(0.8, 0.2), (0.95, 0.2), (0.95, 0.05), (0.99, 0.01)]):
        lines.append(line("evaluated", 3 + k, step=k, steps_per_second=10, pearson=pearson, ratio_cv=ratio_cv))
    found = time_to_accuracy.outcome(lines, target, "default")
    assert (found.seconds, found.core_seconds, found.step, found.extrapolated) == (5, 2.5, 2, False)
    assert found.seconds_in_all == 6


def test_what_would_take_hours_is_extrapolated_along_the_curve_of_its_own_method_alone() -> None:
    target = time_to_accuracy.Target("true", 0.9, maddist_steps=1000)
    lines = [line("compiled", 2), line("evaluated", 3, step=10, steps_per_second=10, steps_per_core_second=20)]
    plain = time_to_accuracy.outcome(lines, target, time_to_accuracy.BASELINE)
    assert (plain.seconds, plain.core_seconds, plain.extrapolated) == (102, 51, True)
    assert time_to_accuracy.outcome(lines, target, "default").seconds is None
    never = time_to_accuracy.Target("true", 0.9)
    assert time_to_accuracy.outcome(lines, never, time_to_accuracy.BASELINE).seconds is None


@pytest.mark.slow
def test_time_to_accuracy_is_measured_from_the_start_of_the_process(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    options = time_to_accuracy.Options(
        ("cliffwalking",), device="cpu", minutes=0.2, plain_seconds=1, episodes=20, out=tmp_path / "found.json"
    )
    time_to_accuracy.main(options)
    found = json.loads((tmp_path / "found.json").read_text())["tasks"]["cliffwalking"]
    assert found[time_to_accuracy.BASELINE]["extrapolated"]
    first = found["default"]
    assert 0 < first["seconds_to_ready"] < first["seconds_to_first_steps"] < first["seconds_in_all"]
    assert found["default, second start"]["last"]["pearson"] > 0.5


@pytest.mark.slow
def test_growth_is_measured_and_drawn(tmp_path: Path) -> None:
    options = growth.Options(("states",), most_states=10_000, seconds=0.2, figure=tmp_path / "growth.png")
    (found,) = growth.main(options)["states"]
    assert found["states"] == 10_000
    assert min(found[name] for name in ("prepare_seconds", "seed_steps_per_second", "peak_resident_bytes")) > 0
    assert (tmp_path / "growth.png").stat().st_size > 1000


def test_the_baseline_for_images_has_the_same_network() -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.plain_image_loop import HIDDEN, LATENT, PlainImageTraining

    frames = np.random.default_rng(0).integers(0, 256, (40, 12, 10, 3)).astype(np.uint8)
    data = Trajectories.from_flat(frames)
    encoder = ImageEncoder(hidden=(HIDDEN,), latent=LATENT)
    module = encoder.build(input_statistics(frames), key=jax.random.key(0))
    plain = PlainImageTraining(data, batch=2)
    network: Any = plain.distance.encoder
    for stage, same in zip(network, module.stages, strict=False):
        convolutions = (stage.entry[0], stage.block[1], stage.block[3])
        for layer, conv in zip(convolutions, (same.entry, same.first, same.second), strict=True):
            layer.weight.data = torch.from_numpy(np.array(conv.weight).transpose(3, 2, 0, 1).copy())
            layer.bias.data = torch.from_numpy(np.array(conv.bias))
    linear = [layer for layer in network if isinstance(layer, torch.nn.Linear)]
    for layer, same in zip(linear, module.perceptron.layers, strict=True):
        weight = np.array(same.weight.T)
        if layer is linear[0]:  # PyTorch flattens channels first
            weight = weight.reshape(HIDDEN, 2, 2, 32).transpose(0, 3, 1, 2).reshape(HIDDEN, -1)
        layer.weight.data = torch.from_numpy(weight.copy())
        layer.bias.data = torch.from_numpy(np.array(same.bias))
    given = (torch.from_numpy(frames).float() - torch.from_numpy(np.array(module.scale.mean))) / float(
        module.scale.scale
    )
    found = network(given.permute(0, 3, 1, 2)).detach().numpy()
    np.testing.assert_allclose(found, module(jnp.asarray(frames)), rtol=2e-3, atol=2e-4)
    assert np.isfinite(float(plain.step()))
