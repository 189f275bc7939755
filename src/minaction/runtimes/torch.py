"""A trained model as a PyTorch module: differentiable, movable to any device, trainable further.

>>> from minaction.runtimes.torch import load  # doctest: +SKIP
>>> model = load("model.safetensors")  # doctest: +SKIP
>>> model(states, goals).sum().backward()  # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, MissingExtra

try:
    import torch
except ModuleNotFoundError:
    raise MissingExtra("A model in PyTorch", "pytorch") from None

from . import _formulas
from ._acting import Acting
from ._agent_file import StoredAgent, read_agent
from ._file import Stored, fitting, read, try_out

# What describes the data or was drawn once; JAX does not train it either.
_NOT_TRAINED = ("scale.mean", "scale.scale", "fourier.frequencies", "reach", "subgoal")


def load(path: str | Path) -> TorchModel:
    """Read a model file that `DistanceModel.save` or `minaction train` wrote."""
    stored = read(path)
    with fitting(path):
        model = TorchModel(stored)
        try_out(stored, model.distance)
    return model


def load_agent(path: str | Path) -> TorchAgent:
    """Read an agent file that `Agent.save` or `minaction agent train` wrote."""
    stored = read_agent(path)
    with fitting(path):
        agent = TorchAgent(stored)
        try_out(stored.model, agent.model.distance, agent.towards)
    return agent


class TorchModel(torch.nn.Module):
    """d(s, g) for states and goals (..., *state_shape), whose leading axes broadcast."""

    _origin: torch.Tensor | None

    def __init__(self, stored: Stored) -> None:
        super().__init__()
        self.state_shape, self.state_dtype = stored.state_shape, stored.state_dtype
        self._encoder, self._quasimetric, self._step_time = stored.encoder, stored.quasimetric, stored.step_time
        self.register_buffer("_origin", None if stored.origin is None else torch.tensor(stored.origin))
        self._names = _register(self, stored.weights)

    def forward(self, states: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        """The distances."""
        return self.measure(self.embed(states), self.embed(goals))

    def distance(self, states: ArrayLike, goals: ArrayLike) -> np.ndarray:
        """The distances as NumPy has them, without gradients."""
        with torch.no_grad():
            return self(*_tensors(self, states, goals)).cpu().numpy()

    def embed(self, states: torch.Tensor) -> torch.Tensor:
        """The embeddings phi(s), (..., latent)."""
        axes = states.ndim - len(self.state_shape)
        if axes < 0 or tuple(states.shape[axes:]) != self.state_shape:
            raise InputError(f"This model takes states of shape {self.state_shape}, not {tuple(states.shape)}.")
        weights = self._weights()
        kind = next(iter(weights.values())).dtype  # that of the weights, so that `.double()` works
        if self._origin is not None:
            states = states.double() - self._origin
        rows = states.reshape(-1, math.prod(self.state_shape)).to(kind)
        found = _formulas.encoder(_OPERATIONS, self._encoder, weights)(rows)
        return found.reshape(*states.shape[:axes], found.shape[-1])

    def measure(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """q(x, y) of embeddings; all pairs are `measure(x[:, None], y[None])`."""
        return _formulas.quasimetric(_OPERATIONS, self._quasimetric, self._weights())(x, y) * self._step_time

    def _weights(self) -> dict[str, torch.Tensor]:
        return {name: getattr(self, attribute) for name, attribute in self._names.items()}


class TorchAgent(torch.nn.Module, Acting):
    """An agent's local policy: the numbers of an action, or the scores of choices, for states and subgoals (..., D).

    `act` finds the way to a goal on the roadmap, with NumPy, and takes the policy's action towards it.
    """

    _origin: torch.Tensor | None

    def __init__(self, stored: StoredAgent) -> None:
        super().__init__()
        self.model, self.roadmap, self.lookahead = TorchModel(stored.model), stored.roadmap, stored.lookahead
        self._stored = stored
        self.register_buffer("_origin", None if stored.origin is None else torch.tensor(stored.origin))
        self._names = _register(self, stored.weights)

    def forward(self, states: torch.Tensor, subgoals: torch.Tensor) -> torch.Tensor:
        """The policy's output, (..., A) or (..., choices), not yet limited to the bounds of recorded actions."""
        weights = self._weights()
        rows = []
        for side in (states, subgoals):
            seen = side if self._origin is None else side.double() - self._origin
            rows.append(seen.to(weights["subgoal"].dtype))
        return _formulas.policy(_OPERATIONS, self._stored.hidden, self._stored.heading, weights)(*rows)

    def _local(self, state: np.ndarray, subgoal: np.ndarray) -> Any:
        with torch.no_grad():
            return self._stored.decode(self(*_tensors(self, state, subgoal)).cpu().numpy())

    def _weights(self) -> dict[str, torch.Tensor]:
        return {name: getattr(self, attribute) for name, attribute in self._names.items()}


