"""Tasks: a recipe for data and the truth to judge a learned distance by."""

from .base import Layout as Layout
from .base import Task as Task
from .base import Truth as Truth
from .registry import all_tasks as all_tasks
from .registry import get_task as get_task
