"""How the mazes' truth in steps converges as its lattice is refined: prints RESULTS.md's table, writes its numbers.

python reproductions/step_truth.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from minaction._files import write_json
from minaction.mazes._layouts import OGBENCH_LAYOUTS
from minaction.mazes._truth import ball_steps

COARSE, FINE = (5, 10, 20, 40), 80  # points along the side of a cell
MAZES = ("medium", "large", "giant")


def main() -> None:
    """Compare distances between all cell centres with those of the finest lattice."""
    found = {}
    print("| maze | " + " | ".join(map(str, COARSE)) + " |")
    print("| --- " * (len(COARSE) + 1) + "|")
    for maze in MAZES:
        layout = OGBENCH_LAYOUTS[maze]
        best = ball_steps(layout, layout.centres, FINE)
        apart = {points: np.abs(ball_steps(layout, layout.centres, points) - best) for points in COARSE}
        found[maze] = {
            points: {"mean": float(one.mean()), "greatest": float(one.max())} for points, one in apart.items()
        }
        print(f"| {maze} | " + " | ".join(f"{one.mean():.2f}, {one.max():.0f}" for one in apart.values()) + " |")
    write_json(Path(__file__).parent / "results" / "step-truth.json", found)


if __name__ == "__main__":
    main()
