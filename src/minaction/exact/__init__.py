"""Exact minimum action distances, computed without learning anything; they judge everything that learns."""

from ._empirical import observed_distance as observed_distance
from ._graph import minimum_action_distance as minimum_action_distance
