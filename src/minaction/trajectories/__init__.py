"""What was observed: recorded episodes of states, and where they come from."""

from ._collect import collect as collect
from ._dataset import Trajectories as Trajectories
from .readers import read as read
