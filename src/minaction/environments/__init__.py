"""Gymnasium environments with known distances, registered on import, and `collect`, which records any environment."""

from __future__ import annotations

import gymnasium

from ._cliff_walking import CliffWalking as CliffWalking
from ._collect import as_state as as_state
from ._collect import collect as collect
from ._collect import recorded_shape as recorded_shape
from ._grid import NUM_ACTIONS as NUM_ACTIONS
from ._grid import GridEnvironment as GridEnvironment
from ._grid import GridWorld as GridWorld
from ._grid import TransitionGraph as TransitionGraph
from ._grid import transition_graph as transition_graph
from ._key_door import KeyDoorGridWorld as KeyDoorGridWorld
from ._noisy_grid import NoisyGridWorld as NoisyGridWorld

ENTRY_POINTS: dict[str, tuple[str, type[GridWorld]]] = {
    "minaction/CliffWalking-v0": (f"{__name__}._cliff_walking:CliffWalkingEnvironment", CliffWalking),
    "minaction/KeyDoorGridWorld-v0": (f"{__name__}._key_door:KeyDoorEnvironment", KeyDoorGridWorld),
    "minaction/NoisyGridWorld-v0": (f"{__name__}._noisy_grid:NoisyGridEnvironment", NoisyGridWorld),
}

# Needs the extra `mazes`.
ANT_TELEPORT = "minaction/AntMazeTeleport-v0"
ANT_EPISODE_STEPS = 1000


def register() -> None:
    """Register the environments with Gymnasium; calling it again changes nothing."""
    worlds = [(name, entry_point, world.episode_steps) for name, (entry_point, world) in ENTRY_POINTS.items()]
    worlds.append((ANT_TELEPORT, f"{__name__}._ant_teleport:AntTeleportEnvironment", ANT_EPISODE_STEPS))
    for name, entry_point, steps in worlds:
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point=entry_point, max_episode_steps=steps)


register()
