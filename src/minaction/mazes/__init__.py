"""Mazes with a ball: maps, routes, simulation of many balls at once, and the recipes of the data sets."""
