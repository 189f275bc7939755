"""An encoder for states that are images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

import minaction as ma


@dataclass(frozen=True)
class Convolutional(ma.Encoder):
    """One convolution over images (height, width, channels), its mean over the height, and a linear layer."""

    name: ClassVar[str] = "sample-conv"

    channels: int = 4
    latent: int = 8

    @property
    def latent_size(self) -> int:
        return self.latent

    def build(self, inputs: ma.InputStatistics, *, key: jax.Array) -> ConvolutionalModule:
        _, width, depth = inputs.mean.shape
        convolution_key, linear_key = jax.random.split(key)
        convolution = eqx.nn.Conv2d(depth, self.channels, kernel_size=3, padding=1, key=convolution_key)
        return ConvolutionalModule(convolution, eqx.nn.Linear(self.channels * width, self.latent, key=linear_key))


class ConvolutionalModule(ma.EncoderModule):
    convolution: eqx.nn.Conv2d
    linear: eqx.nn.Linear

    def __call__(self, states: jax.Array) -> jax.Array:
        return jax.vmap(self._one)(states)

    def _one(self, image: jax.Array) -> jax.Array:
        bright = jnp.moveaxis(image.astype(jnp.float32) / 255, -1, 0)
        return self.linear(jnp.mean(jax.nn.relu(self.convolution(bright)), axis=1).ravel())
