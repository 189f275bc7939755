"""The walking policy: what it sees, that it does not depend on company, and that the shipped one walks."""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from minaction.errors import InputError
from minaction.mazes._ant import reset_noise, reset_states
from minaction.mazes._walker import SHIPPED, Walker, features, quarters_ahead, turn_actions, turn_features
from minaction.mazes._walking import Gait, measure_gait, random_directions


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """The matrix of a rotation by rotating the axes one by one, quaternion times axis times conjugate."""

    def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        scalar = p[0] * q[0] - p[1:] @ q[1:]
        return np.concatenate([[scalar], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])

    q = quaternion / np.linalg.norm(quaternion)
    axes = np.concatenate([np.zeros((3, 1)), np.eye(3)], axis=1)
    return np.stack([product(product(q, axis), q * [1, -1, -1, -1])[1:] for axis in axes], axis=1)


def some_states(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    states = reset_states(random.normal(size=(count, 2)), reset_noise(random, count) + random.normal(size=(count, 29)))
    return states, random_directions(random, count)


def test_features_are_the_world_seen_from_the_torso() -> None:
    states, directions = some_states(20)
    seen = features(states[:, 2:], directions)
    for state, direction, found in zip(states, directions, seen, strict=True):
        to_torso = rotation(state[3:7]).T
        expected = [
            state[2:3],
            to_torso @ [0, 0, 1],
            to_torso @ [*direction, 0],
            to_torso @ state[15:18],
            state[18:21],
            state[7:15],
            state[21:29],
        ]
        np.testing.assert_allclose(found, np.concatenate(expected), atol=1e-12)
    in_jax = features(jnp.asarray(states[:, 2:]), jnp.asarray(directions), jnp)
    np.testing.assert_allclose(in_jax, seen, atol=1e-5)


def test_an_action_does_not_depend_on_how_many_ants_there_are() -> None:
    walker = Walker.load()
    states, directions = some_states(101)
    together = walker.actions(states, directions)
    assert together.shape == (101, 8)
    assert np.abs(together).max() <= 1
    for part in (slice(0, 1), slice(3, 5), slice(7, 60), slice(90, 101)):
        np.testing.assert_array_equal(walker.actions(states[part], directions[part]), together[part])


def test_actions_are_those_of_a_plain_perceptron() -> None:
    walker = Walker.load()
    states, directions = some_states(6)
    seen = features(states[:, 2:], directions)
    quarters = quarters_ahead(seen)
    x = last = turn_features(seen, quarters)
    for weight, bias in zip(walker.weights, walker.biases, strict=True):
        last = x @ weight.T.astype(np.float64) + bias
        x = np.maximum(last, 0)
    expected = turn_actions(np.tanh(last), -quarters % 4)
    np.testing.assert_allclose(walker.actions(states, directions), expected, atol=1e-4)


def test_a_policy_survives_being_saved(tmp_path: Path) -> None:
    walker = Walker.load()
    walker.save(tmp_path / "walker.safetensors")
    again = Walker.load(tmp_path / "walker.safetensors")
    assert again.card == walker.card
    states, directions = some_states(3)
    np.testing.assert_array_equal(again.actions(states, directions), walker.actions(states, directions))
    with pytest.raises(InputError, match="no file"):
        Walker.load(tmp_path / "nothing.safetensors")


def test_the_shipped_policy_is_small_and_has_a_card() -> None:
    assert SHIPPED.stat().st_size < 2**20
    card = Walker.load().card
    text = SHIPPED.with_suffix(".md").read_text()
    assert f"{card['trained']['steps']:,} steps" in text
    assert f"MuJoCo {card['measured']['mujoco']}" in text
    calm, noisy = card["measured"]["without noise"], card["measured"]["with noise 0.2"]
    assert f"{calm['speed']:.3f}" in text
    assert calm["speed"] >= 0.2
    assert noisy["speed"] >= 0.18
    assert calm["cosine"] >= 0.9
    for gait in (calm, noisy):
        assert gait["straightness"] >= 0.9
        assert gait["healthy"] >= 0.98
    assert card["measured"]["navigate"]["goals per 1000 steps"] >= 5


@pytest.mark.parametrize(("noise", "least"), [(0.0, 0.19), (0.2, 0.17)])
def test_the_shipped_policy_walks(noise: float, least: float) -> None:
    pytest.importorskip("ogbench")
    gait = measure_gait(Walker.load(), episodes=20, steps=200, noise=noise, seed=3)
    assert gait.speed > least
    assert gait.cosine > 0.87
    assert gait.straightness > 0.9
    assert gait.healthy >= 0.9
    assert gait == measure_gait(Walker.load(), episodes=20, steps=200, noise=noise, seed=3, threads=2)


def test_a_policy_that_does_nothing_goes_nowhere() -> None:
    pytest.importorskip("ogbench")
    still = Walker(tuple(np.zeros_like(w) for w in Walker.load().weights), Walker.load().biases, {})
    still = Walker(still.weights, tuple(np.zeros_like(b) for b in still.biases), {})
    gait = measure_gait(still, episodes=4, steps=40)
    assert isinstance(gait, Gait)
    assert abs(gait.speed) < 0.02
    assert gait.upright == 1.0


def turned(states: np.ndarray) -> np.ndarray:
    """The same ants with the torso's frame turned by 90 degrees about its up, so that every leg is another."""
    twins = states.copy()
    w, x, y, z = states[:, 3:7].T
    twins[:, 3:7] = np.stack([w - z, x + y, y - x, z + w], axis=1) / 2**0.5
    legs, signs = [2, 3, 4, 5, 6, 7, 0, 1], np.array([1, -1, 1, 1, 1, -1, 1, 1])
    twins[:, 7:15], twins[:, 21:29] = states[:, 7:15][:, legs] * signs, states[:, 21:29][:, legs] * signs
    twins[:, 18:21] = np.stack([states[:, 19], -states[:, 18], states[:, 20]], axis=1)
    return twins


def test_a_turned_ant_does_the_same() -> None:
    """The symmetry that the policy makes use of: stepping and turning by 90 degrees can be exchanged."""
    pytest.importorskip("ogbench")
    from minaction.mazes._ant import Ants, flat_ground

    random = np.random.default_rng(0)
    alone, both, once = Ants(flat_ground(), 1), Ants(flat_ground(), 2), np.array([1])
    state = reset_states(np.zeros((1, 2)), reset_noise(random, 1))
    alone.place(state)
    for _ in range(15):  # until it stands on its legs
        state = alone.step(random.uniform(-1, 1, (1, 8)))
    both.place(np.concatenate([state, turned(state)]))
    direction = np.array([[0.6, 0.8], [0.6, 0.8]])
    for _ in range(10):
        action = random.uniform(-1, 1, (1, 8))
        after = both.step(np.concatenate([action, turn_actions(action, once)]))
        seen = features(after[:, 2:], direction)
        np.testing.assert_allclose(turn_features(seen[:1], once), seen[1:], atol=1e-9)
        np.testing.assert_allclose(after[0, :2], after[1, :2], atol=1e-9)


def test_the_policy_treats_turned_ants_alike() -> None:
    states, directions = some_states(30)
    walker, once = Walker.load(), np.ones(30, dtype=np.int64)
    expected = turn_actions(walker.actions(states, directions), once)
    np.testing.assert_allclose(walker.actions(turned(states), directions), expected, atol=1e-5)


def test_the_command_is_seen_ahead() -> None:
    states, directions = some_states(200)
    seen = features(states[:, 2:], directions)
    quarters = quarters_ahead(seen)
    assert set(quarters.tolist()) == {0, 1, 2, 3}
    ahead = turn_features(seen, quarters)
    assert (ahead[:, 4] >= np.abs(ahead[:, 5]) - 1e-12).all()
    np.testing.assert_allclose(turn_features(ahead, -quarters % 4), seen)
    actions = np.random.default_rng(0).normal(size=(200, 8))
    np.testing.assert_array_equal(turn_actions(turn_actions(actions, quarters), -quarters % 4), actions)
