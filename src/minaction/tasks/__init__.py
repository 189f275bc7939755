"""Tasks: a recipe for data and the truth to judge a learned distance by."""

from ._base import Layout as Layout
from ._base import Task as Task
from ._base import Truth as Truth
from ._registry import all_tasks as all_tasks
from ._registry import get_task as get_task
