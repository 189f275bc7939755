"""The contract between an objective (what is minimised) and the trainer (how)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from .._descriptions import describe
from .._distance import Architecture
from ..encoders import MLP, Encoder
from ..errors import InputError
from ..quasimetrics import Quasimetric, Simple
from ..registry import Registry
from ..trajectories import Trajectories
from ._sampling import EpisodeTable
from ._states import States

Terms = dict[str, Float[Array, ""]]


def _own() -> Mapping[str, Any]:
    from ._presets import PRESETS

    return PRESETS


OBJECTIVES: Registry[Any] = Registry("objective", "minaction.objectives", _own)
"""Every objective by name, as published; a variant has its own name behind a hyphen."""


@dataclass(frozen=True)
class TrainingObjective(ABC):
    """What the trainer minimises, whatever is trained: hyperparameters as fields, mathematics in the docstring.

    A training step is: `sample` indices, `loss` with gradient with respect to the network, one optimiser step,
    `advance`. All of it runs inside one compiled program, on an accelerator under `vmap` over seeds. `extra` is
    whatever else the objective carries along (a target network, a multiplier).
    """

    name: ClassVar[str]
    adam_epsilon: ClassVar[float] = 1e-10
    default_steps: ClassVar[int] = 50_000
    """How long to train unless told otherwise."""

    learning_rate: float = 1e-4
    clip_norm: float | None = 50.0
    """Global gradient norm at which gradients are clipped; None for never."""
    averaging: float = 0.05
    """The network has the weights' mean over about the last this much of its steps; 0 for the very last weights. At a
    constant learning rate these jump about: from one evaluation to the next, the Pearson correlation of five seeds of
    MadDist on CliffWalking changes by up to .007, and averaged by up to .002."""

    def __post_init__(self) -> None:
        self.require_positive("learning_rate", "clip_norm")
        self.require_not_negative("averaging")
        if self.averaging > 1:
            raise InputError(f"averaging of {self.name} is a part of the training, 0 to 1, but is {self.averaging}.")

    def require_positive(self, *names: str) -> None:
        """Refuse fields that are not above 0 (NaN is not; None, where a field may be that, is let pass)."""
        for name in names:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} of {self.name} must be above 0, but is {value}.")

    def require_not_negative(self, *names: str) -> None:
        """Refuse fields that are below 0 or NaN."""
        for name in names:
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} of {self.name} must not be negative or NaN, but is {getattr(self, name)}.")

    @property
    @abstractmethod
    def architecture(self) -> Any:
        """What builds the network: `build`, `check` and `width`, as of `Architecture`."""

    def hyperparameters(self) -> dict[str, Any]:
        """All settings, as JSON can hold them."""
        return describe(self)

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        """How gradients become updates, over a training of `steps` steps."""
        del steps  # for those with a schedule
        return self.adam(self.learning_rate)

    def adam(self, learning_rate: optax.ScalarOrSchedule) -> optax.GradientTransformation:
        """Adam, gradients clipped, over all parameters as one array: a few kernels instead of dozens."""
        adam = optax.adam(learning_rate, eps=self.adam_epsilon)
        if self.clip_norm is None:
            return optax.flatten(adam)
        return optax.flatten(optax.chain(optax.clip_by_global_norm(self.clip_norm), adam))

    def tables(self, data: Trajectories) -> Any:
        """What `sample` needs to know of the data, as NumPy arrays; made once, on the host."""
        return EpisodeTable.of(data)

    def more_states(self, tables: Any) -> np.ndarray | None:
        """States (m, *shape) beyond the recorded ones that batches name, by the indices from `data.num_states` on."""
        del tables
        return None

    def init(self, network: Any, /) -> Any:
        """What is carried along beside the network."""
        del network
        return ()

    @abstractmethod
    def sample(self, key: PRNGKeyArray, tables: Any) -> Any:
        """A batch: integer arrays in it are indices of states, floating-point ones are numbers."""

    @abstractmethod
    def loss(
        self, network: Any, /, extra: Any, batch: Any, states: States, progress: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Terms]:
        """The value to minimise and its named parts; `progress` runs from 0 to 1 over the training."""

    def advance(self, network: Any, /, extra: Any, terms: Terms) -> Any:
        """What happens to `extra` after the optimiser's step."""
        del network, terms
        return extra


@dataclass(frozen=True)
class Objective(TrainingObjective):
    """An objective that trains a distance; see `TrainingObjective` for the contract.

    >>> import minaction as ma
    >>> sorted(ma.MadDist().hyperparameters())[:3]
    ['averaging', 'batch_size', 'clip_norm']
    """

    family: ClassVar[Registry[Any]] = OBJECTIVES
    asymmetric_only: ClassVar[bool] = False
    """Whether a symmetric distance would contradict what the objective is for."""

    encoder: Encoder = field(default_factory=MLP)
    quasimetric: Quasimetric = field(default_factory=Simple)

    def __post_init__(self) -> None:
        Architecture(self.encoder, self.quasimetric)  # refuses parts that do not fit each other
        super().__post_init__()
        if self.asymmetric_only and self.quasimetric.symmetric:
            raise InputError(
                f"{self.name} learns an asymmetric distance, but {self.quasimetric.name!r} is symmetric; "
                "choose a quasimetric such as 'iqe' or 'simple'."
            )

    @property
    def architecture(self) -> Architecture:
        """The shape of the distance it trains."""
        return Architecture(self.encoder, self.quasimetric)
