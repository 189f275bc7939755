"""The distance put to work: planners that act in a simulator, and what came of it."""

from __future__ import annotations

from .controls import euclidean as euclidean
from .controls import untrained as untrained
from .controls import untrained_on as untrained_on
from .dataset_guided import DatasetGuided as DatasetGuided
from .dataset_guided import Segments as Segments
from .dataset_guided import plan_from_data as plan_from_data
from .episodes import ALL_TASKS as ALL_TASKS
from .episodes import Episodes as Episodes
from .evaluate import PlanningResult as PlanningResult
from .evaluate import evaluate_ant_planning as evaluate_ant_planning
from .evaluate import evaluate_planning as evaluate_planning
from .fields import learned_fields as learned_fields
from .fields import step_truth as step_truth
from .fields import walking_truth as walking_truth
from .random_shooting import RandomShooting as RandomShooting
from .random_shooting import plan as plan
from .simulators import ExactBall as ExactBall
from .simulators import Simulator as Simulator
from .simulators import TabulatedBall as TabulatedBall
