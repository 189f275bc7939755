"""`make crash`: commands killed at random moments and on full disks, until each comes to its end; a report as JSON.

python tests/crash/campaign.py --kills 200 --out crash

A command is given again after every kill, as a person would. What it leaves in the end is compared, byte for byte, with
what the same command leaves undisturbed; apart from that nothing may be there: no temporary file, no process, and a
person's own files beside it as they were.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

SMALL = ("encoder.hidden=8", "encoder.latent=4", "batch_size=8", "constraint_batch_size=8")
GRID = """
tasks = ["cliffwalking"]
seeds = 2
steps = 200
episodes = 3
[methods.small]
objective = "maddist"
settings = { "encoder.hidden" = [8], "encoder.latent" = 4, batch_size = 8, constraint_batch_size = 8 }
"""
DISKS_MIB = (0.03, 0.1, 0.25, 0.5)


@dataclass(frozen=True)
class Scenario:
    """A command that writes to the folder `out` of where it is given; `share` of the kills are its own."""

    name: str
    command: tuple[str, ...]
    share: float
    prepare: Callable[[Path], object] = field(default=lambda folder: None)
    """Makes what the command reads."""


def _recording(folder: Path) -> None:
    states = np.random.default_rng(0).normal(size=(400_000, 4))
    np.savez(folder / "log.npz", states=states, offsets=np.arange(0, 400_001, 1000))


def _grid(folder: Path) -> None:
    (folder / "grid.toml").write_text(GRID)


def _finished_run(to: str) -> Callable[[Path], None]:
    """Puts a finished run there, trained once for all commands that are killed."""

    def prepare(folder: Path) -> None:
        kept = folder.parent / "finished"
        if not kept.exists():
            command = (*_TRAIN, "--out", str(kept), "--set", *SMALL)
            assert ended(start(command, folder, folder / "said"), 900) == 0, (folder / "said").read_text()
        shutil.copytree(kept, folder / to)

    return prepare


_TRAIN = ("train", "cliffwalking", "--objective", "maddist", "--episodes", "3", "--steps", "200", "--evaluations", "20")
_AGENT = ("agent", "train", "cliffwalking", "--model", "model", "--episodes", "3", "--steps", "300", "--seeds", "2")
SCENARIOS = (
    Scenario("convert", ("data", "convert", "log.npz", "out/log.safetensors"), 0.25, _recording),
    Scenario("train", (*_TRAIN, "--out", "out/run", "--set", *SMALL), 0.15),
    Scenario(
        "replace",
        (*_TRAIN, "--seeds", "2", "--out", "out/run", "--overwrite", "--set", *SMALL),
        0.1,
        _finished_run("out/run"),
    ),
    Scenario("suite", ("suite", "grid.toml", "--out", "out/suite", "--jobs", "1"), 0.25, _grid),
    Scenario("agent", (*_AGENT, "--out", "out/agents"), 0.25, _finished_run("model")),
)


def contents(folder: Path) -> dict[str, Any]:
    """Every file of a folder, but for the times in them."""
    found: dict[str, Any] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        value: Any = path.read_bytes()
        if path.name == "results.json":
            value = {k: v for k, v in json.loads(value).items() if k not in ("seconds", "steps_per_second")}
        if path.name not in ("report.html", "curves.png"):  # which show the time of day
            found[str(path.relative_to(folder))] = value
        else:
            found[str(path.relative_to(folder))] = "there"
    return found


def start(command: tuple[str, ...], place: Path, said: Path) -> int:
    """The command as a child of this process, which has imported what it needs; its process id.

    Nothing has been computed here, so that JAX is not running yet and may be forked.
    """
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.setsid()
        os.chdir(place)
        with open(said, "w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        from minaction.cli import main

        code = main(command)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def ended(child: int, patience: float) -> int | None:
    """The exit code of a child that ends by itself in time; None for one that has to be killed."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    return None


def kill(child: int) -> None:
    """As an out-of-memory killer does: the process alone, not what it started."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def undisturbed(scenario: Scenario, place: Path) -> tuple[dict[str, Any], float]:
    """What the command leaves, and how long it takes."""
    prepared(scenario, place)
    began = time.monotonic()
    child = start(scenario.command, place, place / "said")
    code = ended(child, 900)
    assert code == 0, (place / "said").read_text()
    return contents(place / "out"), time.monotonic() - began


def prepared(scenario: Scenario, place: Path) -> None:
    """A fresh place, with a person's own file in it."""
    shutil.rmtree(place, ignore_errors=True)
    (place / "out").mkdir(parents=True)
    (place / "out" / "thesis.tex").write_text("precious")
    scenario.prepare(place)


