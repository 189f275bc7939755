"""`Health`: what held-out episodes say about a model, as it is kept with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Health:
    """How a model does on episodes that it was not trained on, where no truth is known.

    A state that was seen t after another bounds their distance by t. *Excess* is how far a model is above such bounds:
    the mean of max(0, d - t) over the mean of t. Its smallness is one half of the score. The other half is that of all
    distances that respect the bounds the largest is right: of models with equal excess, prefer the one with the larger
    `random_pairs`. A `step` is a typical one: one action, or the median of the recorded durations.

    >>> import minaction as ma
    >>> ma.Health(episodes=10, pairs=4000, single_step=0.31, verdict=["undertrained"]).fine
    False
    """

    episodes: int
    """How many held-out episodes there were."""
    pairs: int
    """How many pairs of their states were looked at."""
    excess: float | None = None
    """Over all of these pairs."""
    excess_by_gap: Mapping[str, float] = field(default_factory=dict)
    """The same by how many recorded steps lie between the two states, such as "2 to 9"."""
    novel_pairs: int | None = None
    """How many pairs were found that the training data does not bound by t already; None where it was not given."""
    novel_excess: float | None = None
    """The excess over these."""
    single_step: float | None = None
    """The mean distance between successive, different states, in steps: about 1 where a model is right."""
    random_pairs: float | None = None
    """The mean distance, in steps, of random pairs one of which leads to the other."""
    recorded_share: float | None = None
    """The share of held-out states that the training data has too: the same, or within two steps of one."""
    verdict: Sequence[str] = ()
    """What this means, in sentences; "no problem was found" where it means nothing bad."""

    @property
    def fine(self) -> bool:
        """Whether no problem was found."""
        return list(self.verdict) == [NO_PROBLEM]


NO_PROBLEM = "no problem was found"
