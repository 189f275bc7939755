"""The page in a real browser, from the file system with the network off: what a person sees and does."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minaction._model import DistanceModel
from minaction.reports import Trial, read_trials, write_page
from minaction.reports._webpage import MOST_BYTES
from minaction.tasks import Source


@dataclass
class Tab:
    """An open page, and everything it complained about or asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def number(self, name: str) -> float:
        """What one of the three maps says of the pointed state."""
        return float(self.text(f"#{name} output").split()[0].replace("−", "-"))

    def choose(self, select: str, value: str) -> None:
        self.page.select_option(f"#{select}", value)
        self.page.wait_for_selector("#maps[aria-busy='false']")

    def click_state(self, index: int) -> None:
        self.page.locator(f"#learned [data-state='{index}']").click()


@pytest.fixture(scope="module")
def report(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(path, read_trials([suite]))
    return path


def opened(browser: Any, path: Path, width: int = 1280, **options: Any) -> Tab:
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_offline(True)
    tab = Tab(context.new_page())
    tab.page.set_default_timeout(10_000)
    tab.page.on("console", lambda message: tab.complaints.append(message.text))
    tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.page.on("request", lambda request: tab.requests.append(request.url))
    tab.page.goto(path.as_uri())
    if tab.page.locator("#maps").count():
        tab.page.wait_for_selector("#maps[aria-busy='false']")
    return tab


@pytest.fixture
def tab(browser: Any, report: Path) -> Iterator[Tab]:
    tab = opened(browser, report)
    yield tab
    assert tab.complaints == []
    assert tab.requests == [report.as_uri()]
    tab.page.context.close()


@dataclass
class Board:
    """What the maps should say: recomputed from the model's file and the task."""

    learned: np.ndarray
    truths: dict[str, np.ndarray]
    positions: np.ndarray

    @classmethod
    def of(cls, suite: Path, task: str, method: str, seed: int) -> Board:
        trial: Trial = next(
            one for one in read_trials([suite]).main if (one.task, one.method, one.seed) == (task, method, seed)
        )
        truths = Source(task, (seed,), trial.episodes).truths(seed)
        assert trial.model is not None
        learned = DistanceModel.load(trial.model).pairwise(truths[0].sources, truths[0].targets)
        same = {truth.name: truth.distances for truth in truths if truth.distances.shape == learned.shape}
        return cls(learned, same, truths[0].sources)


def test_clicking_a_state_shows_the_models_own_numbers(tab: Tab, suite: Path) -> None:
    board = Board.of(suite, "cliffwalking", "tautdist", 0)
    colours = tab.page.locator("#learned .state").evaluate_all("all => all.map(one => one.getAttribute('fill'))")
    for goal, start in ((3, 20), (36, 5), (11, 12)):
        tab.click_state(goal)
        tab.page.locator(f"#true [data-state='{start}']").hover()
        assert tab.number("learned") == pytest.approx(board.learned[start, goal], abs=0.0051)
        assert tab.number("true") == board.truths["true"][start, goal]
        difference = board.learned[start, goal] - board.truths["true"][start, goal]
        assert tab.number("difference") == pytest.approx(difference, abs=0.0051)
    again = tab.page.locator("#learned .state").evaluate_all("all => all.map(one => one.getAttribute('fill'))")
    assert sum(one != other for one, other in zip(colours, again, strict=True)) > len(again) / 2
    assert "learned" in tab.text("#readout")


def test_the_start_looks_the_other_way(tab: Tab, suite: Path) -> None:
    board = Board.of(suite, "cliffwalking", "tautdist", 0)
    tab.click_state(4)
    tab.page.get_by_label("the start").check()
    tab.page.locator("#difference [data-state='30']").hover()
    assert tab.number("learned") == pytest.approx(board.learned[4, 30], abs=0.0051)
    assert tab.number("true") == board.truths["true"][4, 30]


def test_near_states_are_bright_and_far_ones_dark(tab: Tab, suite: Path) -> None:
    board = Board.of(suite, "cliffwalking", "tautdist", 0)
    tab.click_state(0)
    fills = tab.page.locator("#true .state").evaluate_all("all => all.map(one => one.getAttribute('fill'))")
    channels = np.array([[int(part) for part in fill[4:-1].split(",")] for fill in fills])
    brightness = channels @ np.array([0.299, 0.587, 0.114])
    assert np.corrcoef(brightness, board.truths["true"][:, 0])[0, 1] < -0.95


def test_the_selectors_switch_method_seed_truth_and_task(tab: Tab, suite: Path) -> None:
    tab.click_state(7)
    tab.page.locator("#learned [data-state='21']").hover()
    for method in ("maddist", "tautdist"):
        for seed in (1, 0):
            tab.choose("method", method)
            tab.choose("seed", str(seed))
            expected = Board.of(suite, "cliffwalking", method, seed).learned[21, 7]
            assert tab.number("learned") == pytest.approx(expected, abs=0.0051)
    tab.choose("truth", "observed")
    assert "observed" in tab.text("#true b")
    tab.choose("board", "1")
    assert tab.page.locator("#learned .state").count() == 26
    tab.choose("truth", "cells")
    maze = Board.of(suite, "ogbench-pointmaze-medium-stitch", "maddist", 0)
    tab.click_state(2)
    tab.page.locator("#learned [data-state='25']").hover()
    assert tab.number("learned") == pytest.approx(maze.learned[25, 2], abs=0.051)
    assert tab.number("true") == maze.truths["cells"][25, 2]
    reached = maze.truths["cells"] > 0
    factor = np.mean(maze.learned[reached] / maze.truths["cells"][reached])
    expected = maze.learned[25, 2] - factor * maze.truths["cells"][25, 2]
    assert tab.number("difference") == pytest.approx(expected, abs=0.06)
    assert f"{factor:.1f} learned steps" in tab.text("#readout")
    units = [tab.text(f"#{name} output small").strip() for name in ("learned", "true", "difference")]
    assert units == ["steps", "cells", "steps"]


def test_distances_are_shown_in_the_unit_of_the_truth(browser: Any, runs: Path, tmp_path: Path) -> None:
    """Only a truth in cells has another unit than the learned distances."""
    trials = read_trials([runs / "cliff-maddist"])
    source = Source("cliffwalking", (0, 1))
    for seed in (0, 1):
        source.truths(seed)[:] = [replace(truth, unit="time") for truth in source.truths(seed)]
    write_page(tmp_path / "time.html", trials, source=source)
    tab = opened(browser, tmp_path / "time.html")
    tab.click_state(3)
    tab.page.locator("#true [data-state='20']").hover()
    units = [tab.text(f"#{name} output small").strip() for name in ("learned", "true", "difference")]
    assert units == ["time"] * 3
    scales = [tab.text(f"#{name} .scale") for name in ("learned", "true", "difference")]
    assert all("time" in scale for scale in scales)
    assert "steps" not in tab.text("#readout")
    assert tab.number("difference") == pytest.approx(tab.number("learned") - tab.number("true"), abs=0.0101)
    tab.page.context.close()


def test_a_state_that_is_not_in_the_data_is_hatched_and_said(tab: Tab, suite: Path) -> None:
    board = Board.of(suite, "cliffwalking", "tautdist", 1)
    seen = {state.tobytes() for state in Source("cliffwalking").truths(1)[1].sources}
    missing = [k for k, state in enumerate(board.positions) if state.tobytes() not in seen]
    tab.choose("method", "tautdist")
    tab.choose("seed", "1")
    tab.choose("truth", "observed")
    tab.click_state(0)
    hatched = tab.page.locator("#true .state[fill^='url']").evaluate_all("all => all.map(one => +one.dataset.state)")
    assert set(missing) <= set(hatched)
    for state in missing[:1]:
        tab.page.locator(f"#true [data-state='{state}']").hover()
        assert "does not occur in this data" in tab.text("#readout")


def test_the_keyboard_moves_the_chosen_and_the_pointed_state(tab: Tab, suite: Path) -> None:
    board = Board.of(suite, "cliffwalking", "tautdist", 0)
    place = {tuple(np.round(position * [11, 3]).astype(int)): k for k, position in enumerate(board.positions)}
    tab.click_state(place[4, 1])
    tab.page.locator(f"#learned [data-state='{place[0, 0]}']").hover()
    tab.page.locator("#maps").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "Shift+ArrowDown"):
        tab.page.keyboard.press(key)
    expected = board.learned[place[0, 1], place[6, 0]]
    assert tab.number("learned") == pytest.approx(expected, abs=0.0051)
    outline = tab.page.locator("#maps").evaluate("one => getComputedStyle(one).outlineStyle")
    assert outline == "solid"


