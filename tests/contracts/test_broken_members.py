"""The public checks find what is wrong with members that break a law, and say which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction.objectives import Pairs, trajectory_pairs
from minaction.testing import check_encoder, check_objective, check_quasimetric, check_reader, check_task

# ---------------------------------------------------------------- quasimetrics


class Formula(ma.QuasimetricModule):
    kind: str = eqx.field(static=True)
    weight: jax.Array

    def __call__(self, x: jax.Array, y: jax.Array) -> jax.Array:
        difference = x - y
        length = jnp.sqrt(jnp.sum(difference**2, axis=-1))
        return {
            "squared": jnp.sum(difference**2, axis=-1),
            "signed": jnp.sum(difference, axis=-1),
            "offset": jnp.sum(jnp.abs(difference), axis=-1) + 1,
            "saturating": jnp.sum(jnp.tanh(jnp.abs(difference)), axis=-1),
            "kinked": length,
            "weighed": (0.1 * self.weight + 0.9 - 5 * (self.weight - 1) ** 2) * jnp.sum(jnp.abs(difference), axis=-1),
            "undirected": jnp.sum(jnp.abs(difference), axis=-1),
            "unreduced": jnp.abs(difference),
            "nothing": jnp.zeros(length.shape),
        }[self.kind]


@dataclass(frozen=True)
class Flawed(ma.Quasimetric):
    name: ClassVar[str] = "flawed"
    kind: str = "squared"

    def build(self, latent_size: int, *, key: Any) -> ma.QuasimetricModule:
        return Formula(self.kind, jnp.ones((), jnp.float32))


class FlawedMetric(Flawed):
    name: ClassVar[str] = "flawed-metric"
    symmetric: ClassVar[bool] = True


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("squared", "Triangle inequality"),
        ("signed", "Non-negativity"),
        ("offset", "Identity"),
        ("saturating", "Positive homogeneity"),
        ("weighed", "Non-negativity.* with other weights"),  # it holds until the weight is learned
        ("undirected", "`symmetric` of .* is False"),
        ("unreduced", "Broadcasting"),
        ("nothing", "gives 0 for all points"),
    ],
)
def test_a_quasimetric_that_breaks_a_law_is_found(kind: str, law: str) -> None:
    ma.register(Flawed)
    with pytest.raises(AssertionError, match=law):
        check_quasimetric(Flawed(kind))


def test_a_gradient_that_is_not_finite_at_a_kink_is_found() -> None:
    ma.register(FlawedMetric)
    check_quasimetric(FlawedMetric("undirected"))
    with pytest.raises(AssertionError, match=r"Gradients .* are finite where points or coordinates coincide"):
        check_quasimetric(FlawedMetric("kinked"))


def test_a_member_that_is_not_registered_is_told_how_to_be() -> None:
    with pytest.raises(AssertionError, match=r"@ma\.register, or offer it as an entry point of the group 'minaction"):
        check_quasimetric(Flawed())


# ---------------------------------------------------------------- encoders


@dataclass(frozen=True)
class FlawedEncoder(ma.Encoder):
    name: ClassVar[str] = "flawed"
    kind: str = "short"
    listed: tuple[Any, ...] = ()

    @property
    def latent_size(self) -> int:
        return 4

    def build(self, inputs: ma.InputStatistics, *, key: Any) -> ma.EncoderModule:
        fixed = jax.random.key(0) if self.kind == "one set of weights" else key
        return FlawedModule(self.kind, 0.1 * jax.random.normal(fixed, (inputs.mean.size, 4)))


class FlawedModule(ma.EncoderModule):
    kind: str = eqx.field(static=True)
    weight: jax.Array

    def __call__(self, states: jax.Array) -> jax.Array:
        rows = states.reshape(len(states), self.weight.shape[0])
        if self.kind == "whole numbers":
            return (rows @ self.weight.astype(rows.dtype)).astype(rows.dtype)
        found = rows.astype(jnp.float32) @ self.weight
        if self.kind == "short":
            return found[:, :3]
        if self.kind == "batch":
            return found - jnp.mean(found, axis=0)
        if self.kind == "infinite":
            return 1 / (found - found)
        if self.kind == "frozen":
            return jax.lax.stop_gradient(found)
        if self.kind == "root":
            return jnp.sqrt(jnp.abs(found))
        return found


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("short", r"shape \(12, 3\) for 12 states, but `latent_size` is 4"),
        ("batch", "does not depend on the other states"),
        ("infinite", "NaN or infinite"),
        ("frozen", "No gradient reaches any weight"),
        ("root", "Gradients .* are finite for a state that is all zeros"),
        ("one set of weights", "same weights for every key"),
        ("whole numbers", "Embeddings are float32"),
    ],
)
def test_an_encoder_that_breaks_a_law_is_found(kind: str, law: str) -> None:
    ma.register(FlawedEncoder)
    with pytest.raises(AssertionError, match=law):
        check_encoder(FlawedEncoder(kind), dtype="uint8" if kind == "whole numbers" else "float32")


def test_an_encoder_that_cannot_be_described_is_found() -> None:
    ma.register(FlawedEncoder)
    with pytest.raises(AssertionError, match="cannot be hashed"):
        check_encoder(FlawedEncoder(listed=([1],)))
    with pytest.raises(AssertionError, match="cannot be written as JSON"):
        check_encoder(FlawedEncoder(listed=(1j,)))


def test_states_of_a_shape_that_an_encoder_cannot_take_are_a_law_that_failed() -> None:
    @ma.register
    @dataclass(frozen=True)
    class Picky(FlawedEncoder):
        name: ClassVar[str] = "picky"

        def build(self, inputs: ma.InputStatistics, *, key: Any) -> ma.EncoderModule:
            _height, _width = inputs.mean.shape
            return super().build(inputs, key=key)

    with pytest.raises(AssertionError, match=r"Building the encoder 'picky' for 12 states of shape \(3,\) failed"):
        check_encoder("picky")


# ---------------------------------------------------------------- objectives


@dataclass(frozen=True)
class FlawedObjective(ma.Objective):
    name: ClassVar[str] = "flawed"
    kind: str = "timeless"

    def init(self, distance: Any) -> Any:
        return jnp.zeros(())

    def sample(self, key: Any, tables: Any) -> Pairs:
        if self.kind == "one batch":
            key = jax.random.key(0)
        pairs = trajectory_pairs(key, tables, 16, 5)
        if self.kind == "out of range":
            return pairs._replace(second=pairs.second + tables.num_states)
        if self.kind == "padded":
            return pairs._replace(first=jax.random.randint(key, (16,), 0, len(tables.starts)))
        return pairs

    def loss(self, distance: Any, extra: Any, batch: Pairs, states: Any, progress: Any) -> Any:
        (found,) = states.distances(distance, (batch.first, batch.second))
        elapsed = jnp.ones(16) if self.kind == "timeless" else batch.elapsed
        value = jnp.mean((found - elapsed) ** 2)
        if self.kind == "position":
            value += 1e-2 * jnp.mean(batch.first)
        if self.kind == "detached":
            value = jax.lax.stop_gradient(value)
        return value, {"error": found if self.kind == "array term" else value}

    def advance(self, distance: Any, extra: Any, terms: Any) -> Any:
        return (extra, extra) if self.kind == "growing" else extra


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("timeless", "Recorded times do not count"),
        ("out of range", "Integers in a batch are indices of recorded states"),
        ("one batch", "samples the same batch with every key"),
        ("padded", "what its tables were filled up with"),
        ("position", "with indices renumbered"),
        ("detached", "No gradient .* reaches the encoder"),
        ("array term", r"The term 'error' .* has shape \(16,\)"),
        ("growing", "`advance` .* must give what `init` gives"),
    ],
)
def test_an_objective_that_breaks_a_law_is_found(kind: str, law: str) -> None:
    ma.register(FlawedObjective)
    with pytest.raises(AssertionError, match=law):
        check_objective(FlawedObjective(encoder=ma.MLP(hidden=(8,), latent=4), kind=kind))


# ---------------------------------------------------------------- tasks


@dataclass(frozen=True)
class FlawedTask(ma.Task):
    name: str = "flawed"
    summary: str = "points on a line"
    default_episodes: int = 3
    state_shape: tuple[int, ...] = (1,)
    kind: str = ""

    def trajectories(
        self, seed: int = 0, episodes: int | None = None, progress: Any = None, keep_actions: bool = False
    ) -> Any:
        random = np.random.default_rng(None if self.kind == "unseeded" else 0 if self.kind == "one seed" else seed)
        walks = [np.clip(np.cumsum(random.choice([-1.0, 1.0], 20)), -4, 4) for _ in range(episodes or 3)]
        return ma.Trajectories.from_episodes(walks[:1] if self.kind == "few" else walks)

    def truths(self) -> list[ma.Truth]:
        states = np.arange(-4.0, 5.0)[:, None]
        between = np.abs(states - states.T)
        if self.kind == "squared":
            between = between**2
        if self.kind == "slow":
            between = 3 * between
        if self.kind == "offset":
            between = between + 1
        truth = ma.Truth.between("true", "" if self.kind == "no unit" else "steps", states, between)
        return [truth, truth] if self.kind == "one name" else [truth]

    def layout(self) -> ma.Layout:
        pixels = np.stack([np.zeros(9, int), np.arange(9) // (2 if self.kind == "crowded" else 1)], axis=1)
        return ma.Layout((1, 5 if self.kind == "narrow" else 9), np.arange(-4.0, 5.0)[:, None], pixels)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("unseeded", "The same seed gives the same bytes"),
        ("one seed", "Seeds 0 and 1 give the same data"),
        ("few", "made 1 episodes where 3 were asked for"),
        ("squared", "Triangle inequality: .* gives 64 directly and 32 by a detour"),
        ("slow", "says .* for two states that were recorded .* steps apart"),
        ("offset", "no distance from itself: .* gives 1"),
        ("no unit", "has the unit ''; name one"),
        ("one name", "names of their own"),
        ("narrow", r"has shape \(1, 5\), but pixels run from \[0, 0\] to \[0, 8\]"),
        ("crowded", "share a pixel"),
    ],
)
def test_a_task_that_breaks_a_law_is_found(kind: str, law: str) -> None:
    ma.register(FlawedTask())
    with pytest.raises(AssertionError, match=law):
        check_task(FlawedTask(kind=kind))


def test_a_task_that_announces_another_shape_is_found() -> None:
    ma.register(FlawedTask())
    check_task("flawed")
    with pytest.raises(AssertionError, match=r"announces states of shape \(2,\), but makes \(1,\)"):
        check_task(replace(FlawedTask(), state_shape=(2,)))


# ---------------------------------------------------------------- readers


class FlawedReader(ma.Reader):
    name: ClassVar[str] = "flawed"
    suffixes: ClassVar[tuple[str, ...]] = (".flawed",)

    def read(self, path: Path, *, keep_actions: bool = False, memory_map: bool = False) -> Any:
        return ma.Trajectories.from_flat(np.array([float(word) for word in path.read_text().split()]))


class Careful(FlawedReader):
    name: ClassVar[str] = "careful"
    suffixes: ClassVar[tuple[str, ...]] = (".careful",)

    def read(self, path: Path, *, keep_actions: bool = False, memory_map: bool = False) -> Any:
        try:
            return super().read(path)
        except ValueError as error:
            raise ma.InputError(f"{path} cannot be read ({error}).") from error


class Shouting(Careful):
    name: ClassVar[str] = "shouting"
    suffixes: ClassVar[tuple[str, ...]] = (".SHOUT",)


class LongSignature(Careful):
    name: ClassVar[str] = "long-signature"
    signature: ClassVar[bytes] = b"nine bytes"


class Taken(Careful):
    name: ClassVar[str] = "taken"
    suffixes: ClassVar[tuple[str, ...]] = (".npy",)


class Unmapped(Careful):
    name: ClassVar[str] = "unmapped"
    mappable: ClassVar[bool] = True


@pytest.mark.parametrize(
    ("reader", "name", "law"),
    [
        (FlawedReader, "log.flawed", "is refused with an InputError that names it: .* UnicodeDecodeError|says"),
        (Shouting, "log.shout", "in lower case with their dot"),
        (LongSignature, "log.careful", "at most 8 bytes"),
        (Taken, "log.npy", "should be read by the reader 'taken', but 'npy' takes it"),
        (Unmapped, "log.careful", "do not stay in the file"),
    ],
)
def test_a_reader_that_breaks_a_law_is_found(reader: type[ma.Reader], name: str, law: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("0 1 2 1")
    ma.register(reader)
    with pytest.raises(AssertionError, match=law):
        check_reader(reader, path)


def test_a_reader_that_keeps_them_passes(tmp_path: Path) -> None:
    (tmp_path / "log.careful").write_text("0 1 2 1")
    ma.register(Careful)
    check_reader("careful", tmp_path / "log.careful")
