"""Small runs, trained to the end or only so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from minaction._model import DistanceModel
from minaction.training import Event, Progressed, Run, Training, train

SETTINGS: dict[str, Any] = {
    "encoder.hidden": [16],
    "encoder.latent": 8,
    "batch_size": 16,
    "constraint_batch_size": 16,
}


class Driver:
    """Trains runs side by side, and compares what they left."""

    settings = SETTINGS

    def train(self, *runs: Run, until: int | None = None) -> list[Event]:
        """Train runs to the end, or until they all stand at a step; what was told."""
        told: list[Event] = []
        for event in train([Training.of(run) for run in runs]):
            told.append(event)
            if isinstance(event, Progressed) and event.step == until:  # checkpoints are written before that is told
                break
        return told

    def files(self, run: Run) -> dict[str, bytes]:
        """All that does not tell how long it took."""
        return {path.name: path.read_bytes() for path in run.path.iterdir() if path.name != "results.json"}

    def assert_alike(self, first: Run, second: Run) -> None:
        """The same files, and the same distances but for rounding."""
        assert self.files(first).keys() == self.files(second).keys()
        assert first.finished
        assert second.finished
        assert _places(first) == _places(second)
        for seed in first.config.seeds:
            models = [DistanceModel.load(run.model_path(seed)) for run in (first, second)]
            assert models[0].provenance == models[1].provenance
            states = np.random.default_rng(0).uniform(-5, 5, (50, *models[0].state_shape))
            expected = models[0].pairwise(states, states)
            np.testing.assert_allclose(models[1].pairwise(states, states), expected, atol=0.02 * expected.max())
            for one, other in zip(first.results.of(seed), second.results.of(seed), strict=True):
                assert (other.truth, other.unit) == (one.truth, one.unit)
                assert other.agreement["pearson"] == pytest.approx(one.agreement["pearson"], abs=0.01)


def _places(run: Run) -> Sequence[tuple[int, int]]:
    return [(row.step, row.seed) for row in run.metrics]


@pytest.fixture
def driver() -> Driver:
    """What trains runs."""
    return Driver()
