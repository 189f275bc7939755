"""The contract between an objective (what is minimised) and the trainer (how)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import optax
from jaxtyping import Array, Float, PRNGKeyArray

from .._distance import Architecture, Distance
from ..encoders import Network
from ..errors import InputError, unknown_name
from ..quasimetrics import QUASIMETRIC_NAMES
from ..trajectories._dataset import Trajectories
from ._sampling import EpisodeTable
from ._states import States

Terms = dict[str, Float[Array, ""]]

_PAPER_NETWORK = Network()

SYMMETRIC = ("l1", "l2")


@dataclass(frozen=True)
class Objective(ABC):
    """What is minimised: hyperparameters as fields, mathematics and source in the docstring.

    A training step is: `sample` indices, `loss` with gradient with respect to the distance, one optimiser step,
    `advance`. All of it runs inside one compiled program, on an accelerator under `vmap` over seeds. `extra` is
    whatever else the objective carries along (a target network, a multiplier).
    """

    name: ClassVar[str]
    asymmetric_only: ClassVar[bool] = False
    """Whether a symmetric distance would contradict what the objective is for."""
    adam_epsilon: ClassVar[float] = 1e-10
    steps_to_a_piece: ClassVar[int] = 4
    """How many steps to compile into one piece where few seeds are trained on a GPU: it pauses between two pieces. One
    seed of MadDist did 3,830 steps a second with one to a piece, 4,370 with two and 4,470 with four."""

    network: Network = _PAPER_NETWORK
    quasimetric: str = "simple"
    learning_rate: float = 1e-4
    clip_norm: float | None = 50.0
    """Global gradient norm at which gradients are clipped; None for never."""
    averaging: float = 0.05
    """The model has the weights' mean over about the last this much of its steps; 0 for the very last weights. At a
    constant learning rate these jump about: from one evaluation to the next, the Pearson correlation of five seeds of
    MadDist on CliffWalking changes by up to .007, and averaged by up to .002."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and not isinstance(value, bool) and not value >= 0:
                raise InputError(f"{field.name} of {self.name} must not be negative or NaN, but is {value}.")
            if ("batch" in field.name or "horizon" in field.name) and value < 1:
                raise InputError(f"{field.name} of {self.name} must be at least 1, but is {value}.")
        if self.averaging > 1:
            raise InputError(f"averaging of {self.name} is a part of the training, 0 to 1, but is {self.averaging}.")
        if self.learning_rate <= 0 or (self.clip_norm is not None and self.clip_norm <= 0):
            raise InputError("The learning rate and the gradient norm to clip at must be positive.")
        if self.quasimetric.partition("/")[0] not in QUASIMETRIC_NAMES:
            raise unknown_name("quasimetric", self.quasimetric, QUASIMETRIC_NAMES)
        if self.asymmetric_only and self.quasimetric in SYMMETRIC:
            raise InputError(
                f"{self.name} learns an asymmetric distance, but {self.quasimetric!r} is symmetric; "
                "choose a quasimetric such as 'iqe-maxmean' or 'simple'."
            )

    @property
    def architecture(self) -> Architecture:
        """The shape of the distance it trains."""
        return Architecture(self.network, self.quasimetric)

    def hyperparameters(self) -> dict[str, Any]:
        """All settings, as JSON can hold them."""
        return asdict(self)

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

    def init(self, distance: Distance) -> Any:
        """What is carried along beside the distance."""
        del distance
        return ()

    @abstractmethod
    def sample(self, key: PRNGKeyArray, tables: Any) -> Any:
        """A batch: integer arrays in it are indices of states, floating-point ones are numbers."""

    @abstractmethod
    def loss(
        self, distance: Distance, extra: Any, batch: Any, states: States, progress: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Terms]:
        """The value to minimise and its named parts; `progress` runs from 0 to 1 over the training."""

    def advance(self, distance: Distance, extra: Any, terms: Terms) -> Any:
        """What happens to `extra` after the optimiser's step."""
        del distance, terms
        return extra
