"""The distance put to work: planners that act in a simulator, and what came of it."""

from __future__ import annotations

from .controls import euclidean as euclidean
from .controls import untrained as untrained
from .evaluate import Episodes as Episodes
from .evaluate import PlanningResult as PlanningResult
from .evaluate import evaluate_planning as evaluate_planning
from .fields import learned_fields as learned_fields
from .fields import step_truth as step_truth
from .random_shooting import RandomShooting as RandomShooting
from .random_shooting import plan as plan
from .simulators import ExactBall as ExactBall
from .simulators import Simulator as Simulator
from .simulators import TabulatedBall as TabulatedBall
