"""Shared by all tests: shapes are checked at run time, and every test has a cache folder of its own."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minaction._compiled import this_machine

os.environ.setdefault("JAX_PLATFORMS", "cpu")

# A shell that starts tests in the background has them ignore Ctrl-C, and every program that they start as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Most of the tests' time would go into compiling the same programs again in one process after the other.
# What a kill leaves half written is compiled again; see `tests/robustness/test_surroundings.py`.
_COMPILED = Path(__file__).parent.parent / ".pytest_cache" / f"compiled-{this_machine()}"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
# And most of what is left, into optimising programs that run once; what trains asks for optimisation itself.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

from jaxtyping import install_import_hook  # noqa: E402 (after the environment is set)

# Array shapes in annotations are promises; with this they are kept, or a test fails.
# (Not on modules whose constructors refuse wrong types with a sentence of their own.)
_CHECKED = ["encoders", "objectives", "quasimetrics._simple", "quasimetrics._norms", "quasimetrics._reductions"]
install_import_hook([f"minaction.{name}" for name in _CHECKED], "beartype.beartype")

from minaction.trajectories import Trajectories  # noqa: E402 (after the hook)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(autouse=True)
def _signals_as_they_were() -> Iterator[None]:
    """The command line ignores Ctrl-C once it was pressed, since its process ends; that of the tests goes on."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module", autouse=True)
def _programs_are_let_go_in_time() -> Iterator[None]:
    """XLA maps memory for every compiled program, three times; at the system's limit, 65,530, a process crashes."""
    yield
    mapped = Path("/proc/self/maps")
    if mapped.exists() and mapped.read_bytes().count(b"\n") > 20_000:
        import jax  # which reads the environment, set above, as it is imported

        jax.clear_caches()


@pytest.fixture
def line_walks() -> Trajectories:
    """Random walks on the points 0 to 9 of a line."""
    random = np.random.default_rng(0)
    episodes = [np.clip(np.cumsum(random.choice([-1, 1], 40)) + 5, 0, 9)[:, None] for _ in range(30)]
    return Trajectories.from_episodes(episodes)


@pytest.fixture
def log_file(tmp_path: Path, line_walks: Trajectories) -> Path:
    """Those walks as a person's own .npz file."""
    path = tmp_path / "log.npz"
    np.savez(path, states=line_walks.states, offsets=line_walks.offsets)
    return path


_BROWSER_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser: the system's, or else Playwright's own; see `make browser`."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the Python package: pip install playwright")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=_BROWSER_FLAGS)
        yield browser
        browser.close()
