"""The planner on an open plane, where what it says can be recomputed."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from minaction.errors import InputError
from minaction.mazes._layouts import OGBENCH_LAYOUTS
from minaction.planning import RandomShooting, euclidean, plan, untrained
from minaction.planning._random_shooting import score_function


class Plane:
    """No walls."""

    def step(self, states: jax.Array, actions: jax.Array) -> jax.Array:
        return states + 0.2 * actions


PLANE = Plane()
RANDOM = np.random.default_rng(0)
STARTS, GOALS = RANDOM.uniform(-3, 3, (2, 20, 2))
DRAWS = np.stack([np.zeros(20, int), np.arange(20)], axis=1)


@pytest.mark.parametrize("every", [1, 3, 7])
def test_the_score_is_the_least_distance_on_the_way(every: int) -> None:
    settings = RandomShooting(candidates=30, horizon=20, repeat=6, interval=20, score_every=every)
    actions, scores = plan(settings, PLANE, euclidean, STARTS, GOALS, DRAWS)
    assert actions.shape == (20, 20, 2)
    visited = STARTS[:, None] + 0.2 * np.cumsum(actions, axis=1)
    distances = np.hypot(*np.moveaxis(visited - GOALS[:, None], -1, 0))
    scored = [step for step in range(20) if (step + 1) % every == 0 or step == 19]
    assert np.allclose(distances[:, scored].min(axis=1), scores, atol=1e-5)
    for held in np.split(actions, [6, 12, 18], axis=1):
        assert (held == held[:, :1]).all()


def test_more_candidates_score_better() -> None:
    few, many = (
        plan(RandomShooting(candidates=count), PLANE, euclidean, STARTS, GOALS, DRAWS)[1].mean() for count in (2, 200)
    )
    assert many < 0.7 * few


def test_an_episode_does_not_depend_on_the_others() -> None:
    settings = RandomShooting(candidates=10)
    together, _ = plan(settings, PLANE, euclidean, STARTS, GOALS, DRAWS)
    alone, _ = plan(settings, PLANE, euclidean, STARTS[7:8], GOALS[7:8], DRAWS[7:8])
    assert np.array_equal(together[7:8], alone)
    others, _ = plan(settings, PLANE, euclidean, STARTS, GOALS, DRAWS + 100)
    assert not np.array_equal(together, others)


def test_zero_candidates_are_refused() -> None:
    with pytest.raises(InputError, match="candidates is 0; it must be at least 1"):
        RandomShooting.for_maze("medium", candidates=0)


def test_executing_more_than_was_looked_ahead_is_refused() -> None:
    with pytest.raises(InputError, match="interval of 60 steps is longer than its horizon of 50"):
        RandomShooting(interval=60)


def test_a_model_scores_pairs_and_one_of_other_states_is_refused() -> None:
    model = untrained(OGBENCH_LAYOUTS["medium"])
    score = score_function(model, (2,))
    states, goals = jnp.asarray(STARTS, jnp.float32), jnp.asarray(GOALS, jnp.float32)
    found = score(states[:, None], goals[None])  # leading axes broadcast
    assert np.allclose(found, model.pairwise(STARTS, GOALS), rtol=1e-4)
    with pytest.raises(InputError, match="takes states of 2 numbers, but the simulator's have 4"):
        score_function(model, (4,))
