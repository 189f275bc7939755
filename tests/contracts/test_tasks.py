"""Every task through one set of checks."""

from __future__ import annotations

import pytest

from minaction.tasks import TASKS
from minaction.testing import check_task


def _marks(name: str) -> list[pytest.MarkDecorator]:
    """Mazes need a simulator, and exact distances of worlds with inertia take a while."""
    return [] if name.endswith(("walking", "gridworld")) else [pytest.mark.slow]


@pytest.mark.parametrize("name", [pytest.param(name, marks=_marks(name)) for name in TASKS])
def test_every_member_keeps_the_public_contract(name: str) -> None:
    if "maze" in name:
        pytest.importorskip("mujoco")
    check_task(name, episodes=2)
