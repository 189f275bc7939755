"""The recording as a graph: distances between recorded states by shortest paths, without learning anything."""

from ._distance import NearestNode as NearestNode
from ._distance import RecordedDistance as RecordedDistance
from ._distance import recorded_distance as recorded_distance
from ._drawing import drawn as drawn
from ._sightings import Sightings as Sightings
from ._sightings import sighted as sighted
