"""`Health`: how a model does on held-out episodes, as it is stored with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Health:
    """How a model does on episodes that it was not trained on, where no truth is known.

    A state observed a time t after another bounds their distance by t. *Excess* is how far a model exceeds such bounds:
    the mean of max(0, d - t) divided by the mean of t. A small excess is one half of the score. The other half: of all
    distances that respect the bounds, the largest is the right one. Shortest paths over the recording as a graph
    (`minaction.recorded_distance`) come close to it where recordings overlap, so of several models prefer the one with
    the highest `agreement`. A step is a typical one: one action, or the median of the recorded durations.

    Attributes:
        episodes: the number of held-out episodes.
        pairs: the number of pairs of their states that were measured.
        excess: the excess over all of these pairs.
        excess_by_gap: the same by the number of recorded steps between the two states, such as "2 to 9".
        novel_pairs: the number of pairs that the training data does not bound by t already; None if it was not given.
        novel_excess: the excess over those.
        single_step: the mean distance between successive, different states, in steps: about 1 for a correct model.
        random_pairs: the mean distance, in steps, of random pairs one of which is reachable from the other.
        agreement: Pearson's correlation with the shortest paths over the whole recording, held-out episodes included,
            over pairs of states (held-out ones, unless states repeat) that a path connects; None where there are hardly
            any such pairs.
        path_ratio: the mean distance of these pairs divided by the mean length of their shortest paths.
        disagreement: the spread between seeds that were trained side by side, over random pairs: the mean standard
            deviation divided by the mean distance; None for a single one.
        spread_factor: what to multiply that standard deviation by so that nine of ten shortest paths over the recording
            have a length within twice of it from the mean distance. Seeds agree more with each other than with the
            truth, so it is usually above 1; `DistanceEnsemble` uses it.
        recorded_share: the share of held-out states that are also in the training data, or within two steps of it.
        verdict: what this means, in sentences; "no problem was found" if all is well.

    >>> import minaction as ma
    >>> ma.Health(episodes=10, pairs=4000, single_step=0.31, verdict=["undertrained"]).fine
    False
    """

    episodes: int
    pairs: int
    excess: float | None = None
    excess_by_gap: Mapping[str, float] = field(default_factory=dict)
    novel_pairs: int | None = None
    novel_excess: float | None = None
    single_step: float | None = None
    random_pairs: float | None = None
    agreement: float | None = None
    path_ratio: float | None = None
    disagreement: float | None = None
    spread_factor: float | None = None
    recorded_share: float | None = None
    verdict: Sequence[str] = ()

    @property
    def fine(self) -> bool:
        """Whether no problem was found."""
        return list(self.verdict) == [NO_PROBLEM]


NO_PROBLEM = "no problem was found"
