"""Exact minimum action distances, computed without learning anything; they judge everything that learns."""

from .empirical import observed_distance as observed_distance
from .graph import minimum_action_distance as minimum_action_distance
