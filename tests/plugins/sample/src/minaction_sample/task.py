"""A world of a few places in a row, seen as pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import minaction as ma


@dataclass(frozen=True)
class LineWorld(ma.Task):
    """Places 0 to 8: a step leads to a neighbour, and from the last place back to the first. A state is an image."""

    name: str = "sample-line"
    summary: str = "nine places in a row, and a way from the last to the first"
    places: int = 9
    default_episodes: int = 12

    @property
    def state_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return (3, self.places, 1)

    def trajectories(
        self, seed: int = 0, episodes: int | None = None, progress: Any = None, keep_actions: bool = False
    ) -> ma.Trajectories:
        random = np.random.default_rng(seed)
        count = self.default_episodes if episodes is None else episodes
        walks, moves = [], []
        for done in range(count):
            place, walk = int(random.integers(self.places)), []
            taken = random.choice([-1, 1, 1], 30)
            for move in taken:
                walk.append(place)
                place = 0 if place + move == self.places else max(0, place + int(move))
            walks.append(self._seen(np.array(walk)))
            moves.append(taken[:, None].astype(np.float32))
            if progress is not None:
                progress(done + 1, count)
        return ma.Trajectories.from_episodes(walks, actions=moves if keep_actions else None)

    def truths(self) -> list[ma.Truth]:
        first, second = np.indices((self.places, self.places)).astype(np.float64)
        around = self.places - first + second
        return [ma.Truth.between("true", "steps", self._all(), np.minimum(np.abs(first - second), around))]

    def layout(self) -> ma.Layout:
        pixels = np.stack([np.zeros(self.places, np.int64), np.arange(self.places)], axis=1)
        return ma.Layout((1, self.places), self._all(), pixels)

    def _all(self) -> np.ndarray:
        return self._seen(np.arange(self.places))

    def _seen(self, places: np.ndarray) -> np.ndarray:
        images = np.zeros((len(places), *self.state_shape), np.uint8)
        images[np.arange(len(places)), :, places] = 255
        return images
