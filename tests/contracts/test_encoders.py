"""Every encoder through one set of checks, on states that are rows of numbers and on images."""

from __future__ import annotations

import pytest

from minaction._descriptions import make
from minaction.encoders import ENCODERS, MLP, Encoder, Ensemble, ImageEncoder, Projected
from minaction.testing import check_encoder

SMALL = MLP(hidden=(16,), latent=8, fourier=4)
TINY: dict[str, list[Encoder]] = {
    "mlp": [SMALL, MLP(hidden=(), latent=5, scaling="none"), MLP(hidden=(8,), latent=4, layer_norm=True)],
    "image": [ImageEncoder(channels=(3, 4), hidden=(6,), latent=5), ImageEncoder(channels=(2,), hidden=(), latent=3)],
    "projected": [Projected(SMALL, hidden=(6,), latent=12, activation="gelu")],
    "ensemble": [Ensemble(SMALL), Ensemble(Projected(SMALL, hidden=(), latent=3), size=3)],
}
MEMBERS = [member for members in TINY.values() for member in members]


def test_every_encoder_that_we_offer_is_among_them() -> None:
    assert {make(ENCODERS, name).name for name in ENCODERS} == set(TINY)


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_every_member_keeps_the_public_contract(member: Encoder) -> None:
    check_encoder(member, **({"state_shape": (7, 5, 3), "dtype": "uint8"} if member.name == "image" else {}))


@pytest.mark.parametrize(
    "dtype", ["uint8", "float64", *(pytest.param(x, marks=pytest.mark.slow) for x in ("bool", "int16"))]
)
def test_states_of_other_shapes_and_types_are_taken_as_they_were_recorded(dtype: str) -> None:
    check_encoder(SMALL, state_shape=(4, 5, 3), dtype=dtype)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODERS)
def test_every_name_makes_a_member_that_keeps_it(name: str) -> None:
    check_encoder(name, state_shape=(6, 6), dtype="uint8")
