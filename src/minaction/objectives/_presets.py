"""The objectives as published, and the variants of the paper's ablations.

Settings that the paper does not give are those of its authors' release of July 2026. MadDist's terms all weigh a tenth
of ours there and its gradient is clipped at a tenth of the norm, which Adam cannot tell from ours; a learned number
multiplies its embedding, as in "maddist-gain".
"""

from __future__ import annotations

from ..encoders import MLP
from ..quasimetrics import Simple
from ._base import Objective
from ._hilbert import Hilbert, hilbert_encoder
from ._maddist import MadDist
from ._pathdist import PathDist
from ._plandist import PlanDist
from ._qrl import QRL, qrl_encoder
from ._tautdist import TautDist
from ._tdmaddist import TDMadDist

PRESETS: dict[str, Objective] = {
    "pathdist": PathDist(),
    "tautdist": TautDist(),
    "maddist": MadDist(),
    "maddist-gain": MadDist(encoder=MLP(gain=True)),
    "tdmaddist": TDMadDist(),
    "tdmaddist-paper-table": TDMadDist(random_goal_weight=1.0, constraint_weight=0.01, polyak=0.005),
    "plandist": PlanDist(),
    "plandist-simple": PlanDist(encoder=MLP(rectified=True), quasimetric=Simple()),
    "qrl": QRL(),
    "qrl-long": QRL(push_offset=500.0, push_sharpness=0.01),
    "qrl-nn2": QRL(encoder=qrl_encoder(hidden=(512, 512, 256), latent=128)),
    "qrl-nn3": QRL(encoder=qrl_encoder(hidden=(1024, 1024), latent=256, projector=(1024, 1024, 1024))),
    "hilbert": Hilbert(),
    "hilbert-nn2": Hilbert(encoder=hilbert_encoder(hidden=(512, 512, 256, 128))),
}
