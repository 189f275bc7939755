"""phi: maps states to the latent space in which a quasimetric measures.

An `Encoder` is a frozen description that builds an `eqx.Module`.
"""

from ._base import ENCODERS as ENCODERS
from ._base import Encoder as Encoder
from ._base import EncoderModule as EncoderModule
from ._composed import Ensemble as Ensemble
from ._composed import Projected as Projected
from ._image import ImageEncoder as ImageEncoder
from ._inputs import InputStatistics as InputStatistics
from ._inputs import input_statistics as input_statistics
from ._mlp import MLP as MLP