def killed(scenario: Scenario, kills: int, chance: random.Random, place: Path) -> dict[str, Any]:
    """Kill the command so many times; what was wrong with what it left."""
    expected, seconds = undisturbed(scenario, place)
    done, runs, problems = 0, 0, list[str]()
    prepared(scenario, place)
    while done < kills or runs == 0:
        child = start(scenario.command, place, place / "said")
        patience = chance.uniform(0, 1.1 * seconds) if done < kills else 900
        code = ended(child, patience)
        if code is None:
            kill(child)
            done += 1
            continue
        runs += 1
        if code != 0:
            problems.append(f"exit code {code}: {(place / 'said').read_text()[-2000:]}")
        problems += differences(contents(place / "out"), expected)
        problems += left_processes(place)
        prepared(scenario, place)
    print(f"{scenario.name}: {done} kills, {runs} runs to the end, {len(problems)} problems", flush=True)
    return {"kills": done, "runs_to_the_end": runs, "undisturbed_seconds": round(seconds, 1), "problems": problems}


def differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What is left that should not be, is missing, or is other than it should be."""
    names = sorted(found.keys() | expected.keys())
    return [
        f"{name} is " + ("left" if name not in expected else "missing" if name not in found else "different")
        for name in names
        if found.get(name) != expected.get(name)
    ]


def left_processes(place: Path) -> list[str]:
    """Processes that still work in a place, though what started them has ended."""
    found = list[str]()
    for _ in range(50):
        found.clear()
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.pid != os.getpid() and process.cwd() == str(place):
                    found.append(f"process {process.pid} ({process.name()}) is left")
        if not found:
            break
        time.sleep(0.1)
    return found


@contextlib.contextmanager
def small_disk(folder: Path, mib: float) -> Iterator[None]:
    """A disk of so many MiB in memory, mounted at `folder`; PermissionError where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={int(mib * 1024)}k", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        raise PermissionError(mounted.stderr.decode().strip())
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def full_disk(scenario: Scenario, place: Path) -> dict[str, Any]:
    """The command on disks that are too small, and then with room made."""
    expected, _ = undisturbed(scenario, place)
    refused, problems = 0, list[str]()
    for mib in DISKS_MIB:
        prepared(scenario, place)
        (place / "out" / "thesis.tex").unlink()
        with small_disk(place / "out", mib):
            code = ended(start(scenario.command, place, place / "said"), 900)
            said = (place / "said").read_text()
            if code == 2 and "Traceback" not in said and "No space left" in said:
                refused += 1
            elif code != 0:
                problems.append(f"{mib} MiB: exit code {code}: {said[-1000:]}")
            problems += [f"{mib} MiB: {name} is left" for name in contents(place / "out") if name.endswith(".tmp")]
            subprocess.run(["mount", "-o", "remount,size=64m", str(place / "out")], check=True)
            code = ended(start(scenario.command, place, place / "said"), 900)
            if code != 0:
                problems.append(f"{mib} MiB, then room: exit code {code}: {(place / 'said').read_text()[-1000:]}")
            (place / "out" / "thesis.tex").write_text("precious")
            problems += [f"{mib} MiB, then room: {one}" for one in differences(contents(place / "out"), expected)]
    print(f"{scenario.name}: {refused} of {len(DISKS_MIB)} disks were full, {len(problems)} problems", flush=True)
    return {"disks": len(DISKS_MIB), "full": refused, "problems": problems}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenarios", nargs="*", choices=[one.name for one in SCENARIOS])
    parser.add_argument("--out", type=Path, default=Path("crash"))
    options = parser.parse_args()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    # Imported once for all children. Matplotlib and JAX start no threads before they are used.
    import minaction.commands._agent
    import minaction.commands._data
    import minaction.commands._suite
    import minaction.commands._train  # noqa: F401

    options.out.mkdir(parents=True, exist_ok=True)
    chosen = [one for one in SCENARIOS if not options.scenarios or one.name in options.scenarios]
    total = sum(one.share for one in chosen)
    report: dict[str, Any] = {"command": " ".join(sys.argv), "kills": {}, "full_disks": {}}
    with tempfile.TemporaryDirectory(prefix="minaction-crash-") as folder:
        os.environ["XDG_CACHE_HOME"] = str(Path(folder) / "cache")
        chance = random.Random(options.seed)
        for scenario in chosen:
            kills = round(options.kills * scenario.share / total)
            report["kills"][scenario.name] = killed(scenario, kills, chance, Path(folder) / "place")
            (options.out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
        for scenario in (one for one in chosen if one.name in ("train", "convert")):
            try:
                report["full_disks"][scenario.name] = full_disk(scenario, Path(folder) / "place")
            except PermissionError as error:
                report["full_disks"][scenario.name] = {"skipped": f"no disk could be mounted: {error}", "problems": []}
            (options.out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    found = [*report["kills"].values(), *report["full_disks"].values()]
    sys.exit(1 if any(one["problems"] for one in found) else 0)


if __name__ == "__main__":
    main()
