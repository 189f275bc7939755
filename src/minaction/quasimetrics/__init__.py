"""q: distances on the latent space that obey the triangle inequality and need not be symmetric.

A `Quasimetric` is a frozen description that builds an `eqx.Module`.
"""

from ._base import QUASIMETRICS as QUASIMETRICS
from ._base import Quasimetric as Quasimetric
from ._base import QuasimetricModule as QuasimetricModule
from ._deep_norm import DeepNorm as DeepNorm
from ._iqe import IQE as IQE
from ._mrn import MRN as MRN
from ._norms import L1 as L1
from ._norms import L2 as L2
from ._pqe import PQE as PQE
from ._simple import Max as Max
from ._simple import Mean as Mean
from ._simple import Simple as Simple
from ._simple import Sum as Sum
from ._wide_norm import WideNorm as WideNorm
