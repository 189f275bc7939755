"""Many trainings from one command: a grid of tasks, methods and seeds, a store of results, and workers."""
