"""Objectives: what training minimises, one file each, with a common interface (`Objective`)."""

from ._base import OBJECTIVES as OBJECTIVES
from ._base import Objective as Objective
from ._base import Terms as Terms
from ._base import TrainingObjective as TrainingObjective
from ._hilbert import Hilbert as Hilbert
from ._maddist import MadDist as MadDist
from ._make import make_objective as make_objective
from ._pathdist import PathDist as PathDist
from ._plandist import PlanDist as PlanDist
from ._qrl import QRL as QRL
from ._sampling import EpisodeTable as EpisodeTable
from ._sampling import Pairs as Pairs
from ._sampling import any_states as any_states
from ._sampling import trajectory_pairs as trajectory_pairs
from ._sampling import transitions as transitions
from ._states import States as States
from ._tautdist import TautDist as TautDist
from ._tdmaddist import TDMadDist as TDMadDist
