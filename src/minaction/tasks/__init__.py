"""Tasks: recipes for data, and the true distances to judge a learned one by."""

from ._base import TASKS as TASKS
from ._base import Layout as Layout
from ._base import Task as Task
from ._base import Truth as Truth
from ._base import get_task as get_task
from ._source import Source as Source
from ._source import read as read
