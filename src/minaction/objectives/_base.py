"""The interface between an objective (what is minimised) and the trainer (how)."""

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
"""Every objective by name, with its published settings; the name of a variant has a suffix after a hyphen."""


@dataclass(frozen=True)
class TrainingObjective(ABC):
    """What the trainer minimises: hyperparameters as fields, mathematics in the docstring.

    A training step is: `sample` indices, `loss` with its gradient with respect to the network, one optimiser step,
    `advance`. All of it runs inside one compiled program, on an accelerator under `vmap` over seeds. `extra` is
    any other state of the objective (a target network, a multiplier).
    """

    name: ClassVar[str]
    adam_epsilon: ClassVar[float] = 1e-10
    default_steps: ClassVar[int] = 50_000
    """The number of steps to train for by default."""

    learning_rate: float = 1e-4
    clip_norm: float | None = 50.0
    # At a constant learning rate the latest weights fluctuate: from one evaluation to the next, the Pearson correlation
    # of five seeds of MadDist on CliffWalking changes by up to .007, and with averaged weights by up to .002.
    averaging: float = 0.05

    def __post_init__(self) -> None:
        self.require_positive("learning_rate", "clip_norm")
        self.require_not_negative("averaging")
        if self.averaging > 1:
            raise InputError(
                f"averaging of {self.name} is a share of the training, from 0 to 1, but is {self.averaging}."
            )

    def require_positive(self, *names: str) -> None:
        """Raise an `InputError` unless the fields called `names` are above 0 or None; NaN is refused."""
        for name in names:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} of {self.name} must be above 0, but is {value}.")

    def require_not_negative(self, *names: str) -> None:
        """Raise an `InputError` if one of the fields called `names` is below 0 or NaN."""
        for name in names:
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} of {self.name} must not be negative or NaN, but is {getattr(self, name)}.")

    @property
    @abstractmethod
    def architecture(self) -> Any:
        """Describes the network; has the methods `build` and `check` and the property `width` of `Architecture`."""

    def hyperparameters(self) -> dict[str, Any]:
        """All hyperparameters by name, as JSON values."""
        return describe(self)

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        """The optimiser for a training of `steps` steps."""
        del steps  # for objectives with a schedule
        return self.adam(self.learning_rate)

    def pauses(self, steps: int) -> tuple[int, ...]:
        """The steps after which a training of `steps` steps may stop, because its learning rate has fallen to nothing.

        The last one is `steps`.
        """
        return (steps,)

    def adam(self, learning_rate: optax.ScalarOrSchedule) -> optax.GradientTransformation:
        """Adam with this `learning_rate` and clipped gradients."""
        return self.flat(optax.adam(learning_rate, eps=self.adam_epsilon))

    def flat(self, optimiser: optax.GradientTransformation) -> optax.GradientTransformation:
        """`optimiser` with clipped gradients, over all parameters as one array.

        That takes a few kernels instead of dozens.
        """
        if self.clip_norm is None:
            return optax.flatten(optimiser)
        return optax.flatten(optax.chain(optax.clip_by_global_norm(self.clip_norm), optimiser))

    def tables(self, data: Trajectories) -> Any:
        """What `sample` needs to know about `data`, as NumPy arrays; made once, on the host."""
        return EpisodeTable.of(data)

    def more_states(self, tables: Any) -> np.ndarray | None:
        """States (m, *shape) that batches use besides the recorded ones; their indices start at `data.num_states`.

        `tables` is what the method of that name returned.
        """
        del tables
        return None

    def init(self, network: Any, /) -> Any:
        """The initial value of `extra` for an untrained `network`."""
        del network
        return ()

    @abstractmethod
    def sample(self, key: PRNGKeyArray, tables: Any) -> Any:
        """A batch drawn with `key` from `tables`: integer arrays are indices of states, others are plain numbers."""

    @abstractmethod
    def loss(
        self, network: Any, /, extra: Any, batch: Any, states: States, progress: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Terms]:
        """The value to minimise, and its terms by name.

        Args:
            network: the network in training.
            extra: what `init` and `advance` returned.
            batch: what `sample` returned.
            states: gives embeddings and distances of the states in `batch`.
            progress: the share of the training that is done, from 0 to 1.
        """

    def advance(self, network: Any, /, extra: Any, terms: Terms) -> Any:
        """`extra` after an optimiser step, from the new `network` and the `terms` of the loss."""
        del network, terms
        return extra


@dataclass(frozen=True)
class Objective(TrainingObjective):
    """What training a distance minimises: hyperparameters as fields, mathematics and source in the docstring.

    A training step is: `sample` indices, `loss` with its gradient with respect to the distance, one optimiser step,
    `advance`. `extra` is any other state of the objective (a target network, a multiplier). A subclass is a frozen
    dataclass with a `name` that implements `sample` and `loss`, and whatever else it needs to change.

    Args:
        encoder: maps states to embeddings.
        quasimetric: measures distances between embeddings.
        learning_rate: the learning rate of Adam.
        clip_norm: the global gradient norm at which gradients are clipped; None for no clipping.
        averaging: the model has the mean of the weights over about this share of the latest steps; 0 for the latest
            weights.

    >>> import minaction as ma
    >>> sorted(ma.MadDist().hyperparameters())[:3]
    ['averaging', 'batch_size', 'clip_norm']
    """

    family: ClassVar[Registry[Any]] = OBJECTIVES
    asymmetric_only: ClassVar[bool] = False
    """Whether the objective makes no sense with a symmetric quasimetric."""

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
        """The descriptions of encoder and quasimetric."""
        return Architecture(self.encoder, self.quasimetric)
