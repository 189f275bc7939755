"""Ctrl-C: what is kept, what is said of it, and that no import is torn apart."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minaction._interrupts import held_back
from minaction._model import DistanceModel
from minaction._trees import named_leaves
from minaction.cli import main
from minaction.commands import _agent, _train

SETTINGS = ["encoder.hidden=16", "encoder.latent=8", "batch_size=16", "constraint_batch_size=16"]
SMALL = ["--objective", "maddist", "--set", *SETTINGS]

TELLING = """
import sys
from minaction.cli import main
from minaction.commands import _train

driven = _train.driven

def telling(*arguments):
    for event in driven(*arguments):
        print("step", getattr(event, "step", ""), flush=True)
        yield event

_train.driven = telling
raise SystemExit(main(sys.argv[1:]))
"""


def weights(run: Path) -> dict[str, Any]:
    return named_leaves(DistanceModel.load(run / "seed-0.safetensors").network)


def assert_alike(first: Path, second: Path) -> None:
    assert (first / "metrics.jsonl").read_text() == (second / "metrics.jsonl").read_text()
    for name, values in weights(first).items():
        np.testing.assert_array_equal(values, weights(second)[name], err_msg=name)


def train_command(out: Path, *more: str) -> list[str]:
    return ["train", "cliffwalking", "--episodes", "5", *more, "--out", str(out), *SMALL]


def test_ctrl_c_before_the_first_evaluation_keeps_the_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A real process and a real signal; then the same command, and the weights of a run that nobody interrupted."""
    stopped, undisturbed = tmp_path / "stopped", tmp_path / "undisturbed"
    command = [sys.executable, "-c", TELLING, *train_command(stopped, "--steps", "1500", "--evaluations", "1")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert any(line.startswith("step") for line in started.stdout)  # the first steps are done
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=120)
    assert started.returncode == 130, said
    assert "Traceback" not in said
    (kept,) = stopped.glob("checkpoint-*.safetensors")
    step = int(kept.stem.partition("-")[2])
    assert 0 < step < 1500
    assert f"minaction: stopped; the same command continues from step {step:,}.\n" in said
    assert main(train_command(stopped, "--steps", "1500", "--evaluations", "1")) == 0
    assert f"going on from step {step:,}" in capsys.readouterr().out
    assert main(train_command(undisturbed, "--steps", "1500", "--evaluations", "1")) == 0
    assert_alike(stopped, undisturbed)


@contextmanager
def pressed_always(said: str = "") -> Iterator[Callable[[], bool]]:
    yield lambda: True


def test_wherever_it_is_interrupted_it_ends_in_the_same_bits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between evaluations, at one, and at the end: where Ctrl-C is always pressed, each command goes one call on."""
    steps = ["--steps", "260", "--evaluations", "2"]
    assert main(train_command(tmp_path / "undisturbed", *steps)) == 0
    monkeypatch.setattr(_train, "interruptible", pressed_always)
    stops = 0
    while (code := main(train_command(tmp_path / "stopped", *steps))) == 130:
        stops += 1
        assert stops < 30
        assert "the same command continues from step" in capsys.readouterr().err
    assert code == 0
    assert stops >= 4
    assert_alike(tmp_path / "stopped", tmp_path / "undisturbed")


def test_an_agents_distance_is_kept_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_agent, "interruptible", pressed_always)
    out = tmp_path / "agents"
    assert main(["agent", "train", "cliffwalking", "--episodes", "5", "--out", str(out)]) == 130
    assert list((out / "distance").glob("checkpoint-*.safetensors"))
    assert f"stopped; the same command continues from what is in {out}." in capsys.readouterr().err


def test_what_was_not_kept_is_not_promised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(_train, "driven", interrupted)
    assert main(train_command(tmp_path / "run", "--steps", "5")) == 130
    assert capsys.readouterr().err.endswith("minaction: stopped; nothing was kept.\n")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["distance", "progress", "suite --dry-run", "reproduce --dry-run"])
def test_commands_without_a_checkpoint_promise_none(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from minaction.commands import _inspect, _progress, _suite

    def interrupted(*_: object, **__: object) -> Any:
        raise KeyboardInterrupt

    for module, name in ((_inspect, "models_of"), (_progress, "models_of"), (_suite, "batches")):
        monkeypatch.setattr(module, name, interrupted)
    given = {"distance": ["run", "--from", "0", "--to", "1"], "progress": ["run"]}
    given |= {"suite": ["paper"], "reproduce": ["landscape"]}
    name, *options = command.split()
    assert main([name, *given[name], *options]) == 130
    assert capsys.readouterr().err == "minaction: stopped.\n"


PRESSED = """
import os, signal, sys

class Presses:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Presses())
from minaction.cli import main
raise SystemExit(main(["train", "cliffwalking", "--steps", "1", "--out", sys.argv[1]]))
"""


@pytest.mark.parametrize("module", ["tyro", "numpy", "jaxlib", "jax._src.api", "equinox"])
def test_ctrl_c_waits_until_modules_are_imported(module: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PRESSED.format(module=module), str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, "minaction: stopped.\n")
    assert not (tmp_path / "run").exists()


def test_what_is_held_back_comes_at_the_end() -> None:
    done = list[str]()

    def press() -> None:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            done.append("all of the block")

    with pytest.raises(KeyboardInterrupt):
        press()
    assert done == ["all of the block"]
    with held_back():
        pass
