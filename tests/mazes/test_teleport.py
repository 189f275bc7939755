"""The holes of the teleport maze, and which recorded episodes the deterministic one could have made."""

from __future__ import annotations

import numpy as np
import pytest

from minaction.errors import InputError
from minaction.mazes._teleport import (
    BLACK_HOLES,
    LAYOUT,
    WHITE_HOLES,
    black_hole_at,
    curate,
    directed_cell_distances,
    hop,
    hops_as_mapped,
)
from minaction.trajectories import Trajectories

BLACK, WHITE = LAYOUT.centre(BLACK_HOLES), LAYOUT.centre(WHITE_HOLES)


def plain_search(start: tuple[int, int]) -> dict[tuple[int, int], int]:
    """Moves from a cell to every cell that can be reached, breadth first, with the two hops written out."""
    hops = {(4, 6): (1, 7), (5, 1): (6, 10)}
    found, frontier = {start: 0}, [start]
    while frontier:
        row, column = cell = frontier.pop(0)
        neighbours = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
        for after in [*(place for place in neighbours if not LAYOUT.walls[place]), hops.get(cell, cell)]:
            if after not in found:
                found[after] = found[cell] + 1
                frontier.append(after)
    return found


def test_cell_distances_are_directed_with_44_of_2025_pairs_unreachable() -> None:
    distances = directed_cell_distances()
    assert distances.shape == (45, 45)
    assert np.isinf(distances).sum() == 44
    assert (distances != distances.T).sum() > 200
    for k, start in enumerate(LAYOUT.free_cells):
        found = plain_search(tuple(start.tolist()))
        expected = [found.get(tuple(cell.tolist()), np.inf) for cell in LAYOUT.free_cells]
        np.testing.assert_array_equal(distances[k], expected)
    walled_in = LAYOUT.cell_index[1, 7]
    assert np.isinf(np.delete(distances[walled_in], walled_in)).all()


def test_a_black_hole_takes_what_comes_within_one_and_a_half() -> None:
    assert black_hole_at(BLACK + np.array([1.49, 0])).tolist() == [0, 1]
    assert black_hole_at(BLACK + np.array([0, 1.51])).tolist() == [-1, -1]
    states = np.arange(3 * 29, dtype=np.float64).reshape(3, 29)
    states[:, :2] = [BLACK[0] + [1, 1], BLACK[1], [0.0, 0.0]]
    after = hop(states)
    np.testing.assert_array_equal(after[:, :2], [WHITE[0], WHITE[2], [0.0, 0.0]])
    np.testing.assert_array_equal(after[:, 2:], states[:, 2:])
    np.testing.assert_array_equal(hop(states[1])[:2], WHITE[2])


def walk(*points: np.ndarray) -> np.ndarray:
    """From point to point in small steps; between two lists of points there is a jump."""
    return np.concatenate([np.linspace(start, end, 30) for start, end in zip(points[::2], points[1::2], strict=True)])


@pytest.mark.parametrize(
    ("points", "fits"),
    [
        ([BLACK[0] - [0, 3], BLACK[0] - [0, 4]], True),
        ([BLACK[0] - [0, 3], BLACK[0] - [0, 1.3], WHITE[0], WHITE[0] + 0.5], True),
        ([BLACK[0] - [0, 3], BLACK[0] - [0, 1.3], WHITE[1], WHITE[1] + 0.5], False),
        ([BLACK[0] - [0, 3], BLACK[0] - [0, 1.3], WHITE[2], WHITE[2] + 0.5], False),
        ([BLACK[1] - [0, 3], BLACK[1] - [0, 1.3], WHITE[2], WHITE[2] + 0.5], True),
        ([BLACK[1] - [0, 3], BLACK[1] - [0, 1.3], WHITE[0], WHITE[0] + 0.5], False),
        ([BLACK[1] + [0, 3], BLACK[1] + [0, 1.4], WHITE[1], WHITE[1] + 0.5], False),  # the nearest jump there is
        ([BLACK[1] - [0, 3], BLACK[1], WHITE[2], BLACK[0] + 1, WHITE[1], WHITE[1]], False),  # right, then wrong
    ],
)
def test_hops_are_checked_against_the_fixed_map(points: list[np.ndarray], fits: bool) -> None:
    assert hops_as_mapped(walk(*points)) is fits


def test_curating_drops_whole_episodes() -> None:
    right = walk(BLACK[1] - [0, 3], BLACK[1], WHITE[2], WHITE[2] + 0.3)
    wrong = walk(BLACK[1] - [0, 3], BLACK[1], WHITE[0], WHITE[0] + 0.3)
    none = walk(WHITE[2], WHITE[2] + 1)
    numbered = enumerate((wrong, right, wrong, none))
    episodes = [np.concatenate([positions, np.full((len(positions), 27), k)], axis=1) for k, positions in numbered]
    actions = [np.full((len(episode), 8), k) for k, episode in enumerate(episodes)]
    kept = curate(Trajectories.from_episodes(episodes, actions=actions))
    assert kept.lengths.tolist() == [60, 30]
    assert [kept.episode(k)[0, 5] for k in range(2)] == [1, 3]
    assert kept.actions is not None
    assert np.unique(kept.actions).tolist() == [1, 3]
    with pytest.raises(InputError, match="wrong white hole"):
        curate(Trajectories.from_episodes(episodes[:1]))
    with pytest.raises(InputError, match="States of 1 number are not those of an ant"):
        curate(Trajectories.from_flat(np.zeros((3, 1))))
