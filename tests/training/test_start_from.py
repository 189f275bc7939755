"""A day's work: going on from a model, interrupting, and data that changes under a finished run."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minaction as ma
from minaction.cli import main

TINY = ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=8))
RANDOM = np.random.default_rng(0)
WALKS = [np.cumsum(RANDOM.normal(size=(30, 2)), axis=0) for _ in range(24)]
DATA = ma.Trajectories.from_episodes(WALKS)
SMALL = ["--objective", "maddist", "--set", "encoder.hidden=16", "encoder.latent=8", "--evaluations", "1"]


def fit(data: Any = DATA, *args: Any, **options: Any) -> ma.DistanceModel:
    return ma.fit(data, *args, progress=False, **options)


def weights(model: ma.DistanceModel) -> np.ndarray:
    import jax

    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(model.network)])


def write_log(path: Path, walks: list[np.ndarray] = WALKS) -> None:
    rows = [f"{k},{x},{y}" for k, walk in enumerate(walks) for x, y in walk]
    path.write_text("\n".join(["episode,x,y", *rows]))


def test_training_goes_on_from_the_weights_of_a_model(tmp_path):
    first = fit(DATA, TINY, steps=200)
    again = fit(DATA, steps=1, start_from=first)
    assert again.provenance.objective == "maddist"
    assert again.architecture == first.architecture
    fresh = fit(DATA, TINY, steps=1)
    moved, anew = (np.abs(weights(one) - weights(first)).mean() for one in (again, fresh))
    assert moved < 0.05 * anew
    first.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(weights(fit(steps=1, start_from=tmp_path / "model.safetensors")), weights(again))


def test_the_units_of_the_first_recording_stay():
    """New data far off and at another pace is measured in the units that the weights know."""
    times = [0.5 * np.arange(len(walk)) for walk in WALKS]
    first = fit(ma.Trajectories.from_episodes(WALKS, times, time_unit="s"), TINY, steps=50)
    slow = ma.Trajectories.from_episodes(WALKS, [2 * one for one in times], time_unit="s")
    again = fit(slow, steps=1, start_from=first)
    assert again.units.time == first.units.time == 0.5
    there = again.distance(WALKS[0], WALKS[1])
    np.testing.assert_allclose(there, first.distance(WALKS[0], WALKS[1]), rtol=0.2, atol=0.2)


def test_several_seeds_start_from_one_model():
    first = fit(DATA, TINY, steps=20)
    models = ma.fit(DATA, steps=1, seeds=(0, 1), start_from=first, progress=False)
    assert [model.provenance.seed for model in models] == [0, 1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"objective": ma.MadDist(encoder=ma.MLP(hidden=(32,), latent=8))},
            r"has encoder\.hidden=16, but encoder\.hidden=32 is to be trained; leave the objective out, .*--set",
        ),
        (
            {"objective": ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=8), quasimetric=ma.MRN())},
            r"has quasimetric=\w+, but quasimetric=mrn is to be trained",
        ),
        (
            {"data": [np.zeros((5, 2), np.uint8) + k for k in range(3)]},
            "takes float64 states .*, but the data has uint8",
        ),
        ({"data": [np.zeros((5, 3)) + k for k in range(3)]}, "states of 2 numbers, but the data has"),
        ({"data": ma.Trajectories.from_episodes(WALKS, columns=["y", "x"])}, "the columns x, y, but the data has y, x"),
        ({"data": ma.Trajectories.from_episodes(WALKS, [np.arange(30.0)] * 24, time_unit="s")}, "counts in actions"),
        ({"start_from": 3}, "Cannot start from an object of type int"),
        ({"start_from": "nowhere.safetensors"}, "There is no file"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(change, said):
    model = fit(ma.Trajectories.from_episodes(WALKS, columns=["x", "y"]), TINY, steps=2)
    options: dict[str, Any] = {"data": DATA, "steps": 1, "start_from": model, "progress": False, **change}
    with pytest.raises(ma.InputError, match=said):
        ma.fit(**options)


@pytest.mark.parametrize(("one", "other"), [(np.float64, np.float32), (np.float32, np.float64)])
def test_either_floating_type_goes_on_from_the_other(one, other):
    """CSV gives float64 and Parquet float32 for the same columns."""
    first = fit(ma.Trajectories.from_episodes([walk.astype(one) for walk in WALKS]), TINY, steps=20)
    again = fit(ma.Trajectories.from_episodes([walk.astype(other) for walk in WALKS]), steps=1, start_from=first)
    for dtype in (one, other):
        asked = WALKS[0].astype(dtype)
        np.testing.assert_array_equal(again.distance(asked, asked[::-1]), again.distance(WALKS[0], WALKS[0][::-1]))
    third = fit(ma.Trajectories.from_episodes([walk.astype(one) for walk in WALKS]), steps=1, start_from=again)
    assert third.state_dtype == np.dtype(one).name


def test_single_precision_does_not_stand_for_coordinates_far_from_zero():
    far = [walk + 5e6 for walk in WALKS]
    first = fit(ma.Trajectories.from_episodes(far), TINY, steps=2)
    assert first.units.origin is not None
    coarse = ma.Trajectories.from_episodes([walk.astype(np.float32) for walk in far])
    with pytest.raises(ma.InputError, match="takes float64 states of 2 numbers, but the data has float32"):
        fit(coarse, steps=1, start_from=first)


def test_the_command_line_starts_from_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_log(Path("log.csv"))
    assert main(["train", "log.csv", *SMALL, "--steps", "50", "--out", "first"]) == 0
    again = ["train", "log.csv", "--steps", "1", "--evaluations", "1", "--start-from", "first", "--out", "second"]
    assert main(again) == 0
    near = np.abs(weights(ma.load("second")) - weights(ma.load("first"))).mean()
    assert near < 0.01
    assert ma.load("second").provenance.objective == "maddist"
    capsys.readouterr()
    assert main([*again[:-1], "third", "--set", "encoder.hidden=8"]) == 2
    said = capsys.readouterr().err
    assert "has encoder.hidden=16, but encoder.hidden=8 is to be trained" in said
    assert "--set" in said
    assert "Architecture(" not in said
    assert main([*again[:-1], "third", "--start-from", "nowhere"]) == 2
    assert not Path("third").exists()


def test_an_interrupt_returns_what_there_is():
    def press(event: object) -> None:
        if isinstance(event, ma.Progressed) and event.step >= 20:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.warns(UserWarning, match=r"Interrupted at step \d+ of 100,000"):
        model = fit(DATA, TINY, steps=100_000, on_event=press)
    assert 20 <= model.provenance.steps < 1000
    assert model.health is not None
    assert model.coverage(WALKS[0][0]) == 0
    assert np.isfinite(model.distance(WALKS[0], WALKS[1])).all()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_is_not_held_back():
    def press_twice(event: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        fit(DATA, TINY, steps=100_000, on_event=press_twice)


def test_a_finished_run_notices_that_its_data_changed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_log(Path("log.csv"))
    command = ["train", "log.csv", *SMALL, "--steps", "2", "--out", "run"]
    assert main(command) == 0
    capsys.readouterr()
    assert main(command) == 0
    assert "is finished already" in capsys.readouterr().out
    write_log(Path("log.csv"), [*WALKS, WALKS[0] + 0.1])
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "log.csv has changed since" in said
    assert "--overwrite trains anew" in said
    assert "Traceback" not in said
    assert main([*command, "--overwrite"]) == 0


def test_what_is_learned_is_given_in_many_ways(tmp_path):
    write_log(tmp_path / "log.csv")
    assert fit(tmp_path / "log.csv", TINY, steps=1).columns == ("x", "y")
    assert fit(str(tmp_path / "log.csv"), "tautdist", steps=1).provenance.objective == "tautdist"
    assert fit(DATA, ma.TautDist, steps=1).provenance.objective == "tautdist"
    with pytest.raises(ma.InputError, match="tautdist"):
        fit(DATA, "tautdst", steps=1)
    with pytest.raises(ma.InputError, match=r"log\.csv"):
        fit(str(tmp_path / "lg.csv"), steps=1)


def test_an_environment_is_recorded_by_its_id(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    command = ["train", "MountainCar-v0", *SMALL, "--steps", "2", "--episodes", "3", "--out", str(tmp_path / "run")]
    assert main(command) == 2
    assert "give --policy random" in capsys.readouterr().err
    assert main([*command, "--policy", "random"]) == 0
    assert ma.load(tmp_path / "run").state_shape == (2,)
    data = ma.read("MountainCar-v0", policy="random", episodes=3)
    assert data.fingerprint == ma.collect("MountainCar-v0", episodes=3).fingerprint
    assert ma.read("CliffWalking-v1", policy="random", episodes=2).state_shape == (48,)  # a choice is one-hot
    for source, policy in (("MountainCar-v9", "random"), ("cliffwalking", "random"), ("MountainCar-v0", "clever")):
        with pytest.raises(ma.InputError):
            ma.read(source, policy=policy)


def test_ids_are_one_hot_encoded_where_asked_for(tmp_path, capsys):
    cells = np.cumsum(RANDOM.choice([-1, 1, 12, -12], size=(30, 60)), axis=1) % 48
    rows = [f"{k},{cell},{0.5 * cell}" for k, walk in enumerate(cells) for cell in walk]
    (tmp_path / "log.csv").write_text("\n".join(["episode,cell,height", *rows]))
    data = ma.read(tmp_path / "log.csv", states=["cell"], one_hot=["cell"])
    assert data.columns == tuple(f"cell={k}" for k in range(48))
    np.testing.assert_array_equal(data.states.argmax(axis=1), cells.ravel())
    assert (data.states.sum(axis=1) == 1).all()
    run = ["train", str(tmp_path / "log.csv"), *SMALL, "--steps", "1", "--states", "cell"]
    assert main([*run, "--one-hot", "cell", "--out", str(tmp_path / "a")]) == 0
    assert "if they are ids" not in capsys.readouterr().out.replace("\n", " ")
    assert main([*run, "--out", str(tmp_path / "b")]) == 0
    assert "--one-hot" in capsys.readouterr().out.replace("\n", " ")
    with pytest.raises(ma.InputError, match="'height' cannot be one-hot encoded"):
        ma.read(tmp_path / "log.csv", one_hot=["height"])
