"""phi: from a state to the latent space in which a quasimetric measures."""

from .encoder import Encoder as Encoder
from .encoder import Network as Network
from .encoder import build_encoder as build_encoder
from .fourier import FourierFeatures as FourierFeatures
from .mlp import Perceptron as Perceptron
from .standardise import Standardise as Standardise
