"""The baseline: MadDist as a research script usually has it: eager PyTorch, NumPy choosing each batch on the host."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import nn

from minaction.trajectories import Trajectories

HIDDEN = (512, 512, 256, 128)
LATENT = 512
BATCH, CONSTRAINT_BATCH = 256, 1024
TRAJECTORY_HORIZON, CONSTRAINT_HORIZON = 500, 6
SEPARATION_LIMIT, SEPARATION_WEIGHT, CONSTRAINT_WEIGHT = 500.0, 10.0, 0.01
CLIP_NORM = 50.0
ALPHA = 0.9


class Sampler:
    """States of the data set, standardised, and pairs of them drawn by NumPy."""

    def __init__(self, data: Trajectories, seed: int) -> None:
        states = np.asarray(data.states)
        self.states = (states - states.mean(axis=0)) / states.std(axis=0)
        usable = data.lengths >= 2
        self.starts, self.lengths = data.offsets[:-1][usable], data.lengths[usable]
        self.random = np.random.default_rng(seed)

    def trajectory_pairs(self, count: int, horizon: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First state, second state and the steps between, `count` times."""
        episode = self.random.integers(len(self.starts), size=count)
        start, length = self.starts[episode], self.lengths[episode]
        offset = self.random.integers(length - 1)
        gap = 1 + self.random.integers(np.minimum(length - 1 - offset, horizon))
        first = start + offset
        return self.states[first], self.states[first + gap], gap.astype(np.float32)

    def random_pairs(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Two states anywhere, `count` times."""
        first, second = self.random.integers(len(self.states), size=(2, count))
        return self.states[first], self.states[second]


class PlainDistance(nn.Module):
    """The same network and quasimetric as the paper's."""

    def __init__(self, state_size: int) -> None:
        super().__init__()
        widths = (state_size, *HIDDEN, LATENT)
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise(widths):
            linear = nn.Linear(inputs, outputs)
            nn.init.normal_(linear.weight, std=inputs**-0.5)
            nn.init.zeros_(linear.bias)
            layers += [linear, nn.SELU()]
        self.encoder = nn.Sequential(*layers[:-1])

    def forward(self, states: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        above = torch.relu(self.encoder(states) - self.encoder(goals))
        return ALPHA * above.amax(dim=-1) + (1 - ALPHA) * above.mean(dim=-1)


class PlainTraining:
    """One step at a time: draw, gather, copy to the device, forward, backward, clip, AdamW."""

    def __init__(self, data: Trajectories, *, seed: int = 0, device: str = "cpu") -> None:
        torch.manual_seed(seed)
        found = None if device == "cpu" else torch.accelerator.current_accelerator()
        self.device = found or torch.device("cpu")
        self.sampler = Sampler(data, seed)
        self.distance = PlainDistance(data.state_shape[0]).to(self.device)
        self.optimiser = torch.optim.AdamW(self.distance.parameters(), lr=1e-4, eps=1e-10, weight_decay=0.0)

    def step(self) -> torch.Tensor:
        """One gradient step; the loss before it."""
        pairs = self._to_device(*self.sampler.trajectory_pairs(BATCH, TRAJECTORY_HORIZON))
        near = self._to_device(*self.sampler.trajectory_pairs(CONSTRAINT_BATCH, CONSTRAINT_HORIZON))
        random = self._to_device(*self.sampler.random_pairs(BATCH))
        loss = plain_loss(self.distance, pairs, near, random)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.distance.parameters(), CLIP_NORM)
        self.optimiser.step()
        return loss.detach()

    def _to_device(self, *arrays: np.ndarray) -> list[torch.Tensor]:
        return [torch.from_numpy(array).to(self.device) for array in arrays]


def plain_loss(
    distance: nn.Module, pairs: list[torch.Tensor], near: list[torch.Tensor], random: list[torch.Tensor]
) -> torch.Tensor:
    """MadDist's loss of (first, second, steps between), the same at most a few steps apart, and (first, second)."""
    first, second, elapsed = pairs
    trajectory = ((distance(first, second) / elapsed - 1) ** 2).mean()
    separation = (torch.relu(1 - distance(*random) / SEPARATION_LIMIT) ** 2).mean()
    first, second, elapsed = near
    constraint = (torch.relu(distance(first, second) - elapsed) ** 2).sum()
    return trajectory + SEPARATION_WEIGHT * separation + CONSTRAINT_WEIGHT * constraint
