"""Health, coverage and ensembles of trained models, in Python, in files and at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction.cli import main

SMALL = ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=8), batch_size=16, constraint_batch_size=16)
QUICK = ["--objective", "maddist", "--steps", "2", "--set", "encoder.hidden=8", "encoder.latent=8"]


def test_a_tenth_is_held_out_of_own_data_and_kept_with_the_model(line_walks: ma.Trajectories, tmp_path: Path) -> None:
    model = ma.fit(line_walks, SMALL, steps=2, progress=False)
    assert model.health is not None
    assert model.health.episodes == 3
    assert model.provenance.data_fingerprint != line_walks.fingerprint  # trained on the others
    model.save(tmp_path / "model.safetensors")
    again = ma.load(tmp_path / "model.safetensors")
    assert again.health == model.health
    np.testing.assert_array_equal(again.coverage([[3.0], [40.0]]), model.coverage([[3.0], [40.0]]))


def test_nothing_is_held_out_on_demand_of_little_data_and_of_tasks(line_walks: ma.Trajectories) -> None:
    for data, share in ((line_walks, 0.0), (line_walks.first(19), None), ("cliffwalking", None)):
        assert ma.fit(data, SMALL, steps=1, held_out=share, progress=False).health is None


def test_coverage_counts_steps_from_what_was_recorded(line_walks: ma.Trajectories) -> None:
    model = ma.fit(line_walks, SMALL, steps=1, progress=False)  # a step is 1, recorded are 0 to 9
    np.testing.assert_allclose(model.coverage([[[0.0], [4.0]], [[9.5], [30.0]]]), [[0.0, 0.0], [0.5, 21.0]])
    assert model.coverage([12.0]).shape == ()


def test_coverage_tells_walls_from_floor() -> None:
    random = np.random.default_rng(0)
    along = 0.1 * np.arange(80)
    corridor = np.concatenate([np.stack([along, 0 * along], 1), np.stack([0 * along + 8, along], 1)])  # an L
    data = ma.Trajectories.from_episodes([corridor + random.normal(scale=0.05, size=corridor.shape) for _ in range(60)])
    model = ma.fit(data.first(50), SMALL, steps=1, held_out=0, progress=False)
    floor = model.coverage(data.states[data.offsets[50] :])
    walls = model.coverage(np.stack([random.uniform(0, 7, 500), random.uniform(1, 8, 500)], 1))
    assert (floor > 3).mean() < 0.01
    assert (walls > 3).mean() > 0.95


def test_coverage_tells_impossible_combinations_of_many_numbers() -> None:
    random = np.random.default_rng(0)
    phase = np.cumsum(random.uniform(0.3, 0.5, (40, 60)), axis=1)  # a gait: ten joints that swing together
    joints = np.sin(phase[..., None] + np.linspace(0, 3, 10)) + random.normal(scale=0.02, size=(40, 60, 10))
    place = np.cumsum(random.normal(scale=0.01, size=(40, 60, 2)), axis=1)
    data = ma.Trajectories.from_episodes(list(np.concatenate([place, joints], axis=2)))
    model = ma.fit(data.first(30), SMALL, steps=1, held_out=0, progress=False)
    recorded = data.states[data.offsets[30] :]
    shuffled = np.stack([random.permutation(column) for column in recorded.T], axis=1)
    assert np.median(model.coverage(recorded)) < 0.3 * np.median(model.coverage(shuffled))


def test_an_ensemble_is_the_mean_and_the_spread_of_its_members(line_walks: ma.Trajectories) -> None:
    models = ma.fit(line_walks, SMALL, steps=2, seeds=[0, 1, 2], held_out=0, progress=False)
    together = ma.DistanceEnsemble(models)
    states = np.arange(4.0)[:, None]
    each = np.array([one.pairwise(states, states) for one in models])
    mean, spread = together.pairwise(states, states, spread=True)
    np.testing.assert_allclose(mean, each.mean(0), rtol=1e-6)
    np.testing.assert_allclose(spread, each.std(0), rtol=1e-6)
    np.testing.assert_allclose(together.distance(states[0], states), mean[0], rtol=1e-5, atol=1e-6)
    assert len(together) == 3
    with pytest.raises(ma.InputError, match="one model or more"):
        ma.DistanceEnsemble([])


def test_held_out_episodes_widen_the_spread_to_what_models_are_off_by(line_walks: ma.Trajectories) -> None:
    models = ma.fit(line_walks, SMALL, steps=50, seeds=[0, 1, 2], progress=False)
    states = np.arange(10.0)[:, None]
    each = np.array([one.pairwise(states, states) for one in models])
    _, spread = ma.DistanceEnsemble(models).pairwise(states, states, spread=True)
    health = models[0].health
    assert health is not None
    assert health.spread_factor is not None
    np.testing.assert_allclose(spread, health.spread_factor * each.std(0), rtol=1e-5)
    off = np.abs(each.mean(0) - np.abs(states - states.T))  # on a line, paths are as long as states are apart
    away = ~np.eye(10, dtype=bool)
    assert 0.8 <= (off <= 2 * spread)[away].mean() <= 1


def test_train_says_how_it_went_and_distance_warns(
    log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert main(["train", str(log_file), "--out", str(out), "--seeds", "2", *QUICK]) == 0
    printed = capsys.readouterr().out
    assert "judged by 3 episodes that were held out" in printed
    assert "undertrained" in printed
    found = json.loads((out / "results.json").read_text())["health"]
    assert [one["episodes"] for one in found] == [3, 3]
    assert found[0]["disagreement"] == found[1]["disagreement"] > 0
    assert main(["distance", str(out), "--from", "3", "--to", "60"]) == 0
    printed = capsys.readouterr().out
    assert "the goal is 51.0 typical steps from anything recorded" in printed
    assert "the start" not in printed
    assert main(["train", str(log_file), "--out", str(tmp_path / "all"), "--held-out", "0", *QUICK]) == 0
    assert "held out" not in capsys.readouterr().out
    assert main(["train", str(log_file), "--out", str(tmp_path / "bad"), "--held-out", "2", *QUICK]) != 0
    assert "from 0 to below 1" in "".join(capsys.readouterr())
    assert not (tmp_path / "bad").exists()
