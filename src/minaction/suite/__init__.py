"""Many runs in one command: a grid of tasks, methods and seeds, a folder of runs, and workers."""

from ._folder import SuiteFolder as SuiteFolder
from ._grids import GRIDS as GRIDS
from ._grids import Grid as Grid
from ._grids import chosen as chosen
from ._local import Local as Local
from ._own_grid import own_grid as own_grid
from ._ray import RayCluster as RayCluster
from ._runner import Tally as Tally
from ._runner import run_suite as run_suite
from ._schedule import Batch as Batch
from ._schedule import Cost as Cost
from ._schedule import Speeds as Speeds
from ._schedule import batches as batches
from ._schedule import cost as cost
from ._work import Backend as Backend
from ._work import Update as Update
