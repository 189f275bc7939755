"""How well `model.progress` tells wasted time, remaining time and failures in logs of which the truth is known.

python reproductions/progress.py               # everything: three worlds, with and without time stamps, three seeds
python reproductions/progress.py --worlds arm --seeds 0 --methods pathdist
python reproductions/progress.py --table       # the table of RESULTS.md, from the raw results

A model is trained on one log and asked about another, whose episodes it has never seen. Its goals are the last states
of those episodes of the first log that succeeded. See `progress_logs.py` for the logs.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from progress_logs import LOGS, Recorded, kept_log, stamped
from scipy.stats import rankdata, spearmanr

import minaction as ma
from minaction._files import write_json
from minaction._remaining import Progress

RESULTS = Path(__file__).parent / "results" / "progress.json"
TRAINED, ASKED = 240, 90  # episodes of the log that is learned from, and of the one that is asked about
PIECE = 12  # rows to which useful parts of an episode are cut: about as long as the stretches that were put in
STEPS = {"pathdist": None, "maddist": 20_000}
FORMS = ("steps", "stamps")


def auroc(scores: np.ndarray, labels: np.ndarray) -> float:
    """How often a positive scores above a negative; ties count half, and rounding errors make no difference."""
    ranks, positive = rankdata(np.round(scores, 9)), int(labels.sum())
    return float((ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive)))


def stretches(wasted: np.ndarray) -> list[tuple[int, int, bool]]:
    """Stretches (start, stop, wasted): those that were put in as they are, useful parts in pieces."""
    edges = np.concatenate([[0], np.flatnonzero(np.diff(wasted)) + 1, [len(wasted)]])
    found = []
    for start, stop in itertools.pairwise(edges):
        pieces = 1 if wasted[start] else max(1, round((stop - start) / PIECE))
        cuts = np.linspace(start, stop, pieces + 1).astype(int)
        found += [(int(a), int(b), bool(wasted[start])) for a, b in itertools.pairwise(cuts) if b - a > 2]
    return found


def judge(log: list[Recorded], along: list[Progress]) -> dict[str, float]:
    """Everything that is measured of one log."""
    pieces = [(one, *piece) for one, true in zip(along, log, strict=True) for piece in stretches(np.array(true.wasted))]
    labels = np.array([wasted for _, _, _, wasted in pieces])
    of_stretches = np.array([one.waste[start:stop].mean() for one, start, stop, _ in pieces])
    truth = np.concatenate([np.array(one.remaining) for one in log])
    said = np.concatenate([one.remaining for one in along])
    failed = np.array([one.failed for one in log])
    within = [spearmanr(one.remaining, true.remaining).statistic for one, true in zip(along, log, strict=True)]
    return {
        "stretches": auroc(of_stretches, labels),
        "rows": auroc(np.concatenate([one.waste for one in along]), np.concatenate([one.wasted for one in log])),
        "error": float(np.abs(said - truth).mean() / truth.mean()),
        "ratio": float(said.sum() / truth.sum()),
        "failures": auroc(np.array([one.remaining[-1] for one in along]), failed),
        "finished": float(np.mean([one.finished != true.failed for one, true in zip(along, log, strict=True)])),
        "rank": float(np.nanmean(within)),
    }


def linear(log: list[Recorded]) -> list[Progress]:
    """Progress as today's tools define it: what has passed of an episode's own time."""
    times = [np.arange(len(one.states), dtype=float) if one.times is None else one.times for one in log]
    return [Progress(clock, clock[-1] - clock) for clock in times]


def as_data(log: list[Recorded]) -> ma.Trajectories:
    """The log without what is known about it."""
    times = None if log[0].times is None else [one.times for one in log]
    unit = "" if times is None else "s"
    return ma.Trajectories.from_episodes([np.array(one.states) for one in log], times, time_unit=unit)  # type: ignore[arg-type]


def measure(
    world: str, seed: int, forms: list[str], methods: list[str], steps: int | None, logs: Path | None
) -> Iterator[tuple[str, str, dict[str, float]]]:
    """One world's log in its forms, by linear time and by every method: what was measured, one after the other."""
    rng = np.random.default_rng([seed, len(world)])
    learned_from, asked = (kept_log(logs, world, seed, count, rng) for count in (TRAINED, ASKED))
    for form in forms:
        if form == "stamps":
            learned_from, asked = stamped(learned_from, rng), stamped(asked, rng)
        data, questions = as_data(learned_from), as_data(asked)
        succeeded = data[[k for k, one in enumerate(learned_from) if not one.failed]]
        yield form, "linear", judge(asked, linear(asked))
        for method in methods:
            model = ma.fit(data, method, steps=steps or STEPS[method], seed=seed, progress=False)
            found = judge(asked, [model.progress(episode, succeeded) for episode in questions])
            print(world, seed, form, method, json.dumps(found), flush=True)
            yield form, method, found


def table(raw: dict) -> None:
    """The table of RESULTS.md: means over seeds."""
    print("| log | method | wasted stretches (rows) | remaining, error / ratio | failures last | rank |")
    print("| --- | --- | --- | --- | --- | --- |")
    for world, seeds in raw.items():
        for form in FORMS:
            for method in next(iter(seeds.values())).get(form, {}):
                rows = [found[form][method] for found in seeds.values()]
                mean = {name: np.mean([row[name] for row in rows]) for name in rows[0]}
                print(
                    f"| {world}, {form} | {method} | {mean['stretches']:.3f} ({mean['rows']:.3f}) | "
                    f"{mean['error']:.0%} / {mean['ratio']:.2f} | {mean['failures']:.3f} | {mean['rank']:.3f} |"
                )


def main() -> None:
    """Train, ask, and write the raw results."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--worlds", nargs="+", default=list(LOGS))
    options.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    options.add_argument("--forms", nargs="+", default=list(FORMS), choices=FORMS)
    options.add_argument("--methods", nargs="+", default=list(STEPS))
    options.add_argument("--steps", type=int)
    options.add_argument("--logs", type=Path, help="where to keep the logs, for a machine without the ant's simulator")
    options.add_argument("--out", type=Path, default=RESULTS)
    options.add_argument("--table", action="store_true")
    chosen = options.parse_args()
    if chosen.table:
        return table(json.loads(chosen.out.read_text()))
    raw: dict = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    for world in chosen.worlds:
        for seed in chosen.seeds:
            of_seed = raw.setdefault(world, {}).setdefault(str(seed), {})
            asked = (world, seed, chosen.forms, chosen.methods, chosen.steps, chosen.logs)
            for form, method, found in measure(*asked):
                of_seed.setdefault(form, {})[method] = found
                write_json(chosen.out, raw)
    table(raw)


if __name__ == "__main__":
    main()
