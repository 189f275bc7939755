"""From distance to action: agents that reach goals by what was recorded, without a simulator."""

from ._agent import Agent as Agent
from ._baselines import fit_gcbc as fit_gcbc
from ._baselines import fit_qrl_actor as fit_qrl_actor
from ._evaluation import AgentEvaluation as AgentEvaluation
from ._evaluation import evaluate_agent as evaluate_agent
from ._film import write_film as write_film
from ._fit import fit_agent as fit_agent
from ._landmarks import landmarks as landmarks
