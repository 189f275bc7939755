from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction.cli import main
from minaction.objectives import PathDist
from minaction.training import Evaluated, Finished, Run, RunConfig, Training, _stopping, train
from minaction.training._stopping import SCORE, has_stalled
from minaction.trajectories import Trajectories

SETTINGS = {"encoder.hidden": "16", "encoder.latent": "8", "batch_size": 32, "bound_batch_size": 8, "landmarks": 8}
STEPS = 40
SMALL = PathDist(encoder=ma.MLP(hidden=(16,), latent=8), batch_size=32, bound_batch_size=8, landmarks=8)


@pytest.fixture
def nothing_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stopping, "_WORTH", np.inf)


def test_the_learning_rate_has_fallen_at_every_pause_and_rises_after_it() -> None:
    pauses = SMALL.pauses(8000)
    assert pauses == (300, 800, 1900, 4000, 8000)
    assert SMALL.pauses(2)[-1] == 2
    for pause in pauses:
        assert float(SMALL._fallen(jnp.float32((pause - 1) / 8000))) > 0.99
    for pause in pauses[:-1]:
        assert float(SMALL._fallen(jnp.float32(pause / 8000))) < 0.01


def test_a_score_has_stalled_when_it_gains_too_little_on_average() -> None:
    assert not has_stalled([])
    assert not has_stalled([[0.5]])
    assert not has_stalled([[0.4, 0.9], [0.5, 0.9]])
    assert has_stalled([[0.1, 0.1], [0.4, 0.9], [0.5, 0.8]])
    assert not has_stalled([[None], [None]]), "without held-out episodes nobody knows"


@pytest.mark.usefixtures("nothing_is_worth_it")
def test_fit_stops_at_a_pause_and_says_so(
    line_walks: Trajectories, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(PathDist, "default_steps", STEPS)
    model = ma.fit(line_walks, SMALL)
    assert model.provenance.steps == SMALL.pauses(STEPS)[1], "the second pause is the first that can be compared"
    assert "stopped after 4 of 40 steps" in capsys.readouterr().err
    assert ma.fit(line_walks, SMALL, steps=STEPS, progress=False).provenance.steps == STEPS
    assert ma.fit(line_walks, SMALL, held_out=0.0, progress=False).provenance.steps == STEPS


def test_fit_goes_on_while_it_gains(line_walks: Trajectories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathDist, "default_steps", STEPS)
    monkeypatch.setattr(_stopping, "_WORTH", -np.inf)
    assert ma.fit(line_walks, SMALL, progress=False).provenance.steps == STEPS


def config(log_file: Path) -> RunConfig:
    return RunConfig(
        str(log_file), "pathdist", SETTINGS, steps=STEPS, seeds=(0,), evaluations=5, held_out=0.1, stop_early=True
    )


@pytest.mark.usefixtures("nothing_is_worth_it")
@pytest.mark.parametrize("killed_at", [2, 4])
def test_a_killed_training_stops_where_it_would_have_stopped(tmp_path: Path, log_file: Path, killed_at: int) -> None:
    whole = Run.create(tmp_path / "whole", config(log_file))
    *_, finished = train([Training.of(whole)])
    assert isinstance(finished, Finished)
    killed = Run.create(tmp_path / "killed", config(log_file))
    for event in train([Training.of(killed)]):
        if not isinstance(event, Evaluated) and killed_at in killed.checkpoints:
            break
    *_, resumed = train([Training.of(killed)])
    assert isinstance(resumed, Finished)
    first, again = (event.models[0] for event in (finished, resumed))
    assert first.provenance.steps == again.provenance.steps == 4
    jax.tree.map(np.testing.assert_array_equal, first.network, again.network)
    assert [row.terms.get(SCORE) for row in whole.metrics] == [row.terms.get(SCORE) for row in killed.metrics]


@pytest.mark.usefixtures("nothing_is_worth_it")
def test_the_command_says_so_as_well(
    tmp_path: Path, log_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(PathDist, "default_steps", STEPS)
    settings = [f"{name}={value}" for name, value in SETTINGS.items()]
    assert main(["train", str(log_file), "--out", str(tmp_path / "run"), "--set", *settings]) == 0
    assert "stopped after 4 of 40 steps" in capsys.readouterr().out
    assert main(["train", str(log_file), "--out", str(tmp_path / "run"), "--set", *settings]) == 0
    assert "finished already" in capsys.readouterr().out
