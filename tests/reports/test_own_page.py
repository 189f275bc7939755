"""The page of an own recording in a real browser, with the network off, on a desktop and on a phone."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minaction as ma
from minaction.cli import main
from minaction.reports._pictures import as_colours, picture_sheet


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a log with a clock, long names, and a column whose name HTML could take for its own."""
    folder, random = tmp_path_factory.mktemp("own"), np.random.default_rng(0)
    lines = ["run,stamp,x,y,<b>load</b>"]
    for k in range(24):
        here, clock = random.uniform(-1, 0, 2), 0.0
        for step in range(30):
            for _ in range(10 if k % 4 == 0 and step == 15 else 1):
                lines.append(
                    f"station-north/2024-03-31/recording-{k},{clock:.2f},{here[0]:.4f},{here[1]:.4f},{random.integers(2)}"
                )
                clock += 0.1
            here = here + (1 - here) / (30 - step)
    (folder / "log.csv").write_text("\n".join(lines))
    columns = ["--episode", "run", "--time", "stamp"]
    small = ["--set", "encoder.hidden=32", "encoder.latent=16", "learning_rate=1e-3", "--evaluations", "5"]
    command = ["train", str(folder / "log.csv"), *columns, "--objective", "maddist", "--steps", "300", *small]
    assert main([*command, "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture(params=[(1280, False), (390, True)], ids=["desktop", "phone"])
def page(request, browser: Any, run: Path) -> Iterator[Any]:
    width, touch = request.param
    context = browser.new_context(viewport={"width": width, "height": 844}, has_touch=touch)
    context.set_offline(True)
    page, complaints, requests = context.new_page(), [], []
    page.set_default_timeout(10_000)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto((run / "report.html").as_uri())
    page.wait_for_selector("#states[aria-busy='false']")
    yield page
    assert complaints == []
    assert requests == [(run / "report.html").as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def shown_data(page: Any) -> dict[str, Any]:
    return json.loads(page.locator("#data").text_content())


def press(page: Any, selector: str, **options: Any) -> None:
    """Click with a mouse, tap with a finger."""
    touch = page.evaluate("navigator.maxTouchPoints > 0")
    (page.locator(selector).tap if touch else page.locator(selector).click)(force=True, **options)


def rows_of(data: ma.Trajectories, drawn: dict[str, Any]) -> np.ndarray:
    """Which recorded rows the states of the map are."""
    numbers = {data.episode_name(k): k for k in range(len(data))}
    return data.offsets[[numbers[name] for name in drawn["episodes"]]] + drawn["frames"]


def test_a_clicked_state_has_the_models_own_neighbours(page: Any, run: Path) -> None:
    drawn = shown_data(page)["map"]
    data = ma.read(run.parent / "log.csv", episode="run", time="stamp")
    rows = rows_of(data, drawn)
    states = data.states[rows]
    model = ma.load(run)
    away = np.linalg.norm(states[:, :2] - states[:, None, :2], axis=2) + 9 * np.eye(len(states))
    alone = int(np.argmax(away.min(axis=1)))  # no other dot lies over it
    press(page, f"#states [data-state='{alone}']")
    said = page.inner_text("#chosen")
    assert f"episode {drawn['episodes'][alone]}, row {drawn['frames'][alone]}" in said
    assert "<b>load</b>" in said
    to, back = model.pairwise(states, states[[alone]])[:, 0], model.pairwise(states[[alone]], states)[0]
    cells = [line.split("\t") for line in page.inner_text("#nearest tbody").splitlines()]
    there = np.array([float(cell[1].split()[0]) for cell in cells])
    expected = np.sort(np.delete(to, alone))[:10]
    np.testing.assert_allclose(there, expected, rtol=0.02, atol=2 * drawn["scale"])
    assert cells[0][1].endswith(" s")
    press(page, "input[value='from']")
    cells = [line.split("\t") for line in page.inner_text("#nearest tbody").splitlines()]
    there = np.array([float(cell[1].split()[0]) for cell in cells])
    np.testing.assert_allclose(there, np.sort(np.delete(back, alone))[:10], rtol=0.02, atol=2 * drawn["scale"])
    colours = page.eval_on_selector_all(
        "#states .state", "dots => new Set(dots.map(dot => dot.getAttribute('fill'))).size"
    )
    assert colours > 20


def test_long_names_leave_room_for_the_numbers(page: Any) -> None:
    for cell in page.locator("#nearest tbody td:last-child").all():
        box = cell.bounding_box()
        assert box["x"] + box["width"] <= page.viewport_size["width"]


def test_the_words_of_a_chart_do_not_cover_each_other(page: Any) -> None:
    for chart in ("#states", "#along", "#loss"):
        boxes = [(text.text_content(), text.bounding_box()) for text in page.locator(f"{chart} svg > text").all()]
        assert len(boxes) > 5
        for (word, one), (near, other) in itertools.combinations(boxes, 2):
            apart = [
                one[at] >= other[at] + other[side] - 1 or other[at] >= one[at] + one[side] - 1
                for at, side in (("x", "width"), ("y", "height"))
            ]
            assert any(apart), f"{word!r} and {near!r} in {chart}"


def test_columns_and_the_embedding_are_chosen_as_axes(page: Any) -> None:
    places = "dots => dots.map(dot => dot.getAttribute('cx'))"
    before = page.eval_on_selector_all("#states .state", places)
    page.select_option("#across", label="embedding, direction 1")
    assert page.eval_on_selector_all("#states .state", places) != before
    assert page.locator("#across option").count() == 3 + 2


def test_the_arrow_keys_choose_the_next_state(page: Any) -> None:
    before = page.inner_text("#chosen")
    page.locator("#states").focus()
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#chosen") != before


def test_a_moment_of_any_episode_is_read_by_clicking(page: Any, run: Path) -> None:
    assert page.locator("#episode option").count() == 24
    page.select_option("#episode", "station-north/2024-03-31/recording-4")
    assert page.locator("#along .wasted").count() >= 1
    box = page.locator("#along svg").bounding_box()
    press(page, "#along", position={"x": box["width"] - 20, "y": box["height"] / 2})
    late = page.inner_text("#moment")
    press(page, "#along", position={"x": 60, "y": box["height"] / 2})
    early = page.inner_text("#moment")
    share = [int(text.split("remain, ")[1].split("%")[0]) for text in (early, late)]
    assert share[0] < 20 < 60 < share[1]
    row = int(early.split(",")[0].removeprefix("Row "))
    data, model = ma.read(run.parent / "log.csv", episode="run", time="stamp"), ma.load(run)
    remaining = model.progress(data[4], model.usual_ends(data)).remaining[row]
    assert float(early.split(": ")[1].split()[0]) == pytest.approx(remaining, rel=0.02)


def test_it_says_what_was_read_and_how_the_model_does(page: Any, run: Path) -> None:
    text = page.inner_text("#recording")
    for part in ("24", "recorded, in s", "<b>load</b>"):
        assert part in text
    health = ma.load(run).health
    assert health is not None
    assert health.verdict[0] in page.inner_text("#health")
    assert page.locator("#loss polyline").count() == 1


def test_the_command_writes_it_again(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run), "-o", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text() == (run / "report.html").read_text()


def walking(random: np.random.Generator) -> np.ndarray:
    """A bright square that walks along a line of 12 places, (30, 8, 14, 3)."""
    places = np.clip(5 + np.cumsum(random.choice([-1, 1], 30)), 0, 11)
    frames = np.zeros((30, 8, 14, 3), np.uint8)
    for frame, place in zip(frames, places, strict=True):
        frame[3:5, place : place + 3] = (20 * place + 10, 250, 40)
    return frames


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on images."""
    folder, random = tmp_path_factory.mktemp("film"), np.random.default_rng(0)
    ma.Trajectories.from_episodes([walking(random) for _ in range(6)]).save(folder / "frames.safetensors")
    small = [
        "--set",
        "encoder=mlp",
        "encoder.hidden=32",
        "encoder.latent=16",
        "learning_rate=3e-3",
        "--evaluations",
        "1",
    ]
    command = ["train", str(folder / "frames.safetensors"), "--objective", "maddist", "--steps", "200", *small]
    assert main([*command, "--out", str(folder / "run")]) == 0
    return folder / "run"


COLOURS = "canvases => canvases.map(c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data])"


@pytest.mark.parametrize("width", [1280, 390])
def test_images_are_shown(browser: Any, film: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844})
    context.set_offline(True)
    page, complaints = context.new_page(), []
    page.set_default_timeout(10_000)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((film / "report.html").as_uri())
    page.wait_for_selector("#states[aria-busy='false']")
    drawn, data, model = shown_data(page)["map"], ma.read(film.parent / "frames.safetensors"), ma.load(film)
    states = data.states[rows_of(data, drawn)]

    def seen(selector: str) -> np.ndarray:
        """The pictures drawn there, as RGB; frames this small are not scaled."""
        pixels = page.eval_on_selector_all(f"{selector} canvas", COLOURS)
        return np.array(pixels, np.uint8).reshape(-1, 8, 14, 4)[..., :3]

    def of(selector: str) -> list[int]:
        return page.eval_on_selector_all(f"{selector} canvas", "all => all.map(one => Number(one.dataset.state))")

    (chosen,) = of("#shown")
    assert drawn["columns"] == []
    assert page.locator("#states .state").count() == len(states)
    np.testing.assert_array_equal(seen("#shown"), states[[chosen]])
    neighbours = of("#nearest")
    np.testing.assert_array_equal(seen("#nearest"), states[neighbours])
    to = model.pairwise(states, states[[chosen]])[:, 0]
    np.testing.assert_allclose(to[neighbours], np.sort(np.delete(to, chosen))[:10], atol=2 * drawn["scale"])
    way = of("#way")
    assert way[-1] == chosen
    assert len(way) > 3
    np.testing.assert_array_equal(seen("#way"), states[way])
    from_first = model.pairwise(states[[way[0]]], states[way])[0]
    assert (np.diff(from_first) > -2 * drawn["scale"]).all()
    over = from_first + model.pairwise(states[way], states[[chosen]])[:, 0] - from_first[-1]
    assert over.max() < 0.5 * from_first[-1]  # they lie on the way
    page.click("#other")
    page.locator("#way canvas").first.click()
    assert of("#shown") == way[:1]
    assert of("#way")[0] == chosen
    page.locator("input[value='from']").check()
    assert of("#way")[-1] == chosen
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_pictures_of_a_page_have_a_bounded_size() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (400, 128, 96, 3)).astype(np.uint8)  # which does not compress
    found = picture_sheet(noise)
    assert len(found["sheet"]) < 1.5 * 2**20
    assert found["height"] in (24, 32)
    assert found["width"] == round(0.75 * found["height"])


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (np.full((2, 5, 6), 7, np.uint8), 7),
        (np.full((2, 5, 6, 4), 7, np.uint8), 7),
        (np.linspace(0, 1, 2 * 5 * 6 * 3, dtype=np.float32).reshape(2, 5, 6, 3), None),
        (np.full((2, 4, 20, 20, 3), 7, np.uint8), 7),
    ],
)
def test_images_of_any_kind_become_colours(states: np.ndarray, expected: int | None) -> None:
    colours = as_colours(states)
    assert colours.dtype == np.uint8
    assert colours.shape[-1] == 3
    if expected is None:
        assert (colours.min(), colours.max()) == (0, 255)
    else:
        assert (colours == expected).all()
