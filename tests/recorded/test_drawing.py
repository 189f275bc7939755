"""What the graph of a recording takes to exist is drawn as it would be seen."""

from __future__ import annotations

import numpy as np
import pytest

import minaction as ma
from minaction._image_axes import images_of, states_of
from minaction.mazes._camera import Camera
from minaction.mazes._layouts import MazeLayout
from minaction.recorded import Sightings, drawn, recorded_distance, sighted

SIDE, CELL, MARGIN = 6, 4, 6
AVOIDED = 5  # a column in which nobody was seen with the lamp lit


def picture(row: int, column: int, lit: bool) -> np.ndarray:
    """A dark thing on a grid of places, and a lamp above them."""
    image = np.full((SIDE * CELL + MARGIN, SIDE * CELL, 3), 230, np.uint8)
    image[MARGIN + 2 :, 8:10] = (200, 220, 240)  # a stripe on the floor, before which it is seen as well
    if lit:
        image[1:4, 2:12] = (240, 190, 40)
    top, left = MARGIN + row * CELL, column * CELL
    image[top : top + 3, left : left + 3] = (40, 60, 150)
    return image


def episode(random: np.random.Generator, steps: int = 60) -> np.ndarray:
    """A random walk, during which the lamp is lit for good."""
    place, lit, seen = random.integers(0, AVOIDED, 2), False, []
    for step in range(steps):
        ahead = np.clip(place + random.permutation([0, random.choice([-1, 1])]), 0, SIDE - 1)
        lit = lit or (step > steps // 2 and place[1] < AVOIDED)
        place = place if lit and ahead[1] == AVOIDED else ahead
        seen.append(picture(int(place[0]), int(place[1]), lit))
    return np.stack(seen)


@pytest.fixture(scope="module")
def data() -> ma.Trajectories:
    """Many walks."""
    random = np.random.default_rng(0)
    return ma.Trajectories.from_episodes([episode(random) for _ in range(60)])


def unseen_in(data: ma.Trajectories, most: int = 1000) -> np.ndarray:
    """Pictures of what was not recorded."""
    how = Sightings.of(data)
    return drawn(how, recorded_distance(sighted(data, how)), data, most)


def test_what_was_never_seen_with_a_key_is_drawn_as_it_would_be(data: ma.Trajectories) -> None:
    found = {image.tobytes() for image in unseen_in(data)}
    assert found == {picture(row, AVOIDED, True).tobytes() for row in range(SIDE)}


def test_not_more_than_asked_for(data: ma.Trajectories) -> None:
    assert unseen_in(data, 2).shape == (2, *data.state_shape)


def test_channels_may_come_first(data: ma.Trajectories) -> None:
    turned = ma.Trajectories.from_flat(np.ascontiguousarray(data.states.transpose(0, 3, 1, 2)), data.offsets)
    np.testing.assert_array_equal(unseen_in(turned).transpose(0, 2, 3, 1).shape, unseen_in(data).shape)


def test_nothing_is_drawn_where_states_do_not_repeat() -> None:
    random = np.random.default_rng(0)
    room = MazeLayout("room", np.zeros((4, 4), bool), 4.0, (0.0, 0.0), 1, 0.0)
    places = 6 + np.clip(np.cumsum(random.normal(0, 0.3, (300, 2)), axis=0), -4, 4)
    data = ma.Trajectories.from_flat(Camera(room, 16).frames(places))
    assert unseen_in(data).shape == (0, 16, 16, 3)
    assert len(ma.PathDist().tables(data).unseen) == 0


def test_a_model_is_taught_what_was_drawn(data: ma.Trajectories) -> None:
    objective = ma.PathDist(encoder=ma.ImageEncoder(channels=(4,), hidden=(8,), latent=8))
    tables = objective.tables(data)
    assert len(tables.unseen) == SIDE
    assert set(range(data.num_states, data.num_states + SIDE)) <= set(tables.paths.nodes.tolist())


@pytest.mark.parametrize("shape", [(5, 7), (20, 18, 3), (3, 20, 18), (2, 20, 18, 3), (2, 3, 20, 18)])
def test_images_become_states_again(shape: tuple[int, ...]) -> None:
    states = np.random.default_rng(0).integers(0, 255, (4, *shape)).astype(np.uint8)
    np.testing.assert_array_equal(states_of(images_of(states), shape), states)


@pytest.mark.slow
def test_what_is_drawn_of_keydoor_is_what_it_looks_like() -> None:
    task = ma.get_task("keydoor-gridworld-pixels")
    possible = {image.tobytes() for image in task.truths()[0].sources}
    found = unseen_in(task.trajectories(0))
    assert len(found) > 100
    assert sum(image.tobytes() in possible for image in found) >= 0.95 * len(found)
