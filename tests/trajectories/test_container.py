"""Trajectories as a container of episodes, and the forms of data that `fit` takes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import minaction as ma

EPISODES = [np.arange(n, dtype=float)[:, None] + 10 * n for n in (3, 5, 2, 4)]
TIMES = [2.0 * np.arange(len(episode)) for episode in EPISODES]
DATA = ma.Trajectories.from_episodes(EPISODES, TIMES, columns=["x"], time_unit="s")
TINY = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))


def test_it_is_a_sequence_of_episodes():
    assert len(DATA) == 4
    for episode, states in zip(DATA, EPISODES, strict=True):
        np.testing.assert_array_equal(episode.states, states)
        np.testing.assert_array_equal(np.asarray(episode), states)
        assert episode.duration == 2.0 * (len(states) - 1)
    assert repr(DATA[-1]) == "Episode(4 states, 6 s)"
    with pytest.raises(IndexError):
        DATA[4]
    with pytest.raises(ma.InputError):
        DATA["first"]  # type: ignore[call-overload]


def test_several_episodes_are_trajectories():
    assert DATA[1:3].lengths.tolist() == [5, 2]
    assert DATA[::-1].lengths.tolist() == [4, 2, 5, 3]
    assert DATA[[3, 0]].lengths.tolist() == [4, 3]
    np.testing.assert_array_equal(DATA[[3, 0]].states, np.concatenate([EPISODES[3], EPISODES[0]]))
    np.testing.assert_array_equal(DATA[[3, 0]].times, np.concatenate([TIMES[3], TIMES[0]]))
    assert DATA[np.array([True, False, False, True])].lengths.tolist() == [3, 4]
    with pytest.raises(ma.InputError, match="None of the 4 episodes"):
        DATA[:0]


def test_two_are_joined():
    both = DATA[:2] + DATA[2:]
    assert both.fingerprint == DATA.fingerprint
    assert both.columns == ("x",)
    steps = ma.Trajectories.from_episodes(EPISODES)
    with pytest.raises(ma.InputError, match="time unit"):
        _ = DATA + steps
    with pytest.raises(TypeError):
        _ = DATA + 1  # type: ignore[operator]


def test_split_takes_every_episode_once():
    one, other = DATA.split(0.5, seed=3)
    assert sorted([*one.lengths, *other.lengths]) == [2, 3, 4, 5]
    assert one.fingerprint == DATA.split(0.5, seed=3)[0].fingerprint
    for fraction in (0.0, 1.0):
        with pytest.raises(ma.InputError, match="Cannot split"):
            DATA.split(fraction)


def test_filter_keeps_what_is_asked_for():
    assert DATA.filter(lambda episode: episode.states[0, 0] > 30).lengths.tolist() == [5, 4]
    with pytest.raises(ma.InputError, match="None of the 4"):
        DATA.filter(lambda episode: False)


@pytest.mark.parametrize(
    "data",
    [
        np.random.default_rng(0).random((3, 6, 2)),
        [np.zeros((4, 2)), np.ones((3, 2))],
        {"states": np.random.default_rng(0).random((6, 2)), "offsets": [0, 3, 6]},
        pa.table({"episode": [0, 0, 0, 1, 1], "x": [0.0, 1.0, 0.0, 1.0, 0.0]}),
    ],
)
def test_fit_takes_what_people_have(data):
    assert ma.fit(data, TINY, steps=1, progress=False).provenance.steps == 1


def test_fit_takes_a_minari_data_set(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    minari = pytest.importorskip("minari")
    import gymnasium

    env = minari.DataCollector(gymnasium.make("CartPole-v1"))
    for seed in range(2):
        env.reset(seed=seed)
        while not any(env.step(env.action_space.sample())[2:4]):
            pass
    dataset = env.create_dataset(dataset_id="minaction/test-container-v0")
    assert ma.fit(dataset, TINY, steps=1, progress=False).state_shape == (4,)


@pytest.mark.parametrize("data", [3, None, object(), np.zeros((5, 2)), {"x": np.zeros(3)}, {1: 2}])
def test_a_wrong_type_ends_in_a_sentence(data):
    with pytest.raises(ma.InputError):
        ma.fit(data, TINY, steps=1, progress=False)
    with pytest.raises(ma.InputError):
        ma.read(data)


def test_a_notebook_shows_a_table():
    data = ma.Trajectories.from_episodes([np.zeros((3, 1))] * 7, columns=["<x>"], time_unit="s")
    shown = data._repr_html_()
    assert shown.count("<tr>") == 1 + 5
    assert "and 2 more" in shown
    assert "&lt;x&gt;" in shown
    assert "<x>" not in shown
