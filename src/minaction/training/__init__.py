"""From an objective and data to a model: the only training loop."""

from .fit import fit as fit
from .fit import load as load
from .trainer import Trainer as Trainer