def test_everything_that_can_be_used_can_be_reached_with_the_tab_key(tab: Tab) -> None:
    reached = set()
    for _ in range(60):
        tab.page.keyboard.press("Tab")
        reached.add(tab.page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {"board", "method", "seed", "truth", "maps", "A", "BUTTON", "SELECT"} <= reached
    unnamed = tab.page.evaluate(
        "[...document.querySelectorAll('select, input, button, [tabindex]')]"
        ".filter(one => !one.labels?.length && !one.ariaLabel && !one.textContent.trim()).length"
    )
    assert unnamed == 0


def test_the_curves_are_the_means_of_the_seeds(tab: Tab, suite: Path) -> None:
    panels = tab.page.locator("#curves .chart")
    assert panels.count() >= 5
    assert tab.page.locator("#curves .chart .line").count() >= 10
    assert tab.page.locator("#curves .chart .band").count() >= 10
    finals = [
        json.loads(path.read_text())["evaluations"][0]["agreement"]["pearson"]
        for path in suite.glob("cliffwalking/maddist/seed-*/results.json")
    ]
    label = panels.first.get_attribute("aria-label")
    assert f"maddist {np.mean(finals):.3f}" in label
    panels.first.hover(position={"x": panels.first.bounding_box()["width"] - 15, "y": 100})
    tip = tab.text("#curves figure:first-child .tip")
    assert f"{np.mean(finals):.3f} ({min(finals):.3f}–{max(finals):.3f})" in tip


def test_the_legend_hides_and_shows_methods(tab: Tab) -> None:
    lines = tab.page.locator("#curves .chart .line")
    before = lines.count()
    button = tab.page.locator("#curves .legend button", has_text="maddist")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert lines.count() == before / 2
    button.press("Enter")
    assert lines.count() == before


def test_the_selects_of_the_curves_choose_task_measure_and_truth(tab: Tab) -> None:
    task, measure, truth = (tab.page.locator("#curves select").nth(k) for k in range(3))
    measure.select_option("pearson")
    assert tab.page.locator("#curves .chart").count() == 1
    task.select_option("all")
    assert tab.page.locator("#curves .chart").count() == 2
    truth.select_option("cells")
    assert "cells" in tab.text("#curves .panels")


def test_tables_and_ablations_are_on_the_page(tab: Tab) -> None:
    assert "fewer steps" in tab.text("#verdict")
    assert "control: Euclidean" in tab.text("#planning")
    assert "interquartile mean" in tab.text("#statistics").lower()
    assert "latent = 16" in tab.text("#ablations .legend")
    tab.page.locator("#ablations select").first.select_option("1")
    assert "true distance up to" in tab.text("#ablations .panels")


@pytest.mark.parametrize("width", [320, 360, 390])
def test_a_phone_scrolls_downwards_only_and_fingers_choose(browser: Any, report: Path, suite: Path, width: int) -> None:
    tab = opened(browser, report, width, has_touch=True)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    board = Board.of(suite, "cliffwalking", "tautdist", 0)
    for state in (14, 33):
        tab.page.locator(f"#learned [data-state='{state}']").tap()
    assert tab.number("learned") == pytest.approx(board.learned[14, 33], abs=0.0051)
    assert tab.complaints == []
    tab.page.context.close()


def test_the_page_computes_distances_of_states_that_nobody_precomputed(tab: Tab, suite: Path) -> None:
    trial = next(one for one in read_trials([suite]).main if (one.method, one.seed) == ("maddist", 0))
    assert trial.model is not None
    model = DistanceModel.load(trial.model)
    tab.choose("method", "maddist")
    tab.click_state(7)
    for side, state in (("from", [0.123, 0.77]), ("to", [0.9, 0.456])):
        for k, number in enumerate(state):
            tab.page.locator(f"#ask-{side} input").nth(k).fill(str(number))
    there, _, _, back, *_ = tab.text("#answer").split()
    assert float(there) == pytest.approx(float(model.distance([0.123, 0.77], [0.9, 0.456])), abs=2e-3)
    assert float(back) == pytest.approx(float(model.distance([0.9, 0.456], [0.123, 0.77])), abs=2e-3)
    fills = tab.page.locator("#learned .state").evaluate_all("all => all.map(one => one.getAttribute('fill'))")
    brightness = [sum(map(int, fill[4:-1].split(","))) for fill in fills]
    board = Board.of(suite, "cliffwalking", "maddist", 0)
    learned = model.pairwise(board.positions, np.array([[0.9, 0.456]]))[:, 0]
    assert np.corrcoef(brightness, learned)[0, 1] < -0.9
    assert tab.page.locator("#true .state[fill^='url']").count() == len(fills)
    tab.click_state(3)
    assert tab.page.locator("#true .state[fill^='url']").count() == 0


def test_dark_mode_is_dark(browser: Any, report: Path) -> None:
    for scheme, dark in (("light", False), ("dark", True)):
        tab = opened(browser, report, color_scheme=scheme)
        colour = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(int(part) for part in colour[4:-1].split(",")) < 200) == dark
        tab.page.context.close()


