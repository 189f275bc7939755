"""How long CliffWalking from pixels takes on a CPU: agreement with the truth against seconds.

    taskset -c 0,1 env JAX_PLATFORMS=cpu python reproductions/pixels_two_cores.py reproductions/results/pixels_cpu.json

Wall-clock time says little on a busy machine; beside it stands the processor time, half of which it would take at least
on two cores that do nothing else.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import minaction as ma
from minaction._files import atomic_write

ENOUGH, LIMIT = 0.97, 600.0


class Reached(Exception):
    """It is as good as asked for."""


def main(out: Path, seed: int = 0) -> None:
    """Train until the correlation is `ENOUGH`; data, graph and compilation are part of the time."""
    rows: list[dict[str, float]] = []
    began, busy = time.perf_counter(), time.process_time()

    def watch(event: object) -> None:
        if isinstance(event, ma.Evaluated):
            pearson = event.measurements[0].evaluations[0].agreement["pearson"] or 0.0
            row = {"step": event.step, "pearson": round(pearson, 4)}
            row |= {"seconds": round(time.perf_counter() - began, 1), "cpu": round(time.process_time() - busy, 1)}
            rows.append(row)
            print(row, flush=True)
            with atomic_write(out, "w") as file:
                file.write(
                    json.dumps({"task": "cliffwalking-pixels", "seed": seed, "evaluations": rows}, indent=1) + "\n"
                )
            if (pearson >= ENOUGH and len(rows) > 2) or row["seconds"] > LIMIT:
                raise Reached

    try:
        ma.fit("cliffwalking-pixels", seeds=[seed], steps=1000, evaluations=40, progress=False, on_event=watch)
    except Reached:
        print("reached" if rows[-1]["pearson"] >= ENOUGH else "not reached")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
