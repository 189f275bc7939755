"""The public names of minaction, each with the module it lives in."""

__version__: str

__all__ = [
    "ENCODERS",
    "IQE",
    "L1",
    "L2",
    "MLP",
    "MRN",
    "OBJECTIVES",
    "PQE",
    "QRL",
    "QUASIMETRICS",
    "READERS",
    "TASKS",
    "Agent",
    "Agreement",
    "DeepNorm",
    "DistanceEnsemble",
    "DistanceModel",
    "Diverged",
    "Encoder",
    "EncoderModule",
    "Ensemble",
    "Evaluated",
    "Evaluation",
    "Event",
    "Finished",
    "Health",
    "Hilbert",
    "ImageEncoder",
    "InputError",
    "InputStatistics",
    "Layout",
    "MadDist",
    "Max",
    "Mean",
    "Objective",
    "PathDist",
    "PlanDist",
    "Progressed",
    "Projected",
    "Quasimetric",
    "QuasimetricModule",
    "Reader",
    "RecordedDistance",
    "ShapedReward",
    "Simple",
    "Sum",
    "TDMadDist",
    "Task",
    "TautDist",
    "Trainer",
    "Trajectories",
    "Truth",
    "WideNorm",
    "a_star",
    "agreement",
    "check_data",
    "collect",
    "evaluate",
    "evaluate_agent",
    "fit",
    "fit_agent",
    "get_task",
    "landmarks",
    "load",
    "make_objective",
    "minimum_action_distance",
    "observed_distance",
    "read",
    "recorded_distance",
    "register",
    "validate",
]

from ._ensemble import DistanceEnsemble as DistanceEnsemble
from ._health import Health as Health
from ._load import load as load
from ._model import DistanceModel as DistanceModel
from .agents import Agent as Agent
from .agents import evaluate_agent as evaluate_agent
from .agents import fit_agent as fit_agent
from .agents import landmarks as landmarks
from .encoders import ENCODERS as ENCODERS
from .encoders import MLP as MLP
from .encoders import Encoder as Encoder
from .encoders import EncoderModule as EncoderModule
from .encoders import Ensemble as Ensemble
from .encoders import ImageEncoder as ImageEncoder
from .encoders import InputStatistics as InputStatistics
from .encoders import Projected as Projected
from .environments import collect as collect
from .errors import InputError as InputError
from .evaluation import Agreement as Agreement
from .evaluation import Evaluation as Evaluation
from .evaluation import agreement as agreement
from .evaluation import evaluate as evaluate
from .exact import minimum_action_distance as minimum_action_distance
from .exact import observed_distance as observed_distance
from .objectives import OBJECTIVES as OBJECTIVES
from .objectives import QRL as QRL
from .objectives import Hilbert as Hilbert
from .objectives import MadDist as MadDist
from .objectives import Objective as Objective
from .objectives import PathDist as PathDist
from .objectives import PlanDist as PlanDist
from .objectives import TautDist as TautDist
from .objectives import TDMadDist as TDMadDist
from .objectives import make_objective as make_objective
from .quasimetrics import IQE as IQE
from .quasimetrics import L1 as L1
from .quasimetrics import L2 as L2
from .quasimetrics import MRN as MRN
from .quasimetrics import PQE as PQE
from .quasimetrics import QUASIMETRICS as QUASIMETRICS
from .quasimetrics import DeepNorm as DeepNorm
from .quasimetrics import Max as Max
from .quasimetrics import Mean as Mean
from .quasimetrics import Quasimetric as Quasimetric
from .quasimetrics import QuasimetricModule as QuasimetricModule
from .quasimetrics import Simple as Simple
from .quasimetrics import Sum as Sum
from .quasimetrics import WideNorm as WideNorm
from .recorded import RecordedDistance as RecordedDistance
from .recorded import recorded_distance as recorded_distance
from .registry import register as register
from .tasks import TASKS as TASKS
from .tasks import Layout as Layout
from .tasks import Task as Task
from .tasks import Truth as Truth
from .tasks import get_task as get_task
from .tasks import read as read
from .training import Diverged as Diverged
from .training import Evaluated as Evaluated
from .training import Event as Event
from .training import Finished as Finished
from .training import Progressed as Progressed
from .training import Trainer as Trainer
from .training import fit as fit
from .trajectories import READERS as READERS
from .trajectories import Reader as Reader
from .trajectories import Trajectories as Trajectories
from .uses import ShapedReward as ShapedReward
from .uses import a_star as a_star
from .validation import check_data as check_data
from .validation import validate as validate
