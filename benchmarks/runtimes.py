"""A model in every runtime that is installed, behind one way of asking; NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Ask = Callable[..., Any]
_NUMBERS_AT_ONCE = 1 << 24  # in a block of pairs


@dataclass(frozen=True)
class Runtime:
    """What is timed; None where a runtime has no such thing."""

    distance: Ask
    pairwise: Ask | None = None
    nearest: Ask | None = None


@contextmanager
def runtimes(model: Any, folder: Path) -> Iterator[dict[str, Runtime]]:
    """By name; those that are not installed are left out."""
    from minaction.runtimes import numpy as alone

    path = folder / "model.safetensors"
    model.save(path)
    loaded = alone.load(path)
    found = {
        "NumPy": Runtime(loaded.distance, loaded.pairwise, loaded.nearest),
        "JAX": Runtime(lambda s, g: np.asarray(model.distance(s, g)), model.pairwise, model.nearest),
    }
    with ExitStack() as stack:
        for name, make in (("ONNX Runtime", _onnx), ("PyTorch", _torch), ("browser", _browser)):
            with suppress(ImportError):
                found[name] = make(model, path, stack)
        yield found


def _in_blocks(distance: Ask, embed: Ask, measure: Ask) -> Runtime:
    """All pairs and nearest states for a runtime that embeds rows and measures pairs of embeddings."""

    def pairwise(states: Any, goals: Any) -> Any:
        return _all_pairs(_embedded(states), _embedded(goals))

    def nearest(state: Any, states: Any, k: int) -> Any:
        found = _all_pairs(embed(state[None]), _embedded(states))[0]
        return np.argpartition(found, k)[:k]

    def _embedded(states: Any) -> Any:
        return np.concatenate([embed(states[start : start + 8192]) for start in range(0, len(states), 8192)])

    def _all_pairs(x: Any, y: Any) -> Any:
        width = max(1, _NUMBERS_AT_ONCE // x.shape[-1])
        found = np.empty((len(x), len(y)), np.float32)
        for row in range(len(x)):
            for start in range(0, len(y), width):
                block = y[start : start + width]
                found[row, start : start + width] = measure(np.broadcast_to(x[row], block.shape), block)
        return found

    return Runtime(distance, pairwise, nearest)


def _onnx(model: Any, path: Path, stack: ExitStack) -> Runtime:
    import onnxruntime

    def session(part: Any) -> Any:
        model.export(path.with_name(f"{part}.onnx"), part)
        return onnxruntime.InferenceSession(path.with_name(f"{part}.onnx"))

    whole, encoder, quasimetric = map(session, ("distance", "encoder", "quasimetric"))
    return _in_blocks(
        lambda s, g: whole.run(None, {"states": s, "goals": g})[0],
        lambda s: encoder.run(None, {"states": s})[0],
        lambda x, y: quasimetric.run(None, {"x": np.ascontiguousarray(x), "y": y})[0],
    )


def _torch(model: Any, path: Path, stack: ExitStack) -> Runtime:
    import torch

    from minaction.runtimes.torch import load

    module = load(path)

    def plainly(ask: Ask) -> Ask:
        def answer(*given: Any) -> Any:
            with torch.inference_mode():
                return ask(*(torch.from_numpy(np.ascontiguousarray(one)) for one in given)).numpy()

        return answer

    return _in_blocks(plainly(module), plainly(module.embed), plainly(module.measure))


def _browser(model: Any, path: Path, stack: ExitStack) -> Runtime:
    """Times are those of the page itself: what it costs to reach a page from Python is nobody's concern."""
    from playwright.sync_api import sync_playwright

    from minaction.runtimes._file import read
    from minaction.runtimes.javascript import SCRIPT, describe

    driver = stack.enter_context(sync_playwright())
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    browser = driver.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox"])
    stack.callback(browser.close)
    page = browser.new_page()
    page.add_script_tag(path=str(SCRIPT))
    page.evaluate("(described) => { window.model = new Model(described) }", describe(read(path)))
    ask = """([states, goals, times]) => Array.from({ length: times }, () => {
        const began = performance.now();
        model.distance(states, goals);
        return (performance.now() - began) / 1000;
    })"""

    def seconds(states: Any, goals: Any, times: int) -> list[float]:
        return page.evaluate(ask, [states.tolist(), goals.tolist(), times])

    return Runtime(seconds)
