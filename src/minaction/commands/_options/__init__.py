"""The options of every command, one dataclass each. Nothing heavy is imported here, so that help is instant."""

from ._acting import Agent as Agent
from ._acting import Plan as Plan
from ._asking import Card as Card
from ._asking import Distance as Distance
from ._asking import Evaluate as Evaluate
from ._asking import Export as Export
from ._asking import Progress as Progress
from ._devices import Device as Device
from ._grids import Report as Report
from ._grids import Reproduce as Reproduce
from ._grids import Suite as Suite
from ._help import help_on_one_line as help_on_one_line
from ._listing import Data as Data
from ._listing import Doctor as Doctor
from ._listing import Objectives as Objectives
from ._listing import Tasks as Tasks
from ._repeated import all_of as all_of
from ._training import Table as Table
from ._training import Train as Train
