"""`minaction export` and `minaction card`: models and agents for other runtimes, and what there is to know of them."""

from __future__ import annotations

import re
from pathlib import Path

from .._files import atomic_write, kind_of
from .._model import DistanceModel
from ..errors import InputError
from ..training import Run
from ..training._run import is_run
from ._options import Card, Export


def export(options: Export) -> int:
    """Write one model of a run, or one agent."""
    agent = _agent_file(options.run, options.seed)
    if agent is None:
        _model(options.run, options.seed).export(options.output, options.part)
    elif options.part != "distance":
        raise InputError(f"{agent} is an agent, whose local policy is exported; --part is for models.")
    else:
        from ..agents import Agent

        Agent.load(agent).export(options.output)
    print(f"wrote {options.output}")
    return 0


def card(options: Card) -> int:
    """Write or print the card of one model of a run."""
    model = _model(options.run, options.seed)
    if options.folder is not None:
        if options.output is not None:
            raise InputError("A folder has the card in its README.md; give --output or --folder, not both.")
        if options.folder.suffix:
            raise InputError(f"{options.folder} looks like a file; name a folder without a dot.")
        model.save(options.folder, licence=options.licence)
        print(f"wrote {options.folder}")
    elif options.output is not None:
        with atomic_write(options.output) as file:
            file.write(model.card(options.licence).encode())
        print(f"wrote {options.output}")
    else:
        print(model.card(options.licence), end="")
    return 0


def _agent_file(path: Path, seed: int | None) -> Path | None:
    """The agent file in `path`, itself or one of a folder that `minaction agent train` wrote; None if it has none."""
    if not path.is_dir():
        return path if kind_of(path) == "agent" else None
    found = {file: re.fullmatch(r"agent-seed(\d+)", file.stem) for file in path.glob("*.safetensors")}
    files = {int(name[1]): file for file, name in found.items() if name}
    if not files:
        return None
    chosen = min(files) if seed is None else seed
    if chosen not in files:
        raise InputError(f"{path} has no seed {chosen}; it has {', '.join(map(str, sorted(files)))}.")
    return files[chosen]


def _model(path: Path, seed: int | None) -> DistanceModel:
    if path.is_dir() and is_run(path):
        run = Run.open(path)
        chosen = run.config.seeds[0] if seed is None else seed
        if chosen not in run.config.seeds:
            raise InputError(f"{path} has no seed {chosen}; it has {', '.join(map(str, run.config.seeds))}.")
        return DistanceModel.load(run.model_path(chosen))
    if seed is not None:
        raise InputError(f"{path} is one model; give the folder of its run to choose a seed.")
    return DistanceModel.load(path)
