"""Frames per second of training from images, against a plain loop: `python -m benchmarks.image_speed`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

import tyro

from . import result
from .contender import Advance, Contender, Round, in_turns

BASELINE, OURS, DEFAULT = "plain PyTorch loop", "minaction, MadDist", "minaction, PathDist"
TARGET = 3.0
TASK = "ogbench-pointmaze-medium-navigate-pixels"


@dataclass(frozen=True)
class Options:
    """Compare training speeds with the same network; the contenders take turns."""

    episodes: int = 100
    """Of 1001 frames of 64 x 64 x 3."""
    batch: int = 256
    """Pairs in a batch of MadDist, whose third term takes four times as many; half of PathDist's nodes."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    seconds: float = 5.0
    """How long one turn takes."""
    rounds: int = 5
    """How many turns each contender has."""
    default: bool = True
    """Whether the default objective takes part, which has to make its graph first."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def frames(episodes: int) -> Any:
    """What is trained on."""
    from minaction.tasks import read

    return read(TASK, episodes=episodes)


def plain(episodes: int, batch: int, torch_device: str) -> Advance:
    """The baseline, two steps at a time."""
    from .plain_image_loop import PlainImageTraining

    training = PlainImageTraining(frames(episodes), batch, device=torch_device)

    def advance() -> float:
        training.step()
        float(training.step())  # wait for the device
        return 2 * training.frames_per_step

    advance()
    return advance


def ours(episodes: int, batch: int, objective: str, steps: int) -> Advance:
    """Some steps of the library's own training."""
    import jax
    import jax.numpy as jnp

    from minaction.objectives import make_objective
    from minaction.objectives._make import suited
    from minaction.training import Trainer

    data = frames(episodes)
    sizes = {
        "maddist": {"batch_size": batch, "constraint_batch_size": 4 * batch},
        "pathdist": {"batch_size": 2 * batch, "bound_batch_size": max(1, batch // 2)},
    }
    made = suited(make_objective(objective, {"averaging": 0, **sizes[objective]}), data.state_shape)
    trainer = Trainer(made, data, steps=1 << 30)
    batch = jax.eval_shape(made.sample, jax.random.key(0), made.tables(data.first(2)))
    rows = sum(leaf.size for leaf in jax.tree.leaves(batch) if jnp.issubdtype(leaf.dtype, jnp.integer))

    def advance() -> float:
        trainer.advance(steps)
        return steps * rows

    advance()
    return advance


def compare(options: Options) -> dict[str, list[Round]]:
    """The turns of every contender."""
    frames(options.episodes)  # drawn once, into the cache
    shared = {"device": options.device, "episodes": options.episodes, "batch": options.batch}
    steps = 2 if options.device == "cpu" else 50
    with ExitStack() as stack:
        contenders = {
            BASELINE: stack.enter_context(Contender(plain, **shared, torch_device=options.device)),
            OURS: stack.enter_context(Contender(ours, **shared, objective="maddist", steps=steps)),
        }
        if options.default:
            default = Contender(ours, **shared, objective="pathdist", steps=4 * steps)
            contenders[DEFAULT] = stack.enter_context(default)
        return in_turns(contenders, options.rounds, options.seconds)


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    result.warn_if_busy()
    rounds = compare(options)
    findings: dict[str, Any] = {"task": TASK, "episodes": options.episodes, "target_ratio": TARGET}
    for name, turns in rounds.items():
        ratios = [turn.rate / base.rate for turn, base in zip(turns, rounds[BASELINE], strict=True)]
        findings[name] = {
            "frames_per_second": median(turn.rate for turn in turns),
            "ratio": median(ratios),
            "lowest_ratio": min(ratios),
            "highest_ratio": max(ratios),
        }
    rows = [(name, f"{findings[name]['frames_per_second']:,.0f}", f"{findings[name]['ratio']:.2f}") for name in rounds]
    result.show("Training from 64 x 64 x 3 frames", ("", "frames per second", "ratio"), rows)
    print(f"The same loss and network reach {findings[OURS]['ratio']:.2f} times the baseline (target: {TARGET:g}).")
    result.write(options.out, findings)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
