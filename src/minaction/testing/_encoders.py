"""The laws of an encoder."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from .._descriptions import make
from .._distance import Architecture, Distance
from .._model import DistanceModel, Provenance
from ..encoders import ENCODERS, Encoder, EncoderModule, input_statistics
from ..quasimetrics import L2
from ._laws import attempting, check_description, check_weak_types, require, require_close, require_finite

_STATES = 12
_build = eqx.filter_jit(lambda described, inputs, key: described.build(inputs, key=key))
_encode = eqx.filter_jit(lambda module, states: module(states))


def check_encoder(
    encoder: Encoder | type[Encoder] | str, state_shape: tuple[int, ...] = (3,), dtype: DTypeLike = "float32"
) -> None:
    """Check that an encoder does what training, models and files rely on, for states of one shape and type.

    It gives `latent_size` numbers for each state, whatever others are in the batch, and the same ones every time;
    `jit`, `vmap` over keys and gradients work; states reach it as they were recorded (uint8 images as uint8); its
    description survives JSON, and its weights a model file.

    Args:
        encoder: a description, its class, or its name.
        state_shape: the shape of a state, such as (64, 64, 3).
        dtype: the type in which states are recorded.

    Raises:
        AssertionError: where a law fails, with the law and the numbers.

    >>> import minaction as ma
    >>> from minaction.testing import check_encoder
    >>> check_encoder(ma.MLP(hidden=(8,), latent=4), state_shape=(6, 6), dtype="uint8")
    """
    described: Encoder = make(ENCODERS, encoder() if isinstance(encoder, type) else encoder)
    what = f"the encoder {described.name!r}"
    check_description(described, what)
    states = _states(state_shape, np.dtype(dtype))
    inputs = input_statistics(states)
    with attempting(f"Building {what} for {_STATES} states of shape {state_shape}"):
        module = _build(described, inputs, jax.random.key(0))
    require(isinstance(module, EncoderModule), f"{what} builds {module!r}, not an EncoderModule.")
    check_weak_types(module, what)
    rows = jnp.asarray(states, jax.dtypes.canonicalize_dtype(states.dtype))
    with attempting(f"Encoding {states.dtype} states of shape {state_shape} with {what}"):
        _check_embeddings(module, rows, described.latent_size, what)
        _check_building(described, inputs, rows, what)
        _check_gradients(module, rows, what)
        _check_file(described, module, states, what)


def _states(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """States that differ in every number; whole numbers come from the whole range of their type."""
    random = np.random.default_rng(0)
    if dtype.kind == "f":
        return random.normal(3.0, 2.0, (_STATES, *shape)).astype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, (_STATES, *shape)).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, (_STATES, *shape), dtype=dtype, endpoint=True)


def _check_embeddings(module: EncoderModule, rows: jax.Array, latent_size: int, what: str) -> None:
    found = _encode(module, rows)
    require(
        found.shape == (_STATES, latent_size),
        f"{what} gives embeddings of shape {found.shape} for {_STATES} states, but `latent_size` is {latent_size}.",
    )
    require(found.dtype == jnp.float32, f"Embeddings are float32: {what} gives {found.dtype} for {rows.dtype} states.")
    require_finite(found, f"Embeddings of {what} are finite")
    require(np.array_equal(found, _encode(module, rows)), f"{what} gives other embeddings when it is asked again.")
    size = float(np.abs(found).max())
    require_close(module(rows), found, f"{what} agrees with itself compiled by `jit`", rtol=1e-4, atol=1e-4 * size)
    law = f"An embedding does not depend on the other states of its batch: {what}, 1 of {_STATES} states"
    require_close(_encode(module, rows[:1]), found[:1], law, rtol=1e-4, atol=1e-4 * size)
    law = f"An embedding does not depend on the order of the batch: {what}"
    require_close(_encode(module, rows[::-1])[::-1], found, law, rtol=1e-4, atol=1e-4 * size)
    none = jax.eval_shape(module, rows[:0])
    require(none.shape == (0, latent_size), f"No states have no embeddings: {what} gives shape {none.shape}.")


def _check_building(described: Encoder, inputs: Any, rows: jax.Array, what: str) -> None:
    """One key gives one set of weights, another key others, and several keys can be built side by side."""

    def embeddings(key: Any) -> jax.Array:
        return described.build(inputs, key=key)(rows)

    one, again = (_build(described, inputs, jax.random.key(0)) for _ in range(2))
    require(eqx.tree_equal(one, again), f"{what} has other weights when it is built again with the same key.")
    keys = jax.random.split(jax.random.key(1), 2)
    side_by_side = jax.jit(jax.vmap(embeddings))(keys)
    size = float(np.abs(side_by_side).max())
    law = f"Built for several seeds side by side, {what} gives what it gives for each"
    require_close(side_by_side[0], embeddings(keys[0]), law, rtol=1e-3, atol=1e-4 * size)
    require(not np.array_equal(*side_by_side), f"{what} has the same weights for every key.")


def _check_gradients(module: EncoderModule, rows: jax.Array, what: str) -> None:
    gradient = eqx.filter_jit(eqx.filter_grad(lambda module, rows: jnp.mean(jnp.square(module(rows)))))
    for law, states in (("", rows), (" for a state that is all zeros", jnp.zeros_like(rows))):
        require_finite(gradient(module, states), f"Gradients of {what} are finite{law}")
    leaves = jax.tree.leaves(eqx.filter(gradient(module, rows), eqx.is_inexact_array))
    require(any(np.any(leaf) for leaf in leaves), f"No gradient reaches any weight of {what}.")


def _check_file(described: Encoder, module: EncoderModule, states: np.ndarray, what: str) -> None:
    """A model file holds the description and the arrays; everything else must follow from the description."""
    architecture = Architecture(described, L2())
    architecture.check(states.shape[1:], states.dtype)
    distance = Distance(module, L2().build(described.latent_size, key=jax.random.key(3)))
    model = DistanceModel(distance, architecture, Provenance("check"), states.shape[1:], states.dtype.name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        loaded = DistanceModel.load(path)
    require(loaded.architecture == architecture, f"{what} comes back from a model file as {loaded.architecture!r}.")
    require(loaded.state_dtype == states.dtype.name, f"{what}: states of {states.dtype} became {loaded.state_dtype}.")
    law = f"A model with {what} gives the same embeddings after it was saved and loaded"
    require_close(loaded.embed(states), model.embed(states), law, rtol=0, atol=0)
