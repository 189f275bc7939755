"""What a task says about its states without making any."""

from __future__ import annotations

import pytest

from minaction.tasks import TASKS, get_task

ONE_OF_EACH = (
    *("cliffwalking", "noisy-gridworld", "keydoor-gridworld", "pointmaze-umaze"),
    *("mountaincar", "parts-2", "one-way-ring", "sparse-grid"),
    *("ogbench-pointmaze-medium-stitch", "ogbench-antmaze-medium-explore", "ogbench-antmaze-teleport-explore"),
)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_states_have_the_shape_that_was_said(name: str) -> None:
    task = get_task(name)
    assert task.trajectories(0, episodes=1).state_shape == task.state_shape


@pytest.mark.parametrize("name", sorted(TASKS))
def test_what_is_drawn_has_it_too(name: str) -> None:
    layout = get_task(name).layout()
    assert layout is not None
    assert layout.states.shape[1:] == get_task(name).state_shape
