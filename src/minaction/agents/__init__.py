"""From distance to action: agents that reach goals by what was recorded, without a simulator."""

from ._agent import Agent as Agent
from ._fit import fit_agent as fit_agent
