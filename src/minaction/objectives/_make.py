"""An objective from an object, a class or a name, with some settings changed."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._descriptions import make, with_settings
from .._image_axes import is_image
from ..encoders import MLP, Encoder, Ensemble, ImageEncoder, Projected
from ..errors import InputError
from ._base import OBJECTIVES, Objective


def make_objective(
    objective: Objective | type[Objective] | str, settings: Mapping[str, Any] = types.MappingProxyType({})
) -> Objective:
    """An objective, with some of its hyperparameters changed.

    Args:
        objective: an instance, a class or the name of a registered objective such as "maddist".
        settings: new values by the name of the field; `encoder.` and `quasimetric.` come before the names of their
            fields. Values may be text, as on the command line.

    >>> import minaction as ma
    >>> found = ma.make_objective("maddist", {"separation_weight": "5", "encoder.fourier": "64", "quasimetric": "iqe"})
    >>> found.encoder.fourier, found.quasimetric
    (64, IQE(component_size=16, reduction='maxmean'))
    """
    if isinstance(objective, type) and issubclass(objective, Objective):
        objective = objective()
    made = make(OBJECTIVES, objective)
    if not isinstance(made, Objective):
        raise InputError(f"{objective!r} is registered as an objective, but is not derived from ma.Objective.")
    return with_settings(made, settings)


def suited(objective: Objective, state_shape: tuple[int, ...]) -> Objective:
    """`objective` with an image encoder in the place of a perceptron that nobody chose, where states are images."""
    if not is_image(state_shape) or objective.encoder != type(objective)().encoder:
        return objective
    return replace(objective, encoder=_seeing(objective.encoder))


def _seeing(encoder: Encoder) -> Encoder:
    if isinstance(encoder, Projected | Ensemble):
        return replace(encoder, base=_seeing(encoder.base))
    return ImageEncoder(latent=encoder.latent) if isinstance(encoder, MLP) else encoder
