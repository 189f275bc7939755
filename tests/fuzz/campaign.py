"""`make fuzz`: many mutations of every kind of file, read in processes with limits; a report of counts as JSON.

python tests/fuzz/campaign.py --count 10000 --out fuzz          files that break something are kept in fuzz/
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

SECONDS, MEMORY = 10.0, 1 << 30


def bad_file(kind: str, seed: int, good: bytes, is_json: bool) -> bytes:
    """Mutation number `seed` of a kind."""
    from mutations import mutated

    return mutated(good, random.Random(f"{kind} {seed}"), is_json)


def work(name: str, first: int, end: int) -> None:
    """In a process of its own: read mutations one after the other, a line about each."""
    import warnings

    from kinds import KINDS
    from mutations import outcome

    warnings.simplefilter("ignore")
    kind = KINDS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = kind.make(Path(folder))
        good = path.read_bytes()
        before = outcome(kind, path)
        assert before == "read", before
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        # Above that an allocation fails, as it does on a machine with less memory.
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (base + 8 * MEMORY, hard))
        print("ready", flush=True)
        for seed in range(first, end):
            path.write_bytes(bad_file(name, seed, good, kind.is_json))
            found = outcome(kind, path)
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            if most > base + MEMORY:
                found, base = f"memory: {(most - base) / MEMORY:.1f} GiB", most
            print(json.dumps([seed, found]), flush=True)


def campaign(name: str, count: int, out: Path) -> dict[str, int]:
    """All mutations of one kind; how often each outcome came. A process that dies or hangs costs one mutation."""
    from kinds import KINDS

    counts: Counter[str] = Counter()
    seed = 0
    with tempfile.TemporaryDirectory() as folder:
        good = KINDS[name].make(Path(folder)).read_bytes()
    while seed < count:
        command = [sys.executable, __file__, "--work", name, str(seed), str(count)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        started = False
        while seed < count:
            ready, _, _ = select.select([process.stdout], [], [], SECONDS if started else 120.0)
            line = process.stdout.readline() if ready else ""
            if line == "ready\n":
                started = True
                continue
            if line:
                found = json.loads(line)[1]
            elif ready:
                found = f"died: {process.wait()}"
            else:
                found = "hang"
            if not line and not started:
                raise SystemExit(f"The process for {name} did not begin ({found}).")
            counts[found] += 1
            if found not in ("read", "refused"):
                kept = out / f"{name}-{seed}"
                kept.write_bytes(bad_file(name, seed, good, KINDS[name].is_json))
            seed += 1
            if not line:
                break
        process.kill()
        process.wait()
    return dict(counts.most_common())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=Path("fuzz"))
    parser.add_argument("--kinds", nargs="*")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work[0], int(options.work[1]), int(options.work[2]))
        return
    from kinds import KINDS

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
