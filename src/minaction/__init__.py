"""minaction: learn how many actions apart any two states are, from recorded state sequences alone."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ._model import DistanceModel as DistanceModel
    from .errors import InputError as InputError
    from .evaluation import Agreement as Agreement
    from .evaluation import agreement as agreement
    from .evaluation import evaluate as evaluate
    from .exact import minimum_action_distance as minimum_action_distance
    from .exact import observed_distance as observed_distance
    from .objectives import QRL as QRL
    from .objectives import Hilbert as Hilbert
    from .objectives import MadDist as MadDist
    from .objectives import PlanDist as PlanDist
    from .objectives import TautDist as TautDist
    from .objectives import TDMadDist as TDMadDist
    from .tasks import Task as Task
    from .tasks import Truth as Truth
    from .tasks import get_task as get_task
    from .training import Trainer as Trainer
    from .training import fit as fit
    from .training import load as load
    from .trajectories import Trajectories as Trajectories
    from .trajectories import collect as collect
    from .trajectories import read as read

# Loaded when first used: `import minaction` and `minaction --help` stay quick, JAX starts only when something learns.
_HOMES = {
    "InputError": "errors",
    "Agreement": "evaluation",
    "agreement": "evaluation",
    "evaluate": "evaluation",
    "minimum_action_distance": "exact",
    "observed_distance": "exact",
    "DistanceModel": "_model",
    "Hilbert": "objectives",
    "MadDist": "objectives",
    "PlanDist": "objectives",
    "QRL": "objectives",
    "TautDist": "objectives",
    "TDMadDist": "objectives",
    "Task": "tasks",
    "Truth": "tasks",
    "get_task": "tasks",
    "Trainer": "training",
    "fit": "training",
    "load": "training",
    "Trajectories": "trajectories",
    "collect": "trajectories",
    "read": "trajectories",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'minaction' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return ["__version__", *_HOMES]
