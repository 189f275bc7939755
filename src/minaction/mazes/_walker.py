"""The policy that walks OGBench's ant in a commanded direction: its inputs and its actions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._files import read_tensors, write_tensors

FEATURES = 29
KIND = "ant walker"
SHIPPED = Path(__file__).with_name("ant_walker.safetensors")
# Rows of a matrix product: always the same number, so that an action does not depend on how many ants there are, and
# few, so that NumPy does not start threads, which cost far more than they gain here.
_ROWS = 4

# The ant looks the same after a quarter turn. Seen from a torso turned by 90 degrees, a vector (x, y, z) is (y, -x, z)
# and every leg has the next one's place, with the sign of some ankles changed.
_VECTOR, _VECTOR_SIGNS = [1, 0, 2], [1, -1, 1]
_LEGS, _LEG_SIGNS = [2, 3, 4, 5, 6, 7, 0, 1], [1, -1, 1, 1, 1, -1, 1, 1]
_TORQUES = [2, 3, 4, 5, 6, 7, 0, 1]  # torques begin with the fourth leg, joint angles with the first


def _four_turns(order: list[int], signs: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The order and signs of the numbers after 0, 1, 2 and 3 quarter turns, given those of one turn."""
    orders, all_signs = [np.arange(len(order))], [np.ones(len(order), dtype=np.float32)]
    for _ in range(3):
        all_signs.append(all_signs[-1][order] * np.array(signs, dtype=np.float32))
        orders.append(orders[-1][order])
    return np.stack(orders), np.stack(all_signs)


_FEATURE_TURNS = _four_turns(
    [0] + [1 + 3 * v + i for v in range(4) for i in _VECTOR] + [13 + 8 * v + i for v in range(2) for i in _LEGS],
    [1] + 4 * _VECTOR_SIGNS + 2 * _LEG_SIGNS,
)
_ACTION_TURNS = _four_turns(
    [_TORQUES[_LEGS[_TORQUES.index(k)]] for k in range(8)], [_LEG_SIGNS[_TORQUES.index(k)] for k in range(8)]
)


def turn_features(seen: Any, quarters: Any, xp: Any = np) -> Any:
    """Features (..., 29) as seen from a torso turned by that many quarters (...)."""
    orders, signs = (xp.asarray(table) for table in _FEATURE_TURNS)
    return xp.take_along_axis(seen, orders[quarters], axis=-1) * signs[quarters]


def turn_actions(actions: Any, quarters: Any, xp: Any = np) -> Any:
    """Torques (..., 8) as they are numbered on a torso turned by that many quarters (...)."""
    orders, signs = (xp.asarray(table) for table in _ACTION_TURNS)
    return xp.take_along_axis(actions, orders[quarters], axis=-1) * signs[quarters]


def quarters_ahead(seen: Any, xp: Any = np) -> Any:
    """By how many quarters to turn the torso of features (..., 29) so that the command points ahead, within 45 degrees.

    A policy that sees the ant turned like this has only a quarter of the commands to learn, and treats all alike.
    """
    angle = xp.arctan2(seen[..., 5], seen[..., 4])
    return xp.round(angle / (0.5 * np.pi)).astype(int) % 4


def features(states: Any, directions: Any, xp: Any = np) -> Any:
    """What the policy sees (..., 29) of states (..., 27 from the height on) and unit directions (..., 2).

    Height (1); then as seen from the torso up, the commanded direction, velocity and rotation (3 each); joint
    angles and their velocities (8 each). Which way the ant faces does not affect how it walks, so the policy need
    not learn it.
    """
    quaternion = states[..., 1:5]
    w, x, y, z = xp.moveaxis(quaternion / xp.linalg.norm(quaternion, axis=-1, keepdims=True), -1, 0)
    east = xp.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1)
    north = xp.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=-1)
    up = xp.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)
    command = directions[..., :1] * east + directions[..., 1:] * north
    linear = states[..., 13:14] * east + states[..., 14:15] * north + states[..., 15:16] * up
    rotation, joints, joint_rates = states[..., 16:19], states[..., 5:13], states[..., 19:27]
    return xp.concatenate([states[..., :1], up, command, linear, rotation, joints, joint_rates], axis=-1)


@dataclass(frozen=True)
class Walker:
    """A deterministic walking policy: three layers of weights (outputs, inputs) and biases."""

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]
    card: dict[str, Any]
    """How it was trained and how well it walks."""

    def actions(self, states: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Torques (n, 8) that walk ants in states (n, 29) along unit directions (n, 2)."""
        count = len(states)
        seen = features(states[:, 2:], directions)
        quarters = quarters_ahead(seen)
        x = np.zeros((-(-count // _ROWS), _ROWS, FEATURES), dtype=np.float32)
        x.reshape(-1, FEATURES)[:count] = turn_features(seen, quarters)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = np.maximum(x @ weight.T + bias, 0.0)
        torques = np.tanh(x @ self.weights[-1].T + self.biases[-1])
        ahead = torques.reshape(-1, torques.shape[-1])[:count].astype(np.float64)
        return turn_actions(ahead, -quarters % 4)

    def save(self, path: str | Path) -> None:
        """Write the weights, with the card as header."""
        tensors = {f"weight{k}": weight for k, weight in enumerate(self.weights)}
        tensors |= {f"bias{k}": bias for k, bias in enumerate(self.biases)}
        write_tensors(path, KIND, tensors, {"card": self.card})

    @classmethod
    def load(cls, path: str | Path | None = None) -> Walker:
        """A saved policy; without a path the one that comes with this package."""
        tensors, header = read_tensors(SHIPPED if path is None else path, KIND)
        layers = range(len(tensors) // 2)
        weights, biases = (tuple(tensors[f"{name}{k}"] for k in layers) for name in ("weight", "bias"))
        return cls(weights, biases, header["card"])
