"""What was observed: recorded episodes of states, and where they come from."""

from .collect import collect as collect
from .dataset import Trajectories as Trajectories
from .readers import read as read
