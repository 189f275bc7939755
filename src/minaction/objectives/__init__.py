"""What is minimised: one file per objective, each with its mathematics, behind one contract."""

from .base import Objective as Objective
from .hilbert import Hilbert as Hilbert
from .maddist import MadDist as MadDist
from .plandist import PlanDist as PlanDist
from .qrl import QRL as QRL
from .registry import OBJECTIVES as OBJECTIVES
from .registry import PRESETS as PRESETS
from .registry import make_objective as make_objective
from .tautdist import TautDist as TautDist
from .tdmaddist import TDMadDist as TDMadDist
