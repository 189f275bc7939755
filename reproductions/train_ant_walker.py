"""Train the policy that walks OGBench's ant where it is told, on flat ground.

    python reproductions/train_ant_walker.py runs/ant-walker                 train, or go on where it stopped
    python reproductions/train_ant_walker.py runs/ant-walker --steps 500000  end earlier or later

The folder gets `checkpoint.safetensors` (everything, so that an interrupted run goes on as if nothing had
happened), `curve.json` and the policy at every evaluation, `walker-STEPS.safetensors`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # for the package beside this script

from ant_walker.soft_actor_critic import ROW_SIZE, Learner, Settings, act, learn, make_learner, remember

from minaction._files import read_json, read_tensors, write_json, write_tensors
from minaction._progress import training_progress
from minaction._trees import named_leaves, with_named_leaves
from minaction.mazes._ant import ACTION_SIZE, Ants, flat_ground, reset_noise, reset_states, uprightness
from minaction.mazes._walker import Walker
from minaction.mazes._walking import REDRAW, Gait, is_healthy, measure_gait, random_directions

ANTS = 16
BLOCK = 32  # steps of every ant between two calls of the learner
UPDATES_PER_STEP = 0.5
EPISODE = 500  # steps after which an ant is put back, fallen or not
FIRST_STEPS = 8_192  # taken with random torques, before learning begins
CAPACITY = 1_048_576  # rows of the replay buffer, a multiple of ANTS * BLOCK
EVALUATE_EVERY = 40 * ANTS * BLOCK
KIND = "ant walker training"


@dataclass
class Herd:
    """The ants that gather experience."""

    ants: Ants
    directions: np.ndarray
    ages: np.ndarray

    @classmethod
    def start(cls, seed: int, threads: int) -> Herd:
        random = np.random.default_rng(seed)
        herd = cls(Ants(flat_ground(), ANTS, threads), random_directions(random, ANTS), np.zeros(ANTS, dtype=np.int64))
        herd.ants.place(reset_states(np.zeros((ANTS, 2)), reset_noise(random, ANTS)))
        herd.ages[:] = np.arange(ANTS) * EPISODE // ANTS  # so that they are not all put back at once
        return herd

    def gather(self, actor: Any, key: jax.Array, random: np.random.Generator, learning: bool) -> np.ndarray:
        """Rows for the replay buffer, (BLOCK * ANTS, ROW_SIZE)."""
        rows = np.empty((BLOCK, ANTS, ROW_SIZE), dtype=np.float32)
        states = self.ants.states
        for step in range(BLOCK):
            if learning:
                actions = np.asarray(act(actor, states[:, 2:], self.directions, jax.random.fold_in(key, step)))
            else:
                actions = random.uniform(-1.0, 1.0, size=(ANTS, ACTION_SIZE))
            after = self.ants.step(actions)
            fallen = ~is_healthy(after) | (uprightness(after) < 0)
            moved = after[:, :2] - states[:, :2]
            parts = (states[:, 2:], after[:, 2:], actions, self.directions, moved, fallen[:, None])
            rows[step] = np.concatenate(parts, axis=1)
            self.ages += 1
            self._redraw(np.flatnonzero(self.ages % REDRAW == 0), random)
            self._put_back(np.flatnonzero(fallen | (self.ages >= EPISODE)), random)
            states = self.ants.states
        return rows.reshape(-1, ROW_SIZE)

    def _redraw(self, which: np.ndarray, random: np.random.Generator) -> None:
        self.directions[which] = random_directions(random, len(which))

    def _put_back(self, which: np.ndarray, random: np.random.Generator) -> None:
        if len(which):
            self.ants.place(reset_states(np.zeros((len(which), 2)), reset_noise(random, len(which))), which)
            self._redraw(which, random)
            self.ages[which] = 0


@dataclass
class Run:
    """A training as it stands: what is learned, what was seen, and how well it walked so far."""

    folder: Path
    seed: int
    settings: Settings
    learner: Learner
    replay: jax.Array
    herd: Herd
    blocks: int
    curve: list[dict[str, float]]

    @classmethod
    def start(cls, folder: Path, seed: int, settings: Settings, threads: int) -> Run:
        """From the checkpoint in `folder` if there is one."""
        run = cls(
            folder=folder,
            seed=seed,
            settings=settings,
            learner=make_learner(settings, seed),
            replay=jnp.zeros((CAPACITY, ROW_SIZE), dtype=jnp.float32),
            herd=Herd.start(seed, threads),
            blocks=0,
            curve=[],
        )
        if (folder / "checkpoint.safetensors").exists():
            run.restore()
        return run

    @property
    def steps(self) -> int:
        return self.blocks * BLOCK * ANTS

    @property
    def filled(self) -> int:
        return min(self.steps, CAPACITY)

    def advance(self) -> None:
        """A block of steps, then the updates they pay for."""
        learning = self.steps >= FIRST_STEPS
        random = np.random.default_rng([self.seed, self.blocks])
        key = jax.random.fold_in(jax.random.key(self.seed), self.blocks)
        rows = self.herd.gather(self.learner.actor, key, random, learning)
        self.replay = remember(self.replay, rows, jnp.int32(self.steps % CAPACITY))
        self.blocks += 1
        if learning:
            updates = int(UPDATES_PER_STEP * BLOCK * ANTS)
            filled, key = jnp.int32(self.filled), jax.random.key(self.seed + 1)
            self.learner = learn(self.settings, self.learner, self.replay, filled, updates, key)

    def walker(self, card: dict[str, Any]) -> Walker:
        """The policy without its randomness."""
        layers = self.learner.actor.layers
        weights, biases = [np.array(layer.weight) for layer in layers], [np.array(layer.bias) for layer in layers]
        weights[-1], biases[-1] = weights[-1][:ACTION_SIZE], biases[-1][:ACTION_SIZE]
        return Walker(tuple(weights), tuple(biases), card)

    def evaluate(self, seconds: float) -> Gait:
        """How it walks now, without noise; adds to the curve and leaves the policy and a checkpoint."""
        gait = measure_gait(self.walker({}), episodes=32, steps=200, seed=self.seed)
        temperature = float(jnp.exp(self.learner.log_temperature))
        record = {"steps": self.steps, "seconds": seconds, "temperature": temperature, **asdict(gait)}
        self.curve.append(record)
        trained = {"steps": self.steps, "ants": ANTS, "updates": int(self.learner.updates), "seed": self.seed}
        trained |= {"hours": seconds / 3600, "settings": _plain(self.settings)}
        self.walker({"trained": trained}).save(self.folder / f"walker-{self.steps:07d}.safetensors")
        write_json(self.folder / "curve.json", self.curve)
        self.save()
        return gait

    def save(self) -> None:
        """Everything that the rest of the training depends on."""
        tensors = {f"learner.{name}": array for name, array in named_leaves(self.learner).items()}
        tensors |= {
            "replay": np.asarray(self.replay)[: self.filled],
            "simulation": np.array(self.herd.ants.simulation.state),
            "directions": self.herd.directions,
            "ages": self.herd.ages,
        }
        header = {"blocks": self.blocks, "seed": self.seed, "settings": _plain(self.settings)}
        write_tensors(self.folder / "checkpoint.safetensors", KIND, tensors, header)

    def restore(self) -> None:
        """Go on from the checkpoint."""
        tensors, header = read_tensors(self.folder / "checkpoint.safetensors", KIND)
        if header["seed"] != self.seed or header["settings"] != _plain(self.settings):
            raise SystemExit(f"{self.folder} holds a training with other settings; choose another folder.")
        prefix = "learner."
        leaves = {name[len(prefix) :]: array for name, array in tensors.items() if name.startswith(prefix)}
        self.learner = with_named_leaves(self.learner, leaves)
        self.replay = remember(self.replay, tensors["replay"], jnp.int32(0))
        self.herd.ants.simulation.state[...] = tensors["simulation"]
        self.herd.directions[...], self.herd.ages[...] = tensors["directions"], tensors["ages"]
        self.blocks = header["blocks"]
        self.curve = read_json(self.folder / "curve.json")


def _plain(settings: Settings) -> dict[str, Any]:
    return json.loads(json.dumps(asdict(settings)))  # as a file gives it back: lists instead of tuples


def train(run: Run, steps: int) -> None:
    """Until `steps` steps are taken."""
    note = ""
    before, began = (run.curve[-1]["seconds"] if run.curve else 0.0), time.monotonic()
    with training_progress(steps, done=run.steps) as show:
        while run.steps < steps:
            run.advance()
            if run.steps % EVALUATE_EVERY == 0 or run.steps >= steps:
                gait = run.evaluate(before + time.monotonic() - began)
                note = f"{gait.speed:.3f} along, cosine {gait.cosine:.2f}, healthy {gait.healthy:.0%}"
            show(run.steps, note)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, or go on."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=398_336, help="of all ants together (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="for MuJoCo (default %(default)s)")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    train(Run.start(options.folder, options.seed, Settings(), options.threads), options.steps)


if __name__ == "__main__":
    main()
