"""A model in every runtime that is installed, behind one way of asking; NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

import base64
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Ask = Callable[..., np.ndarray]
_NUMBERS_AT_ONCE, _ROWS_AT_ONCE = 1 << 20, 1 << 13  # in a block of pairs; states that are embedded together
_IN_THE_PAGE = Path(__file__).with_name("in_the_page.js")


@dataclass(frozen=True)
class Runtime:
    """What is timed."""

    distance: Ask
    """Of states and goals, pair by pair."""
    pairwise: Ask
    """Of all states and all goals."""
    nearest: Ask
    """The indices of the k of many states that are soonest reached from one, in any order."""

    def seconds(self, question: str, *given: Any) -> float:
        """How long one of these takes."""
        start = time.perf_counter()
        getattr(self, question)(*given)
        return time.perf_counter() - start


@contextmanager
def runtimes(model: Any, folder: Path) -> Iterator[dict[str, Runtime]]:
    """By name; those that are not installed are left out."""
    from minaction.runtimes import numpy as alone

    path = folder / "model.safetensors"
    model.save(path)
    loaded = alone.load(path)
    found = {
        "NumPy": Runtime(loaded.distance, loaded.pairwise, lambda *given: loaded.nearest(*given)[0]),
        "JAX": Runtime(
            lambda *given: np.asarray(model.distance(*given)), model.pairwise, lambda *given: model.nearest(*given)[0]
        ),
    }
    with ExitStack() as stack:
        for name, make in (("ONNX Runtime", _onnx), ("PyTorch", _torch), ("browser", _browser)):
            with suppress(ImportError):
                found[name] = make(model, path, stack)
        yield found


def _in_blocks(distance: Ask, embed: Ask, measure: Ask) -> Runtime:
    """All pairs and nearest states for a runtime that embeds rows and measures one embedding against many."""

    def pairwise(states: Any, goals: Any) -> np.ndarray:
        x, y = (np.concatenate([embed(block) for block in _blocks(side, _ROWS_AT_ONCE)]) for side in (states, goals))
        return np.stack([measured(row, y) for row in x])

    def nearest(state: Any, states: Any, k: int) -> np.ndarray:
        (x,) = embed(state[None])
        found = np.concatenate([measured(x, embed(block)) for block in _blocks(states, _ROWS_AT_ONCE)])
        return np.argpartition(found, k)[:k]

    def measured(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.concatenate([measure(x, block) for block in _blocks(y, max(1, _NUMBERS_AT_ONCE // len(x)))])

    return Runtime(distance, pairwise, nearest)


def _blocks(rows: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _onnx(model: Any, path: Path, stack: ExitStack) -> Runtime:
    import onnxruntime

    def session(part: Any) -> Any:
        model.export(path.with_name(f"{part}.onnx"), part)
        return onnxruntime.InferenceSession(path.with_name(f"{part}.onnx"))

    whole, encoder, quasimetric = map(session, ("distance", "encoder", "quasimetric"))
    return _in_blocks(
        lambda s, g: whole.run(None, {"states": s, "goals": g})[0],
        lambda s: encoder.run(None, {"states": s})[0],
        lambda x, y: quasimetric.run(None, {"x": np.tile(x, (len(y), 1)), "y": y})[0],
    )


def _torch(model: Any, path: Path, stack: ExitStack) -> Runtime:
    import torch

    from minaction.runtimes.torch import load

    module = load(path)

    def plainly(ask: Callable[..., Any]) -> Ask:
        def answer(*given: Any) -> np.ndarray:
            with torch.inference_mode():
                return ask(*map(torch.from_numpy, given)).numpy()

        return answer

    return _in_blocks(plainly(module), plainly(module.embed), plainly(module.measure))


@dataclass(frozen=True)
class _Page(Runtime):
    """Times itself: what it costs to reach a page from Python is nobody's concern."""

    evaluate: Callable[..., Any]

    def seconds(self, question: str, *given: Any) -> float:
        return self.evaluate("([question, ...given]) => seconds(question, given)", _sent(question, *given))


def _browser(model: Any, path: Path, stack: ExitStack) -> Runtime:
    from playwright.sync_api import sync_playwright

    from minaction.runtimes._file import read
    from minaction.runtimes.javascript import SCRIPT, describe

    driver = stack.enter_context(sync_playwright())
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    browser = driver.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox"])
    stack.callback(browser.close)
    page = browser.new_page()
    for script in (SCRIPT, _IN_THE_PAGE):
        page.add_script_tag(path=str(script))
    page.evaluate("(described) => { window.model = new Model(described) }", describe(read(path)))

    def asking(question: str) -> Ask:
        ask = "([question, ...given]) => answer(question, given)"
        return lambda *given: np.array(page.evaluate(ask, _sent(question, *given)))

    def pairwise(states: Any, goals: Any) -> np.ndarray:
        return asking("pairwise")(states, goals).reshape(len(states), len(goals))

    return _Page(asking("distance"), pairwise, asking("nearest"), page.evaluate)


def _sent(*given: Any) -> list[Any]:
    """States as text, because a million lists would take a browser minutes to be given."""

    def sent(one: np.ndarray) -> dict[str, Any]:
        return {"size": one.shape[-1], "text": base64.b64encode(one.tobytes()).decode()}

    return [sent(one) if isinstance(one, np.ndarray) else one for one in given]
