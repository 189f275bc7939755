"""From an objective and data to a model: the only training loop."""

from ._fit import fit as fit
from ._fit import load as load
from ._trainer import Trainer as Trainer
