"""Planners that act in a simulator, guided by a distance, and how often they reach their goals."""

from __future__ import annotations

from ._arenas import CONTROLS as CONTROLS
from ._arenas import Arena as Arena
from ._arenas import PlannerDistance as PlannerDistance
from ._arenas import arena_of as arena_of
from ._controls import euclidean as euclidean
from ._controls import untrained as untrained
from ._controls import untrained_on as untrained_on
from ._dataset_guided import DatasetGuided as DatasetGuided
from ._dataset_guided import Segments as Segments
from ._dataset_guided import plan_from_data as plan_from_data
from ._episodes import ALL_TASKS as ALL_TASKS
from ._episodes import Episodes as Episodes
from ._evaluate import PlanningResult as PlanningResult
from ._evaluate import evaluate_ant_planning as evaluate_ant_planning
from ._evaluate import evaluate_planning as evaluate_planning
from ._fields import learned_fields as learned_fields
from ._fields import step_truth as step_truth
from ._fields import walking_truth as walking_truth
from ._random_shooting import RandomShooting as RandomShooting
from ._random_shooting import plan as plan
from ._simulators import ExactBall as ExactBall
from ._simulators import Simulator as Simulator
from ._simulators import TabulatedBall as TabulatedBall
