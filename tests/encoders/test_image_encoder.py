"""`ImageEncoder`: which arrangements of axes it takes, and that it is chosen where nobody chose an encoder."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction._image_axes import arrangement, images_of, is_image
from minaction.encoders import input_statistics
from minaction.encoders._image import Conv, Stage, _halved_at_once, halved
from minaction.objectives._make import suited


@pytest.mark.parametrize(
    ("shape", "merged"),
    [
        ((64, 48), (64, 48, 1)),
        ((64, 48, 3), (64, 48, 3)),
        ((3, 64, 48), (64, 48, 3)),
        ((4, 84, 84), (84, 84, 4)),
        ((4, 64, 48, 3), (64, 48, 12)),
        ((4, 3, 64, 48), (64, 48, 12)),
        ((5, 7, 3), (5, 7, 3)),
    ],
)
def test_axes_are_told_by_their_lengths(shape: tuple[int, ...], merged: tuple[int, int, int]) -> None:
    assert arrangement(shape)[1] == merged
    assert is_image(shape)
    states = np.random.default_rng(0).integers(0, 256, (2, *shape)).astype(np.uint8)
    seen = images_of(states)
    assert seen.shape == (2, *merged)
    assert sorted(seen[1].ravel()) == sorted(states[1].ravel())


def test_stacked_frames_keep_their_pixels_together() -> None:
    states = np.zeros((1, 4, 20, 20, 3), np.uint8)
    states[0, 2, 5, 7, 1] = 9
    assert images_of(states)[0, 5, 7].tolist() == [0] * 7 + [9] + [0] * 4


@pytest.mark.parametrize("shape", [(3,), (2, 5), (1, 1, 3), (2, 2, 2, 2, 2)])
def test_what_is_no_image_is_refused(shape: tuple[int, ...]) -> None:
    assert not is_image(shape)
    if len(shape) > 1:
        with pytest.raises(ma.InputError, match="takes images of at least 3 x 3"):
            ma.ImageEncoder().build(input_statistics(np.ones((4, *shape), np.uint8)), key=jax.random.key(0))


def test_a_convolution_is_a_sum_over_neighbours() -> None:
    conv = Conv(2, 3, key=jax.random.key(0))
    x = np.random.default_rng(0).normal(size=(1, 4, 5, 2)).astype(np.float32)
    weight, expected = np.asarray(conv.weight), np.zeros((4, 5, 3))
    for i in range(4):
        for j in range(5):
            for a in range(3):
                for b in range(3):
                    if 0 <= i + a - 1 < 4 and 0 <= j + b - 1 < 5:
                        expected[i, j] += x[0, i + a - 1, j + b - 1] @ weight[a, b]
    np.testing.assert_allclose(conv(jnp.asarray(x))[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("on_gpu", [False, True])
@pytest.mark.parametrize("shape", [(6, 8), (5, 7), (1, 2)])
def test_halving_takes_the_largest_of_nine(shape: tuple[int, int], on_gpu: bool) -> None:
    x = np.random.default_rng(1).normal(size=(2, *shape, 3)).astype(np.float32)
    found = np.asarray(_halved_at_once(jnp.asarray(x), shape) if on_gpu else halved(jnp.asarray(x)))
    assert found.shape == (2, -(-shape[0] // 2), -(-shape[1] // 2), 3)
    for i in range(found.shape[1]):
        for j in range(found.shape[2]):
            around = x[:, max(0, 2 * i - 1) : 2 * i + 2, max(0, 2 * j - 1) : 2 * j + 2]
            np.testing.assert_array_equal(found[:, i, j], around.max(axis=(1, 2)))


@pytest.mark.parametrize("shape", [(6, 8), (5, 8), (7, 5), (3, 3)])
def test_halving_on_a_gpu_has_the_gradient_that_it_has_on_a_cpu(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(2)
    x = jnp.asarray(random.normal(size=(2, *shape, 3)), jnp.float32)
    weight = jnp.asarray(random.normal(size=halved(x).shape))  # so that every window has a gradient of its own
    found = jax.grad(lambda x: jnp.vdot(weight, _halved_at_once(x, shape)))(x)
    np.testing.assert_allclose(found, jax.grad(lambda x: jnp.vdot(weight, halved(x)))(x), rtol=1e-5, atol=1e-6)


def test_halving_on_a_gpu_gives_the_gradient_to_one_of_equal_pixels_and_hides_no_nan() -> None:
    even = jnp.zeros((1, 6, 6, 1))
    found = jax.grad(lambda x: jnp.sum(_halved_at_once(x, (6, 6))))(even)
    assert float(found.sum()) == 9  # windows
    assert np.isnan(_halved_at_once(even.at[0, 3, 3].set(jnp.nan), (6, 6))).any()


def test_a_stage_without_its_block_is_a_convolution_halved() -> None:
    stage = Stage(3, 4, key=jax.random.key(2))
    x = np.random.default_rng(1).normal(size=(2, 6, 6, 3)).astype(np.float32)
    quiet = jax.tree.map(lambda leaf: 0 * leaf, stage.second)
    silent = jax.tree.unflatten(
        jax.tree.structure(stage), [*jax.tree.leaves((stage.entry, stage.first)), *jax.tree.leaves(quiet)]
    )
    np.testing.assert_allclose(silent(jnp.asarray(x)), halved(stage.entry(jnp.asarray(x))), rtol=1e-6)


def test_images_choose_it_by_themselves() -> None:
    for objective, size in ((ma.PathDist(), 256), (ma.MadDist(), 512), (ma.QRL(), 2048), (ma.Hilbert(), 32)):
        chosen = suited(objective, (12, 12, 3)).encoder
        innermost = chosen
        while hasattr(innermost, "base"):
            innermost = innermost.base  # type: ignore[attr-defined]
        assert isinstance(innermost, ma.ImageEncoder)
        assert chosen.latent_size == size
        assert suited(objective, (12,)) == objective
    own = ma.PathDist(encoder=ma.MLP(hidden=(8,), latent=8))
    assert suited(own, (12, 12, 3)) == own


def test_fit_takes_frames() -> None:
    random = np.random.default_rng(0)
    walks = [np.clip(np.cumsum(random.choice([-1, 1], 30)) + 4, 0, 7) for _ in range(6)]
    frames = [np.where(np.arange(8)[None, None, :, None] == walk[:, None, None, None], 250, 20) for walk in walks]
    episodes = [np.broadcast_to(frame, (30, 6, 8, 3)).astype(np.uint8) for frame in frames]
    model = ma.fit(
        episodes,
        ma.PathDist(encoder=ma.ImageEncoder(channels=(4,), hidden=(16,), latent=16)),
        steps=500,
        progress=False,
    )
    states = np.stack(
        [np.broadcast_to(np.where(np.arange(8)[None, :, None] == k, 250, 20), (6, 8, 3)) for k in range(8)]
    )
    found = np.asarray(model.pairwise(states.astype(np.uint8), states.astype(np.uint8)))
    true = np.abs(np.arange(8)[:, None] - np.arange(8))
    assert np.corrcoef(found[true > 0], true[true > 0])[0, 1] > 0.95
    by_itself = ma.fit(episodes, steps=1, progress=False)
    assert isinstance(by_itself.architecture.encoder, ma.ImageEncoder)
