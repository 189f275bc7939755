"""The stand-alone page in a real browser with the network off: it answers as the model does, whatever is set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minaction._coverage import Coverage
from minaction._units import Units
from minaction.cli import main
from minaction.errors import InputError

from .conftest import CASES, Case, model_of, states_of

CASE = CASES["selu"]


def page_of(model: Any, folder: Path, browser: Any) -> Any:
    model.save(folder / "model.safetensors")
    assert main(["export", str(folder / "model.safetensors"), str(folder / "page.html")]) == 0
    context = browser.new_context()
    context.set_offline(True)
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto((folder / "page.html").as_uri())
    return page


def answers(page: Any) -> list[float]:
    return [float(page.locator(f"#{name}").inner_text().split()[0]) for name in ("there", "back")]


@pytest.fixture
def model() -> Any:
    states = states_of(CASE, 200, 5)[20:]
    model = model_of(CASE, "iqe")
    model.columns, model.unit = ("x", "y", "<b>speed</b>"), "s"
    model.recorded = Coverage(states, np.ones(3), 1.0, 0.0)
    return model


@pytest.fixture
def page(model: Any, browser: Any, tmp_path: Path) -> Iterator[Any]:
    page = page_of(model, tmp_path, browser)
    page.wait_for_selector("#map[aria-busy=false]")
    yield page
    assert page.complaints == []
    page.context.close()


def test_it_answers_about_any_state(page: Any, model: Any) -> None:
    here, there = [0.25, -1.5, 3.0], [2.0, 0.5, -0.125]
    for side, state in (("from", here), ("to", there)):
        for k, number in enumerate(state):
            page.locator(f"#{side} input[type=number]").nth(k).fill(str(number))
    expected = [float(model.distance(here, there)), float(model.distance(there, here))]
    np.testing.assert_allclose(answers(page), expected, atol=0.006)
    assert "s there" in page.locator("section").first.inner_text()
    assert page.locator("#from label span").nth(2).inner_text() == "<b>speed</b>"


def test_the_map_shows_distances_over_two_columns(page: Any, model: Any) -> None:
    page.select_option("#across", "2")
    page.select_option("#up", "0")
    page.check("input[value=from]")
    page.wait_for_selector("#map[aria-busy=false]")
    fixed = np.array(page.evaluate("states.from"))
    low, high = np.array(page.evaluate("data.columns.map((one) => [one.low, one.high])")).T
    assert (low <= fixed).all()
    assert (fixed <= high).all()
    cells = np.tile(fixed, (48, 48, 1))
    places = (np.arange(48) + 0.5) / 48
    cells[..., 2] = (low[2] + places * (high[2] - low[2]))[None, :]
    cells[..., 0] = (low[0] + (1 - places) * (high[0] - low[0]))[:, None]
    expected = np.asarray(model.distance(fixed, cells))
    pixels = page.evaluate("[...get('map').getContext('2d').getImageData(0, 0, 480, 480).data]")
    colours = np.array(pixels).reshape(480, 480, 4)[1::10, 1::10, :3]
    brightness = colours.reshape(-1, 3) @ np.array([0.299, 0.587, 0.114])
    assert np.corrcoef(brightness, expected.ravel())[0, 1] < -0.9
    assert f"{expected.max():.2f}" in page.locator("#scale").inner_text()
    page.locator("#map").click(position={"x": 5, "y": 5})
    moved = page.evaluate("states.from")
    assert moved[2] < low[2] + 0.05 * (high[2] - low[2])
    assert moved[0] > high[0] - 0.05 * (high[0] - low[0])
    assert moved[1] == fixed[1]


def test_an_origin_far_away_and_a_clock_are_applied(browser: Any, tmp_path: Path) -> None:
    model = model_of(Case(CASES["selu"].encoder, shape=(3,), dtype="float64"), "simple")
    origin = np.array([1.7e9, 0.0, 5e6])
    model = type(model)(model.network, model.architecture, model.provenance, (3,), "float64", Units(origin, 0.1))
    page = page_of(model, tmp_path, browser)
    for side, shift in (("from", 0.5), ("to", -0.25)):
        for k, number in enumerate(origin + shift):
            page.locator(f"#{side} input[type=number]").nth(k).fill(repr(float(number)))
    expected = float(model.distance(origin + 0.5, origin - 0.25))
    assert answers(page)[0] == pytest.approx(expected, abs=0.006)
    assert page.complaints == []
    page.context.close()


def test_what_no_page_can_show_is_refused(tmp_path: Path) -> None:
    image = model_of(Case(CASES["image"].encoder, shape=(9, 9), dtype="uint8", extremes=()), "simple")
    with pytest.raises(InputError, match="81"):
        image.export(tmp_path / "page.html")
    with pytest.raises(InputError, match="encoder alone"):
        model_of(CASE, "simple").export(tmp_path / "page.html", "encoder")
    assert not list(tmp_path.iterdir())
