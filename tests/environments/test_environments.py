"""The grid worlds as Gymnasium environments: the rules of each, the checker, reproducibility, pictures."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from minaction import environments
from minaction.environments import ENTRY_POINTS, NoisyGridWorld, register, transition_graph
from minaction.environments._cliff_walking import CliffWalking
from minaction.environments._key_door import KeyDoorGridWorld
from minaction.errors import InputError

UP, DOWN, LEFT, RIGHT = range(4)


def step_from(name: str, state: tuple[float, ...], action: int) -> tuple[tuple[float, ...], float, bool]:
    environment = gymnasium.make(name)
    environment.reset(seed=0, options={"state": state})
    _, reward, ended, _, info = environment.step(action)
    return tuple(info["state"].tolist()), float(reward), ended


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_gymnasiums_checker_passes(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Gaussian noise has no bounds, and Gymnasium points that out.
        warnings.filterwarnings("ignore", message=".*(minimum|maximum) value is -?infinity.*")
        check_env(gymnasium.make(name, render_mode="rgb_array").unwrapped)


def test_registering_again_changes_nothing() -> None:
    before = {name: gymnasium.registry[name] for name in ENTRY_POINTS}
    register()
    assert all(gymnasium.registry[name] is spec for name, spec in before.items())


def test_episodes_are_cut_after_100_steps() -> None:
    environment = gymnasium.make("minaction/KeyDoorGridWorld-v0")
    environment.reset(seed=0)
    for step in range(1, 101):
        *_, ended, cut, _ = environment.step(UP)
        assert not ended
        assert cut == (step == 100)


@pytest.mark.parametrize(
    ("state", "action", "after", "reward", "ended"),
    [
        ((0, 3), UP, (0, 2), -1, False),
        ((0, 3), RIGHT, (0, 3), -100, False),  # off the cliff, back to the start
        ((0, 3), LEFT, (0, 3), -1, False),
        ((7, 2), DOWN, (0, 3), -100, False),
        ((11, 2), DOWN, (11, 3), -1, True),
        ((11, 0), UP, (11, 0), -1, False),
        ((11, 0), RIGHT, (11, 0), -1, False),
    ],
)
def test_cliff_walking_rules(
    state: tuple[int, int], action: int, after: tuple[int, int], reward: float, ended: bool
) -> None:
    assert step_from("minaction/CliffWalking-v0", state, action) == (after, reward, ended)


@pytest.mark.parametrize(
    ("state", "action", "after", "ended"),
    [
        ((10, 1, 0), RIGHT, (11, 1, 1), False),  # picks the key up
        ((11, 1, 1), LEFT, (10, 1, 1), False),  # and keeps it
        ((6, 8, 0), DOWN, (6, 8, 0), False),  # locked
        ((6, 10, 0), UP, (6, 10, 0), False),
        ((6, 8, 1), DOWN, (6, 9, 1), True),
        ((7, 9, 1), LEFT, (6, 9, 1), True),
        ((12, 12, 0), RIGHT, (12, 12, 0), False),
        ((0, 0, 1), UP, (0, 0, 1), False),
    ],
)
def test_key_door_rules(state: tuple[int, int, int], action: int, after: tuple[int, int, int], ended: bool) -> None:
    assert step_from("minaction/KeyDoorGridWorld-v0", state, action) == (after, -1, ended)


def test_starts_and_observations_are_as_documented() -> None:
    for name, expected in (("CliffWalking", [0, 1]), ("KeyDoorGridWorld", [1 / 12, 1 / 12, 0])):
        observation, _ = gymnasium.make(f"minaction/{name}-v0").reset(seed=3)
        assert observation.dtype == np.float32
        np.testing.assert_array_equal(observation, np.array(expected, np.float32))
    environment = gymnasium.make("minaction/NoisyGridWorld-v0")
    starts = np.array([environment.reset(seed=seed)[1]["state"] for seed in range(400)])
    assert starts.min() >= 0
    assert starts.max() < 13
    assert np.abs(starts.mean(axis=0) - 6.5).max() < 4 * (13 / 12**0.5) / 20  # four standard errors
    assert np.count_nonzero(starts % 1 == 0) < 3


def test_noisy_grid_executes_the_chosen_action_five_times_in_eight() -> None:
    environment = gymnasium.make("minaction/NoisyGridWorld-v0").unwrapped
    environment.reset(seed=1)
    moves = np.zeros((4, 4))
    for chosen in range(4):
        for _ in range(1500):
            environment.reset(options={"state": (6.25, 6.25)})
            *_, info = environment.step(chosen)
            executed = [(0, -1), (0, 1), (-1, 0), (1, 0)].index(tuple(np.round(info["state"] - 6.25)))
            moves[chosen, executed] += 1 / 1500
    np.testing.assert_allclose(moves, 0.125 + 0.5 * np.eye(4), atol=4 * (0.625 * 0.375 / 1500) ** 0.5)


def test_noisy_grid_never_leaves_and_keeps_its_offset() -> None:
    environment = gymnasium.make("minaction/NoisyGridWorld-v0", max_episode_steps=3000)
    _, info = environment.reset(seed=5)
    offset = info["state"] % 1
    environment.action_space.seed(5)
    visited = []
    for _ in range(2000):
        observation, *_, info = environment.step(environment.action_space.sample())
        visited.append(np.floor(info["state"]))
        np.testing.assert_array_equal(info["state"] % 1, offset)
        np.testing.assert_array_equal(observation[:2], (info["state"] / 13).astype(np.float32))
    assert np.min(visited) == 0  # both borders were run into
    assert np.max(visited) == 12


@pytest.mark.parametrize("sigma", [0.1, 0.7])
def test_noise_is_fresh_and_of_the_given_size(sigma: float) -> None:
    environment = gymnasium.make("minaction/NoisyGridWorld-v0", sigma=sigma, max_episode_steps=5000)
    environment.reset(seed=0)
    noise = np.array([environment.step(UP)[0][2:] for _ in range(4000)])
    assert len(np.unique(noise)) == noise.size
    assert np.abs(noise.mean(axis=0)).max() < 4 * sigma / 4000**0.5
    np.testing.assert_allclose(noise.std(axis=0), sigma, rtol=4 / 8000**0.5)
    together = np.corrcoef(np.column_stack([noise[1:], noise[:-1]]).T) - np.eye(4)
    assert np.abs(together).max() < 4 / 4000**0.5  # neither with each other nor with the step before


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_the_same_seed_gives_the_same_episode(name: str) -> None:
    def episode(seed: int) -> bytes:
        environment = gymnasium.make(name)
        observation, _ = environment.reset(seed=seed)
        seen = [observation]
        for action in np.random.default_rng(0).integers(0, 4, 50):
            seen.append(environment.step(action)[0])
        return np.array(seen).tobytes()

    assert episode(4) == episode(4)
    if "Noisy" in name:
        assert episode(4) != episode(5)


@pytest.mark.parametrize(
    ("name", "shape", "states"),
    [
        ("minaction/CliffWalking-v0", (4, 12), [(0, 3), (0, 2), (5, 1), (11, 3)]),
        (
            "minaction/KeyDoorGridWorld-v0",
            (13, 13),
            [(1, 1, 0), (1, 1, 1), (6, 8, 1), (6, 9, 1), (12, 12, 0)],
        ),
        ("minaction/NoisyGridWorld-v0", (13, 13), [(0.0, 0.0), (0.5, 0.5), (0.6, 0.5), (12.99, 12.99)]),
    ],
)
def test_pictures_have_the_boards_shape_and_tell_states_apart(
    name: str, shape: tuple[int, int], states: list[Any]
) -> None:
    environment = gymnasium.make(name, render_mode="rgb_array")
    pictures = []
    for state in states:
        environment.reset(seed=0, options={"state": state})
        picture = np.asarray(environment.render())
        assert picture.dtype == np.uint8
        assert picture.shape == (shape[0] * 32 + 1, shape[1] * 32 + 1, 3)
        pictures.append(picture.tobytes())
    assert len(set(pictures)) == len(states)


def test_the_agent_is_drawn_where_it_is() -> None:
    environment = gymnasium.make("minaction/NoisyGridWorld-v0", render_mode="rgb_array")
    environment.reset(seed=0, options={"state": (3.25, 8.5)})
    picture = np.asarray(environment.render()).astype(int)
    rows, columns = np.nonzero((picture[..., 2] - picture[..., 0]) > 60)  # the only blue thing
    np.testing.assert_allclose([columns.mean() + 0.5, rows.mean() + 0.5], [3.25 * 32, 8.5 * 32], atol=0.5)


def test_without_a_render_mode_nothing_is_drawn() -> None:
    environment = environments.GridEnvironment(CliffWalking())
    environment.reset(seed=0)
    assert environment.render() is None


def test_the_graph_of_cliff_walking_has_38_states_and_127_edges() -> None:
    world = CliffWalking()
    graph = transition_graph(world, np.array([[0, 3]]))
    assert graph.states.shape == (38, 2)
    assert graph.edges.shape == (127, 2)
    goal = int(np.flatnonzero(world.terminal(graph.states))[0])
    assert not (graph.edges[:, 0] == goal).any()


def test_states_that_can_occur_are_exactly_those_that_can_be_reached() -> None:
    for world, start in ((CliffWalking(), [0, 3]), (KeyDoorGridWorld(), [1, 1, 0])):
        ranges = [range(-1, 14), range(-1, 14), range(-1, 3)][: len(start)]
        everything = np.stack(np.meshgrid(*ranges), axis=-1).reshape(-1, len(start))
        possible = {tuple(state) for state in everything[world.is_state(everything)].tolist()}
        assert possible == {tuple(state) for state in transition_graph(world, np.array([start])).states.tolist()}


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("minaction/CliffWalking-v0", (5, 3)),  # on the cliff
        ("minaction/CliffWalking-v0", (0.5, 2)),
        ("minaction/CliffWalking-v0", (1, 2, 0)),
        ("minaction/KeyDoorGridWorld-v0", (11, 1, 0)),  # at the key without having it
        ("minaction/KeyDoorGridWorld-v0", (6, 9, 0)),
        ("minaction/NoisyGridWorld-v0", (13.0, 1.0)),
        ("minaction/NoisyGridWorld-v0", (float("nan"), 1.0)),
        ("minaction/NoisyGridWorld-v0", "here"),
    ],
)
def test_a_state_that_cannot_occur_is_refused(name: str, state: Any) -> None:
    with pytest.raises(InputError, match="state"):
        gymnasium.make(name).reset(options={"state": state})


def test_other_bad_input_is_refused() -> None:
    environment = environments.GridEnvironment(CliffWalking())
    with pytest.raises(InputError, match="reset"):
        environment.step(0)
    environment.reset()
    with pytest.raises(InputError, match="no action 4"):
        environment.step(4)
    with pytest.raises(InputError, match="render mode"):
        environments.GridEnvironment(CliffWalking(), render_mode="human")
    for sigma in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="sigma"):
            NoisyGridWorld(sigma)
