"""Mazes with a ball or an ant: maps, routes, simulation of many at once, and the recipes of the data sets."""