def test_names_from_files_are_text_and_never_code(browser: Any, suite: Path, tmp_path: Path) -> None:
    evil = '<img src=x onerror="window.hacked=1">{{ data }}{% if %}</script><script>window.hacked=1</script>'
    copy = Path(shutil.copytree(suite, tmp_path / "suite"))
    for path in copy.rglob("config.json"):
        config = json.loads(path.read_text())
        config["method"] += evil
        if config["ablation"]:
            config["ablation"]["value"] = evil
        path.write_text(json.dumps(config))
    write_page(tmp_path / "evil.html", read_trials([copy]))
    tab = opened(browser, tmp_path / "evil.html")
    assert tab.page.evaluate("window.hacked") is None
    assert evil in tab.page.locator("#method option").first.text_content()
    assert evil in tab.text("#curves .legend button:first-child")
    assert tab.page.locator("img").count() == 0
    assert tab.complaints == []
    tab.page.context.close()


def test_data_that_cannot_be_drawn_has_curves_and_a_reason(browser: Any, runs: Path, tmp_path: Path) -> None:
    config = runs / "cliff-maddist/config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "data": "logs/<b>mine.npz"}))
    write_page(tmp_path / "own.html", read_trials([runs / "cliff-maddist"]))
    tab = opened(browser, tmp_path / "own.html")
    assert tab.page.locator("#maps").count() == 0
    assert "not known how to draw" in tab.text("main")
    assert tab.page.locator("#curves .line").count() >= 5
    assert tab.page.locator("nav a[href='#explorer']").count() == 0
    assert tab.complaints == []
    tab.page.context.close()


def test_the_policy_names_the_only_script_and_the_only_style(report: Path) -> None:
    text = report.read_text()
    policy = html.unescape(re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[0])
    assert policy.startswith("default-src 'none'; ")
    for element, source in (("script", "script-src"), ("style", "style-src")):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", text, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy


def test_the_file_is_small_and_names_no_other(report: Path) -> None:
    text = report.read_text()
    assert len(text) < MOST_BYTES
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
