"""Mazes with a ball or an ant: maps, routes, true distances, batched simulation, and the recipes of the data sets.

Its modules are internal to this package and imported one by one; most need no simulator.
"""
