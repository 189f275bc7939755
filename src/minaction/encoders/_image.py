"""`ImageEncoder`: a small residual convolutional network, as IMPALA has it (Espeholt et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from .._image_axes import arrangement, is_image
from ..errors import InputError
from ._base import Encoder, EncoderModule
from ._inputs import InputStatistics, Scale
from ._mlp import check_sizes
from ._perceptron import Perceptron

_BLOCK = 16  # images that a CPU encodes at a time


@dataclass(frozen=True)
class ImageEncoder(Encoder):
    """Stages of a convolution, a pooling to half the size and a residual block, then a perceptron.

    Images are (height, width), (height, width, channels), (channels, height, width), or several frames of the latter
    two, (frames, ...), whose channels are taken together; uint8 or floating point. The mean image of the data set is
    subtracted, so that what moves stands out. Features from elsewhere (a frozen network of your own) are plain vectors:
    record them as states, and `MLP` takes them.

    Args:
        channels: the number of channels of every stage; each stage halves height and width.
        hidden: the sizes of the hidden layers after the stages.
        latent: the number of dimensions of an embedding.
        crop: in training, images are shifted by up to so many pixels, anew in every step, and the pixels at the edge
            repeated: for a camera that does not stand quite still. A finished model takes images as they are.

    >>> import minaction as ma
    >>> objective = ma.PathDist(encoder=ma.ImageEncoder(channels=(16, 32), latent=64))
    """

    name: ClassVar[str] = "image"

    channels: tuple[int, ...] = (16, 32, 32)
    hidden: tuple[int, ...] = (512,)
    latent: int = 256
    crop: int = 0

    def __post_init__(self) -> None:
        check_sizes(*self.channels)
        if self.crop < 0:
            raise InputError(f"Images are shifted by 0 pixels or more (crop), not by {self.crop}.")
        check_sizes(*self.hidden, self.latent)

    @property
    def latent_size(self) -> int:
        return self.latent

    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> ImageModule:
        shape = inputs.mean.shape
        if not is_image(shape):
            raise InputError(f"An image encoder takes images of at least 3 x 3 pixels, not states of shape {shape}.")
        _, (height, width, depth) = arrangement(shape)
        *stage_keys, last = jax.random.split(key, len(self.channels) + 1)
        stages = []
        for channels, stage_key in zip(self.channels, stage_keys, strict=True):
            stages.append(Stage(depth, channels, key=stage_key))
            height, width, depth = -(-height // 2), -(-width // 2), channels
        sizes = (*self.hidden, self.latent)
        perceptron = Perceptron(height * width * depth, sizes, "relu", layer_norm=False, key=last)
        return ImageModule(Scale(inputs.mean, inputs.common_scale), tuple(stages), perceptron, self.crop)


class Conv(eqx.Module):
    """A 3 x 3 convolution of a batch, edges padded with zeros: LeCun-normal weights, zero bias."""

    weight: Float[Array, "3 3 inputs outputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int, *, key: PRNGKeyArray) -> None:
        self.weight = jax.nn.initializers.lecun_normal(in_axis=(0, 1, 2))(key, (3, 3, inputs, outputs), jnp.float32)
        self.bias = jnp.zeros(outputs)

    def __call__(self, x: Float[Array, "n h w inputs"]) -> Float[Array, "n h w outputs"]:
        return self.unbiased(x) + self.bias

    def unbiased(self, x: Float[Array, "n h w inputs"]) -> Float[Array, "n h w outputs"]:
        """Without the bias."""
        # Inside a loop, as training is, a CPU's own convolution takes eleven times as long as the product does.
        return jax.lax.platform_dependent(x, self.weight, cpu=_as_product, default=_as_convolution)


def _as_convolution(x: Float[Array, "n h w c"], weight: Float[Array, "3 3 c d"]) -> Float[Array, "n h w d"]:
    return jax.lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _as_product(x: Float[Array, "n h w c"], weight: Float[Array, "3 3 c d"]) -> Float[Array, "n h w d"]:
    """Every pixel's nine neighbours side by side, times the weights."""
    _, height, width, _ = x.shape
    padded = jnp.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    around = [padded[:, i : i + height, j : j + width] for i in range(3) for j in range(3)]
    return jnp.concatenate(around, axis=-1) @ weight.reshape(-1, weight.shape[-1])


class Stage(eqx.Module):
    """Convolve, halve by a 3 x 3 maximum, and add what two more convolutions find."""

    entry: Conv
    first: Conv
    second: Conv

    def __init__(self, inputs: int, outputs: int, *, key: PRNGKeyArray) -> None:
        entry, first, second = jax.random.split(key, 3)
        self.entry = Conv(inputs, outputs, key=entry)
        self.first, self.second = Conv(outputs, outputs, key=first), Conv(outputs, outputs, key=second)

    def __call__(self, x: Float[Array, "n h w inputs"]) -> Float[Array, "n half_h half_w outputs"]:
        x = halved(self.entry.unbiased(x)) + self.entry.bias  # a quarter of the numbers to add it to
        return x + self.second(jax.nn.relu(self.first(jax.nn.relu(x))))


