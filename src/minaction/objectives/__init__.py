"""What is minimised: one file per objective, each with its mathematics, behind one contract."""

from ._base import Objective as Objective
from ._hilbert import Hilbert as Hilbert
from ._maddist import MadDist as MadDist
from ._plandist import PlanDist as PlanDist
from ._qrl import QRL as QRL
from ._registry import OBJECTIVES as OBJECTIVES
from ._registry import PRESETS as PRESETS
from ._registry import make_objective as make_objective
from ._tautdist import TautDist as TautDist
from ._tdmaddist import TDMadDist as TDMadDist
