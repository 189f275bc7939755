"""From an objective and data to a model: the trainer, the driver, and runs on disk."""

from ._driver import Diverged as Diverged
from ._driver import Evaluated as Evaluated
from ._driver import Event as Event
from ._driver import Finished as Finished
from ._driver import Progressed as Progressed
from ._driver import Training as Training
from ._driver import train as train
from ._fit import fit as fit
from ._run import Ablation as Ablation
from ._run import Measurement as Measurement
from ._run import Results as Results
from ._run import Run as Run
from ._run import RunConfig as RunConfig
from ._trainer import Trainer as Trainer
