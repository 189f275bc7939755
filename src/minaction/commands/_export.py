"""`minaction export` and `minaction card`: models and agents for other runtimes, and what there is to know of them."""

from __future__ import annotations

import re
from pathlib import Path

from .._files import atomic_write, kind_of
from .._model import DistanceModel
from .._model_file import WEIGHTS
from ..errors import InputError
from ..training import Run
from ..training._run import is_run
from ._models import refuse_recording
from ._options import Card, Export

_TITLE = "# Minimum action distance of "  # with which every card begins


def export(options: Export) -> int:
    """Write one model of a run, or one agent."""
    refuse_recording(options.run)
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
    refuse_recording(options.run)
    _check_output(options)
    model = _model(options.run, options.seed)
    if options.folder is not None:
        model.save(options.folder, licence=options.licence)
        print(f"wrote {options.folder}")
    elif options.output is not None:
        with atomic_write(options.output) as file:
            file.write(model.card(options.licence).encode())
        print(f"wrote {options.output}")
    else:
        print(model.card(options.licence), end="")
    return 0


def _check_output(options: Card) -> None:
    """Refuse to write what is no card or folder by its name, or in the place of what this command did not write."""
    output, folder = options.output, options.folder
    if output is not None and folder is not None:
        raise InputError("A folder has the card in its README.md; give --output or --folder, not both.")
    if output is not None and output.suffix.lower() != ".md":
        raise InputError(f"The card is written to a file that ends in .md, not {output}.")
    if folder is not None and folder.suffix:
        raise InputError(f"{folder} looks like a file; name a folder without a dot.")
    card = folder / "README.md" if folder is not None else output
    if card is not None and not _is_free(card):
        raise InputError(f"{card} is not a card that minaction wrote; move it away, or give another name.")
    if folder is not None and (folder / WEIGHTS).exists() and kind_of(folder / WEIGHTS) != "model":
        raise InputError(f"{folder / WEIGHTS} is not a model of minaction; move it away, or choose another folder.")


def _is_free(path: Path) -> bool:
    """Whether nothing but a card is there, which begins with its title; on the Hub, after what the Hub reads."""
    if not path.exists():
        return True
    with open(path, "rb") as file:
        begins = file.read(2000).decode(errors="replace")
    return not begins or begins.startswith(_TITLE) or (begins.startswith("---\n") and f"\n{_TITLE}" in begins)


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
