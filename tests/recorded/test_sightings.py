"""What moves in images becomes a few numbers in which steps are alike everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import minaction as ma
from minaction.mazes._camera import Camera
from minaction.mazes._layouts import MazeLayout
from minaction.recorded import sighted
from minaction.recorded._sightings import Sightings

MAZE = MazeLayout("room", np.zeros((6, 6), bool), 4.0, (0.0, 0.0), 1, 0.0)


def wander(count: int, pace: float, seed: int) -> np.ndarray:
    """A point that keeps its heading for a while, in a square in the middle of the room."""
    random = np.random.default_rng(seed)
    place, heading, places = np.array([10.0, 10.0]), 0.0, []
    for _ in range(count):
        heading += random.normal(0, 0.3)
        ahead = place + pace * np.array([np.cos(heading), np.sin(heading)])
        if (np.abs(ahead - 10) > 8).any():
            heading += np.pi
            ahead = place
        place = ahead
        places.append(place)
    return np.array(places)


def correlation(found: np.ndarray, places: np.ndarray) -> float:
    """How much of the places is a linear function of what was found."""
    design = np.column_stack([found, np.ones(len(found))])
    left = places - design @ np.linalg.lstsq(design, places, rcond=None)[0]
    return float(1 - left.var() / places.var())


def test_one_mover_is_followed_to_a_fraction_of_a_pixel() -> None:
    places = wander(1500, 0.2, 0)
    data = ma.Trajectories.from_flat(Camera(MAZE).frames(places))
    seen = sighted(data)
    assert seen.state_shape == (3,)
    assert correlation(seen.states[:, 1:], places) > 0.995
    assert len(np.unique(seen.states[:, 0])) <= 2  # as much differs in every frame


def test_what_moves_by_itself_is_told_apart_by_its_colour_and_pace() -> None:
    places, others = wander(3000, 0.2, 0), wander(3000, 1.5, 1)
    data = ma.Trajectories.from_flat(Camera(MAZE).frames(places, others))
    found = sighted(data).states
    assert found.shape == (3000, 5)
    assert correlation(found[:, 1:3], places) > 0.9  # the slower one comes first
    assert correlation(found[:, 1:3], others) < 0.2
    assert correlation(found[:, 3:5], others) > 0.9


def test_noise_does_not_hide_a_mover() -> None:
    places = wander(1500, 0.2, 0)
    random = np.random.default_rng(0)
    noisy = Camera(MAZE).frames(places) + random.normal(0, 15, (1500, 64, 64, 3))
    found = sighted(ma.Trajectories.from_flat(np.clip(noisy, 0, 255).astype(np.uint8))).states
    assert correlation(found[:, 1:], places) > 0.95


def test_what_appears_for_good_is_a_key_and_changes_no_step() -> None:
    places = wander(2000, 0.2, 0)
    frames = Camera(MAZE).frames(places).copy()
    frames[1500:, 2:8, 2:8] = (233, 181, 44)  # a lamp in the corner
    seen = Sightings.of(ma.Trajectories.from_flat(frames))
    found = seen(frames)
    assert found[:1500, 0].max() < found[1500:, 0].min()
    before = np.diff(seen(Camera(MAZE).frames(places[:2])), axis=0)
    lit = Camera(MAZE).frames(places[:2]).copy()
    lit[:, 2:8, 2:8] = (233, 181, 44)
    np.testing.assert_allclose(np.diff(seen(lit), axis=0), before, atol=1e-3)


def test_a_place_is_the_same_whatever_colour_a_thing_has_and_whichever_lamp_is_lit() -> None:
    places = wander(2000, 0.2, 0)
    frames = Camera(MAZE).frames(places).copy()
    late = frames[1200:]
    late[(late[..., 0] > 150) & (late[..., 1] < 120)] = (120, 160, 90)  # the mover turns green
    late[:, 2:8, 2:8] = (233, 181, 44)  # and a lamp is lit for good
    seen = sighted(ma.Trajectories.from_flat(frames)).states
    assert len(np.unique(seen[:, 0])) == 2
    assert correlation(seen[:, 1:3], places) > 0.99  # by one linear function, before and after


def test_noise_beside_a_wall_does_not_move_a_thing() -> None:
    """Half hidden by what looks like it, it differs less from the background, and is where it is all the same."""
    places = np.tile(np.linspace(0.0, 20.0, 101), 20)
    positions = np.stack([places, np.full_like(places, 10.0)], axis=1)
    noisy = Camera(MAZE).frames(positions) + np.random.default_rng(0).normal(0, 15, (len(places), 64, 64, 3))
    data = ma.Trajectories.from_flat(np.clip(noisy, 0, 255).astype(np.uint8), np.arange(0, len(places) + 1, 101))
    seen = sighted(data).states
    assert correlation(seen[:, 1:3], positions[:, :1]) > 0.99


def test_what_compression_leaves_behind_is_no_thing() -> None:
    """A film from a file: patches of the background are a few levels off, for many frames together."""
    places, random = wander(1500, 0.2, 0), np.random.default_rng(0)
    patches = random.integers(-4, 5, (15, 8, 8, 1)) * (random.random((15, 8, 8, 1)) < 0.3)
    patches = patches.repeat(100, axis=0).repeat(8, axis=1).repeat(8, axis=2)
    frames = np.clip(Camera(MAZE).frames(places) + patches, 0, 255).astype(np.uint8)
    seen = sighted(ma.Trajectories.from_flat(frames)).states
    assert (seen[:, 0] == 0).all()
    assert correlation(seen[:, 1:3], places) > 0.999


def test_where_nothing_but_noise_is_seen_a_sentence_says_so() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (60, 8, 8, 3)).astype(np.uint8)
    with pytest.raises(ma.InputError, match="No state ever changes"):
        ma.recorded_distance(sighted(ma.Trajectories.from_flat(noise)))


@pytest.mark.parametrize("name", ["cliffwalking", pytest.param("keydoor-gridworld", marks=pytest.mark.slow)])
def test_graphs_of_frames_are_nearly_those_of_states(name: str) -> None:
    seen, known = ma.get_task(f"{name}-pixels"), ma.get_task(name)
    data, (truth,) = seen.trajectories(0), known.truths()
    how = Sightings.of(data)
    rows = ma.Trajectories.from_flat(how(data.states), data.offsets)
    frames = how(seen.truths()[0].sources)
    found = ma.recorded_distance(rows).pairwise(frames, frames)
    judged = np.isfinite(truth.distances) & (truth.distances > 0) & np.isfinite(found)
    assert judged.sum() > 0.95 * (np.isfinite(truth.distances) & (truth.distances > 0)).sum()
    assert np.corrcoef(found[judged], truth.distances[judged])[0, 1] > 0.99
