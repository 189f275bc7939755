"""phi: from a state to the latent space in which a quasimetric measures."""

from ._encoder import Encoder as Encoder
from ._encoder import Network as Network
from ._encoder import build_encoder as build_encoder
from ._fourier import FourierFeatures as FourierFeatures
from ._mlp import Perceptron as Perceptron
from ._standardise import Standardise as Standardise
