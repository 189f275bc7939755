"""The baseline for images: MadDist on frames as a research script has it, in eager PyTorch, with the same network."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from minaction.trajectories import Trajectories

from .plain_loop import ALPHA, CLIP_NORM, CONSTRAINT_HORIZON, TRAJECTORY_HORIZON, Sampler, plain_loss

CHANNELS, HIDDEN, LATENT = (16, 32, 32), 512, 512
CONSTRAINTS = 4  # pairs of the third term for one of the others


class FrameSampler(Sampler):
    """Frames stay uint8 on the host, as replay buffers hold them."""

    def __init__(self, data: Trajectories, seed: int) -> None:
        self.states = np.asarray(data.states)
        self.starts, self.lengths = data.offsets[:-1], data.lengths
        self.random = np.random.default_rng(seed)


class Residual(nn.Module):
    """A convolution, a pooling to half the size, and a residual block."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.entry = nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.MaxPool2d(3, stride=2, padding=1))
        self.block = nn.Sequential(
            nn.ReLU(), nn.Conv2d(outputs, outputs, 3, padding=1), nn.ReLU(), nn.Conv2d(outputs, outputs, 3, padding=1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.entry(x)
        return x + self.block(x)


class PlainImageDistance(nn.Module):
    """`ImageEncoder` and the paper's quasimetric, of uint8 frames (n, height, width, 3)."""

    def __init__(self, mean: torch.Tensor, scale: float) -> None:
        super().__init__()
        height, width, depth = mean.shape
        self.mean, self.scale = mean, scale
        stages: list[nn.Module] = []
        for channels in CHANNELS:
            stages.append(Residual(depth, channels))
            height, width, depth = -(-height // 2), -(-width // 2), channels
        self.encoder = nn.Sequential(
            *stages,
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(height * width * depth, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, LATENT),
        )

    def forward(self, states: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        frames = (torch.cat([states, goals]).float() - self.mean) / self.scale
        x, y = self.encoder(frames.permute(0, 3, 1, 2)).chunk(2)
        above = torch.relu(x - y)
        return ALPHA * above.amax(dim=-1) + (1 - ALPHA) * above.mean(dim=-1)


class PlainImageTraining:
    """One step at a time: draw, gather, copy to the device, forward, backward, clip, AdamW."""

    def __init__(self, data: Trajectories, batch: int, *, seed: int = 0, device: str = "cpu") -> None:
        self.batch, self.frames_per_step = batch, 2 * (2 + CONSTRAINTS) * batch
        torch.manual_seed(seed)
        found = None if device == "cpu" else torch.accelerator.current_accelerator()
        self.device = found or torch.device("cpu")
        self.sampler = FrameSampler(data, seed)
        sample = np.asarray(data.states[:1000], np.float32)
        mean = torch.from_numpy(sample.mean(axis=0)).to(self.device)
        self.distance = PlainImageDistance(mean, float(sample.std())).to(self.device)
        self.optimiser = torch.optim.AdamW(self.distance.parameters(), lr=1e-4, eps=1e-10, weight_decay=0.0)

    def step(self) -> torch.Tensor:
        """One gradient step; the loss before it."""
        pairs = self._to_device(*self.sampler.trajectory_pairs(self.batch, TRAJECTORY_HORIZON))
        near = self._to_device(*self.sampler.trajectory_pairs(CONSTRAINTS * self.batch, CONSTRAINT_HORIZON))
        random = self._to_device(*self.sampler.random_pairs(self.batch))
        loss = plain_loss(self.distance, pairs, near, random)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.distance.parameters(), CLIP_NORM)
        self.optimiser.step()
        return loss.detach()

    def _to_device(self, *arrays: np.ndarray) -> list[torch.Tensor]:
        return [torch.from_numpy(array).to(self.device) for array in arrays]
