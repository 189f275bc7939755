"""Exact minimum action distances, computed without learning: what learned distances are judged by."""

from ._arrival import ArrivalSearch as ArrivalSearch
from ._empirical import observed_distance as observed_distance
from ._graph import minimum_action_distance as minimum_action_distance
from ._rooms import Room as Room
