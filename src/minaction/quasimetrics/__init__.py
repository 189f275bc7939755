"""q on the latent space: distances that obey the triangle inequality and need not be symmetric."""

from __future__ import annotations

from ._base import Quasimetric as Quasimetric
from ._convex import Convex as Convex
from ._iqe import IQE as IQE
from ._norms import L1 as L1
from ._norms import L2 as L2
from ._registry import QUASIMETRIC_NAMES as QUASIMETRIC_NAMES
from ._registry import make_quasimetric as make_quasimetric
from ._registry import quasimetric_from_config as quasimetric_from_config
from ._simple import Max as Max
from ._simple import Mean as Mean
from ._simple import Simple as Simple
from ._simple import Sum as Sum
from ._wide_norm import WideNorm as WideNorm
