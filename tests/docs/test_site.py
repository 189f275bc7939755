"""The built site in a real browser: its search leads a new user to the answer, and it loads nothing from elsewhere.

`make docs` builds the site and runs this; without a site there is nothing to test.
"""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SITE = Path(__file__).parent.parent.parent / "site"
pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="needs the site: make docs")

QUESTIONS = {
    "collect": ("uses/", "records the observations of any Gymnasium environment"),
    "ShapedReward": ("api/uses/", "adds F = discount * Phi(s') - Phi(s)"),
    "observed_distance": ("api/truth/", "The minimum time between all distinct states"),
    "ma.observed_distance": ("api/truth/", "The minimum time between all distinct states"),
    "ma.collect": ("uses/", "records the observations of any Gymnasium environment"),
    "layout of a CSV": ("faq/", "One row per state"),
    "meaning of a setting": ("choosing/", "size of a gradient step"),
    "what does learning_rate mean": ("choosing/", "size of a gradient step"),
    "how many steps to train": ("choosing/", "As many as the objective needs by default"),
    "agent": ("api/agents/", "Learn to reach goals from recordings, without a simulator"),
    "which objective to choose": ("choosing/", "Take the default, PathDist"),
}
"""What a new user types, the page of the first result, and what stands there."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of this machine alone: a search runs in a worker, which browsers refuse to files."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def page(browser: Any, address: str) -> Any:
    page = browser.new_page()
    page.requested = []
    page.on("request", lambda request: page.requested.append(request.url))
    page.goto(address)
    return page


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_first_result_answers(question: str, page: Any, address: str) -> None:
    where, said = QUESTIONS[question]
    page.goto(address)
    page.locator("[data-md-component=search-query]").click()
    page.locator("[data-md-component=search-query]").press_sequentially(question)
    first = page.locator(".md-search-result__item a").first
    first.wait_for(timeout=20_000)
    page.wait_for_timeout(1000)  # results of the whole question replace those of its beginning
    target = first.get_attribute("href").partition("?")[0]
    assert target == address + where
    page.goto(target)
    assert said in page.locator("article").inner_text()


def test_nothing_is_loaded_from_elsewhere(page: Any, address: str) -> None:
    for path in ("", "tutorial/", "api/objectives/", "results/"):
        page.goto(address + path)
    assert all(url.startswith((address, "data:", "blob:")) for url in page.requested)
