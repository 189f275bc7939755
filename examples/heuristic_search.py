"""Search a graph with a learned distance as the heuristic, and count how many nodes that saves.

Run it: python examples/heuristic_search.py
"""

import numpy as np

import minaction as ma
from minaction.environments import KeyDoorGridWorld, transition_graph
from minaction.uses import admissibility

# The world's graph: 13 x 13 cells, with and without the key. The door opens only with the key.
world, random = KeyDoorGridWorld(), np.random.default_rng(0)
graph = transition_graph(world, world.starts(1, random))
seen = world.observe(graph.states, random)
start = int(np.flatnonzero((graph.states == [1, 1, 0]).all(axis=1))[0])
door = int(np.flatnonzero((graph.states == [6, 9, 1]).all(axis=1))[0])

task = ma.get_task("keydoor-gridworld")
data = task.trajectories(seed=0, episodes=400)
model = ma.fit(data, ma.TautDist(), steps=800)

learned = model.pairwise(seen, seen[[door]])[:, 0]
manhattan = np.abs(graph.states[:, :2] - graph.states[door, :2]).sum(axis=1)
for name, estimate in (("nothing", np.zeros(len(seen))), ("Manhattan", manhattan), ("learned", learned)):
    found = ma.a_star(graph, start, door, lambda nodes, estimate=estimate: estimate[nodes])
    print(f"{name}: {found.expanded} nodes for a path of {found.cost:.0f} actions")

true = task.truths()[0]
checked = admissibility(model.pairwise(true.sources, true.targets), true.distances)
print(
    f"at most the truth for {checked.share:.0%} of {checked.pairs} pairs; worst excess {checked.worst_overestimate:.1f}"
)
