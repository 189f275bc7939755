"""q on the latent space: distances that obey the triangle inequality and need not be symmetric."""

from __future__ import annotations

from .base import Quasimetric as Quasimetric
from .convex import Convex as Convex
from .iqe import IQE as IQE
from .norms import L1 as L1
from .norms import L2 as L2
from .registry import QUASIMETRIC_NAMES as QUASIMETRIC_NAMES
from .registry import make_quasimetric as make_quasimetric
from .registry import quasimetric_from_config as quasimetric_from_config
from .simple import Max as Max
from .simple import Mean as Mean
from .simple import Simple as Simple
from .simple import Sum as Sum
from .wide_norm import WideNorm as WideNorm