def _register(module: torch.nn.Module, weights: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Give `module` parameters, or buffers where nothing is trained; returns each one's attribute by its name."""
    attributes = {name: name.replace(".", "_") for name in weights}  # PyTorch allows no dots
    for name, attribute in attributes.items():
        weight = torch.tensor(weights[name])
        if name.endswith(_NOT_TRAINED):
            module.register_buffer(attribute, weight)
        else:
            module.register_parameter(attribute, torch.nn.Parameter(weight))
    return attributes


def _tensors(module: torch.nn.Module, *arrays: ArrayLike) -> list[torch.Tensor]:
    device = next(module.parameters()).device
    return [torch.tensor(np.asarray(array), device=device) for array in arrays]


class _Operations:
    """PyTorch's own functions where they fit."""

    relu, selu, tanh, sigmoid = map(staticmethod, (torch.relu, torch.selu, torch.tanh, torch.sigmoid))
    sin, cos, abs = map(staticmethod, (torch.sin, torch.cos, torch.abs))
    larger = staticmethod(torch.maximum)
    exp, log, erf, sign = map(staticmethod, (torch.exp, torch.log, torch.erf, torch.sign))

    def at_least(self, x: torch.Tensor, least: float) -> torch.Tensor:
        return x.clamp_min(least)

    def halves(self, x: torch.Tensor) -> Sequence[torch.Tensor]:
        return torch.chunk(x, 2, dim=-1)

    def join(self, parts: Sequence[torch.Tensor]) -> torch.Tensor:
        return torch.cat(list(parts), dim=-1)

    def root(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x == 0, 0.0, torch.sqrt(torch.where(x == 0, 1.0, x)))

    def fixed(self, x: torch.Tensor) -> torch.Tensor:
        return x.detach()

    def sum(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(-1)

    def mean(self, x: torch.Tensor, keep: bool = False) -> torch.Tensor:
        return x.mean(-1, keepdim=keep)

    def max(self, x: torch.Tensor, keep: bool = False) -> torch.Tensor:
        return x.amax(-1, keepdim=keep)

    def single(self, x: torch.Tensor) -> torch.Tensor:
        return x[..., 0]

    def split(self, x: torch.Tensor, size: int) -> torch.Tensor:
        return x.unflatten(-1, (-1, size))

    def flattened(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1)

    def arranged(
        self, x: torch.Tensor, shape: Sequence[int], order: Sequence[int], into: Sequence[int]
    ) -> torch.Tensor:
        images = x.reshape(-1, *shape).permute(0, *(axis + 1 for axis in order))
        return images.reshape(len(images), *into)

    def convolved(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        found = torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), weight.permute(3, 2, 0, 1), padding=1)
        return found.permute(0, 2, 3, 1)

    def halved(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, 1).permute(0, 2, 3, 1)

    def rows(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1)

    def transpose(self, x: torch.Tensor) -> torch.Tensor:
        return x.T

    def sorted(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sort(x, dim=-1).values

    def covered(self, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
        low = low.expand_as(high)
        return torch.cat([low[..., :1], torch.maximum(low[..., 1:], high[..., :-1])], dim=-1)


_OPERATIONS: Any = _Operations()
