"""Objectives by name: as they were published, and with settings changed, even where those are text."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, get_args, get_origin, get_type_hints

from ..encoders import Network
from ..errors import InputError, unknown_name
from ._base import Objective
from ._hilbert import HILBERT_NETWORK, Hilbert
from ._maddist import MadDist
from ._plandist import PlanDist
from ._qrl import QRL, QRL_NETWORK
from ._tautdist import TautDist
from ._tdmaddist import TDMadDist

PRESETS: dict[str, Objective] = {
    "tautdist": TautDist(),
    "maddist": MadDist(),
    "tdmaddist": TDMadDist(),
    "tdmaddist-paper-table": TDMadDist(random_goal_weight=1.0, constraint_weight=0.01, polyak=0.005),
    "plandist": PlanDist(),
    "plandist-simple": PlanDist(quasimetric="simple"),
    "qrl": QRL(),
    "qrl-long": QRL(push_offset=500.0, push_sharpness=0.01),
    "qrl-nn2": QRL(network=replace(QRL_NETWORK, stages=((512, 512, 256, 128), (512, 2048)))),
    "qrl-nn3": QRL(network=replace(QRL_NETWORK, stages=((1024, 1024, 256), (1024, 1024, 1024, 2048)))),
    "hilbert": Hilbert(),
    "hilbert-nn2": Hilbert(network=replace(HILBERT_NETWORK, stages=((512, 512, 256, 128, 32),))),
}
"""Every objective as published; a variant has its own name behind a hyphen."""

OBJECTIVES: dict[str, type[Objective]] = {type(preset).name: type(preset) for preset in PRESETS.values()}
"""The objectives themselves, by name."""


def make_objective(name: str, settings: Mapping[str, Any] = types.MappingProxyType({})) -> Objective:
    """The objective or preset `name`, with some of its fields, or of its network's, set otherwise.

    Values may be text, as on a command line: `make_objective("maddist", {"separation_weight": "5",
    "fourier_features": "64", "stages": "256,256,128"})`.
    """
    if name not in PRESETS:
        raise unknown_name("objective", name, PRESETS)
    preset = PRESETS[name]
    of_objective = {field.name for field in fields(preset)} - {"network"}
    of_network = {field.name for field in fields(Network)}
    network = settings.get("network", preset.network)
    if not isinstance(network, Network | Mapping):
        raise InputError(f"The network is set through its fields ({', '.join(sorted(of_network))}), not as a whole.")
    changes = {**(network if isinstance(network, Mapping) else {}), **settings}
    changes.pop("network", None)
    for key in changes:
        if key not in of_objective | of_network:
            raise unknown_name(f"setting of {name}", key, of_objective | of_network)
    base = preset.network if isinstance(network, Mapping) else network
    shape = replace(base, **_converted(Network, {key: changes[key] for key in changes if key in of_network}))
    own = _converted(type(preset), {key: changes[key] for key in changes if key in of_objective})
    return replace(preset, network=shape, **own)


def _converted(owner: type, values: Mapping[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(owner)
    return {key: _convert(key, value, hints[key]) for key, value in values.items()}


def _convert(name: str, value: Any, kind: Any) -> Any:
    """`value`, perhaps text, as the type `kind` of a field."""
    if isinstance(kind, types.UnionType):  # only ever "some type or None"
        if value is None or (isinstance(value, str) and value.strip().lower() == "none"):
            return None
        kind = next(option for option in get_args(kind) if option is not type(None))
    if kind is str and isinstance(value, str):
        return value
    try:
        if get_origin(kind) is tuple:
            return _stages(value)
        if kind is bool:
            return _boolean(value)
        if kind is int:
            return _integer(value)
        if kind is float and not isinstance(value, bool):
            return float(value)
    except (TypeError, ValueError, SyntaxError):
        pass
    raise InputError(f"{name} should be {_DESCRIPTIONS.get(kind, 'layer sizes such as 512,512,128')}, not {value!r}.")


_DESCRIPTIONS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.strip().lower() not in ("true", "false"):
        raise ValueError
    return value.strip().lower() == "true"


def _integer(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError
    return int(value)


def _stages(value: Any) -> tuple[tuple[int, ...], ...]:
    """One stage as `512,512,128`, several as `[[512,512,128],[512,2048]]`."""
    value = ast.literal_eval(value) if isinstance(value, str) else value
    if isinstance(value, int):
        value = (value,)
    if not isinstance(value, tuple | list):
        raise ValueError
    if all(isinstance(size, int) for size in value):
        value = (value,)
    return tuple(tuple(_integer(size) for size in stage) for stage in value)