class ImageModule(EncoderModule):
    """Images to embeddings; they stay uint8 until here."""

    scale: Scale
    stages: tuple[Stage, ...]
    perceptron: Perceptron
    crop: int = eqx.field(static=True, default=0)

    def __call__(self, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
        return jax.lax.platform_dependent(self, states, cpu=_in_blocks, default=ImageModule.encoded)

    def encoded(self, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
        """The embeddings of `states`, all at once."""
        x = as_images(self.scale(states.astype(jnp.float32)))
        for stage in self.stages:
            x = stage(x)
        return self.perceptron(jax.nn.relu(x).reshape(len(x), x.shape[1] * x.shape[2] * x.shape[3]))


class Cropping(EncoderModule):
    """An image encoder in training: every image is shifted at random before it is encoded."""

    module: ImageModule
    key: PRNGKeyArray

    def __call__(self, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
        return self.module(shifted(states, self.module.crop, self.key))


def shifted(states: Shaped[Array, " n *shape"], most: int, key: PRNGKeyArray) -> Shaped[Array, " n *shape"]:
    """Images shifted by up to `most` rows and columns, each by its own, with the pixels at the edge repeated."""
    shape = states.shape[1:]
    (row_axis, column_axis, *_), _ = arrangement(shape)
    sides = [(most, most) if axis in (row_axis, column_axis) else (0, 0) for axis in range(len(shape))]
    padded = jnp.pad(states, [(0, 0), *sides], mode="edge")

    def cut(image: Array, corner: Array) -> Array:
        start = [jnp.zeros((), corner.dtype)] * len(shape)
        start[row_axis], start[column_axis] = corner
        return jax.lax.dynamic_slice(image, start, shape)

    return jax.vmap(cut)(padded, jax.random.randint(key, (len(states), 2), 0, 2 * most + 1))


def _in_blocks(module: ImageModule, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
    """A few images at a time, which fit into a cache, and once more for the gradient.

    A step on 256 frames of 64 x 64 takes 1.7 seconds of a core's time and 0.7 GB instead of 2.1 and 1.7.
    """
    if len(states) <= _BLOCK:
        return module.encoded(states)
    padding = [(0, -len(states) % _BLOCK), *[(0, 0)] * (states.ndim - 1)]
    blocks = jnp.pad(states, padding).reshape(-1, _BLOCK, *states.shape[1:])
    found = jax.lax.map(jax.checkpoint(lambda block: module.encoded(block)), blocks)  # a method would be hashed
    return found.reshape(-1, found.shape[-1])[: len(states)]


def halved(x: Float[Array, "n h w c"]) -> Float[Array, "n half_h half_w c"]:
    """The largest of every 3 x 3 pixels around every second one.

    By slices: XLA's own window has a gradient that takes longer than the convolutions.
    """
    return jax.lax.platform_dependent(x, cpu=_halved_by_axes, default=lambda x: _halved_at_once(x, x.shape[1:3]))


def _halved_by_axes(x: Float[Array, "n h w c"]) -> Float[Array, "n half_h half_w c"]:
    """Of rows and columns apart, which takes six slices instead of nine."""
    for axis in (1, 2):
        length = x.shape[axis]
        beside = [(0, 0)] * 4
        beside[axis] = (1, 1)
        padded = jnp.pad(x, beside, constant_values=-jnp.inf)
        first, second, third = (
            jax.lax.slice_in_dim(padded, start, start + length, stride=2, axis=axis) for start in (0, 1, 2)
        )
        x = jnp.maximum(jnp.maximum(first, second), third)
    return x


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _halved_at_once(x: Float[Array, "n h w c"], size: tuple[int, int]) -> Float[Array, "n half_h half_w c"]:
    """In one pass, whose gradient needs no more than which of the nine was the largest, the first of equal ones.

    A GPU spends most of a step on moving what lies between layers; `size` is the height and width.
    """
    return _largest_and_its_place(x, size)[0]


def _largest_and_its_place(x: Array, size: tuple[int, int]) -> tuple[Array, Array]:
    padded = jnp.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], constant_values=-jnp.inf)
    height, width = size
    first, *others = (
        jax.lax.slice(padded, (0, i, j, 0), (len(x), height + i, width + j, x.shape[-1]), (1, 2, 2, 1))
        for i, j in np.ndindex(3, 3)
    )
    largest, place = first, jnp.zeros(first.shape, jnp.uint8)
    for k, other in enumerate(others, start=1):
        place = jnp.where(other > largest, jnp.uint8(k), place)
        largest = jnp.maximum(largest, other)
    return largest, place


def _halved_backward(size: tuple[int, int], place: Array, gradient: Array) -> tuple[Array]:
    found, zero = jnp.zeros((len(gradient), *size, gradient.shape[-1]), gradient.dtype), jnp.zeros((), gradient.dtype)
    for k, corner in enumerate(np.ndindex(3, 3)):
        # Entry i stems from row or column 2 i + (0, 1 or 2) - 1; what lies outside was never the largest.
        (above, below), (left, right) = (
            (at - 1, whole - at - 2 * half + 2) for at, whole, half in zip(corner, size, place.shape[1:3], strict=True)
        )
        around = [(0, 0, 0), (above, below, 1), (left, right, 1), (0, 0, 0)]
        found += jax.lax.pad(jnp.where(place == k, gradient, zero), zero, around)
    return (found,)


_halved_at_once.defvjp(_largest_and_its_place, _halved_backward)


def as_images(states: Shaped[Array, " n *shape"]) -> Shaped[Array, "n h w c"]:
    """States of any of the shapes that `ImageEncoder` takes as (n, height, width, channels)."""
    order, merged = arrangement(states.shape[1:])
    return states.transpose(0, *(axis + 1 for axis in order)).reshape(len(states), *merged)
