"""`make fuzz`: many mutations of every kind of file, read in processes with limits; a report of counts as JSON.

python tests/fuzz/campaign.py --count 10000 --out fuzz          files that break something are kept in fuzz/

A process reads one mutation after the other. One that dies, or says nothing for ten seconds, costs one mutation; the
next process goes on behind it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import IO

sys.path.insert(0, str(Path(__file__).parent))

# Imported once for all processes, which are forked: JAX is imported by that, but not running yet.
from kinds import KINDS
from mutations import mutated, outcome

SECONDS, MEMORY = 10.0, 1 << 30
_GOOD = "good"


def bad_file(kind: str, seed: int, good: bytes) -> bytes:
    """Mutation number `seed` of a kind."""
    return mutated(good, random.Random(f"{kind} {seed}"), KINDS[kind].is_json)


def work(name: str, seeds: range, folder: Path, out: IO[str]) -> None:
    """In a process of its own: read mutations one after the other, a line about each."""
    warnings.simplefilter("ignore")
    kind = KINDS[name]
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    (folder / "data").mkdir()
    path = kind.make(folder / "data")
    good = path.read_bytes()
    (folder / _GOOD).write_bytes(good)
    before = outcome(kind, path)
    assert before == "read", before
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    # Above that an allocation fails, as it does on a machine with less memory.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (base + 8 * MEMORY, hard))
    print("ready", file=out, flush=True)
    for seed in seeds:
        path.write_bytes(bad_file(name, seed, good))
        found = outcome(kind, path)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if most > base + MEMORY:
            found, base = f"memory: {(most - base) / MEMORY:.1f} GiB", most
        print(json.dumps(found), file=out, flush=True)


def forked(name: str, seeds: range, folder: Path) -> tuple[int, IO[str]]:
    """A process at work: its id, and what it says."""
    theirs, ours = os.pipe()[::-1]
    child = os.fork()
    if child:
        os.close(theirs)
        return child, os.fdopen(ours)
    try:
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        work(name, seeds, folder, os.fdopen(theirs, "w"))
    finally:
        os._exit(0)


def campaign(name: str, count: int, out: Path) -> dict[str, int]:
    """All mutations of one kind; how often each outcome came."""
    counts: Counter[str] = Counter()
    seed = 0
    while seed < count:
        with tempfile.TemporaryDirectory() as folder:
            child, says = forked(name, range(seed, count), Path(folder))
            started = False
            while seed < count:
                ready, _, _ = select.select([says], [], [], SECONDS if started else 120.0)
                line = says.readline() if ready else ""
                if line == "ready\n":
                    started = True
                    continue
                found = json.loads(line) if line else "died" if ready else "hang"
                if not line and not started:
                    raise SystemExit(f"The process for {name} did not begin ({found}).")
                counts[found] += 1
                if found not in ("read", "refused"):
                    kept = out / f"{name.replace('/', '-')}-{seed}"
                    kept.write_bytes(bad_file(name, seed, (Path(folder) / _GOOD).read_bytes()))
                seed += 1
                if not line:
                    break
            says.close()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return dict(counts.most_common())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=Path("fuzz"))
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kinds: dict[str, dict[str, float]] = {}
    for name in options.kinds or KINDS:
        began = time.monotonic()
        kinds[name] = {**campaign(name, options.count, options.out), "seconds": round(time.monotonic() - began, 1)}
        print(name, kinds[name], flush=True)
        report = {
            "command": f"make fuzz COUNT={options.count}",
            "limits": {"seconds": SECONDS, "gib": MEMORY >> 30},
            "mutations": sum(_number(found, "read", "refused") + _failures(found) for found in kinds.values()),
            "failures": sum(map(_failures, kinds.values())),
            "kinds": kinds,
        }
        (options.out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    sys.exit(1 if any(map(_failures, kinds.values())) else 0)


def _number(counts: dict[str, float], *names: str) -> int:
    return sum(int(counts.get(name, 0)) for name in names)


def _failures(counts: dict[str, float]) -> int:
    """Whatever was neither read nor refused."""
    return _number(counts, *(name for name in counts if name not in ("read", "refused", "seconds")))


if __name__ == "__main__":
    main()
