"""Uses of a distance besides planning: reward shaping and heuristic search."""

from __future__ import annotations

from ._heuristic_search import Admissibility as Admissibility
from ._heuristic_search import SearchResult as SearchResult
from ._heuristic_search import a_star as a_star
from ._heuristic_search import admissibility as admissibility
from ._reward_shaping import ShapedReward as ShapedReward
