"""`minaction evaluate` and `minaction distance`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from rich.markup import escape

from .._image_axes import arrangement, is_image
from .._model import DistanceModel
from .._model_file import is_one_model
from ..errors import InputError
from ..evaluation import judge
from ..tasks import Source
from ..training import Run
from ..trajectories import shape_in_words
from ..trajectories.readers import read_frame
from ._options import Distance, Evaluate
from ._show import make_console, print_agreement, print_agreement_by_range

_FAR = 3.0  # typical steps from anything recorded


def evaluate(options: Evaluate) -> int:
    """Compare every seed's model with the truths of its task."""
    console = make_console()
    run = Run.open(options.run)
    config = run.config
    models = {seed: DistanceModel.load(run.model_path(seed)) for seed in config.seeds}
    source = Source(config.data, config.seeds, config.episodes, config.table, config.policy)
    with console.status(f"preparing {escape(config.data)}"):
        found = [
            judge(model, source.truths(seed), step=model.provenance.steps, seed=seed) for seed, model in models.items()
        ]
    if not any(found):
        raise InputError(f"{config.data} has no truth to compare with: its states hardly repeat.")
    print_agreement(console, [[one for one in row if one.high is None] for row in found])
    print_agreement_by_range(console, [[one for one in row if one.high is not None] for row in found])
    return 0


def distance(options: Distance) -> int:
    """Print d(from, to) and d(to, from), with the spread over seeds where there are several."""
    if is_one_model(options.run):
        models = [DistanceModel.load(options.run)]
    else:
        run = Run.open(options.run)
        models = [DistanceModel.load(run.model_path(seed)) for seed in run.config.seeds]
    source, target = (
        _state(models[0], option, given) for option, given in (("--from", options.source), ("--to", options.target))
    )
    there = np.array([model.distance(source, target) for model in models])
    back = np.array([model.distance(target, source) for model in models])
    for arrow, values in (("from -> to", there), ("to -> from", back)):
        spread = f"  (seeds {values.min():.2f} to {values.max():.2f})" if len(values) > 1 else ""
        print(f"{arrow}: {values.mean():.2f} {models[0].unit or 'actions'}{spread}")
    for name, state in (("start", source), ("goal", target)):
        away = models[0].coverage(state).item() if models[0].recorded is not None else 0.0
        if away > _FAR:
            print(f"warning: the {name} is {away:.1f} typical steps from anything recorded; its distances are guesses")
    return 0


def _state(model: DistanceModel, option: str, given: tuple[str, ...]) -> np.ndarray:
    """The state that is meant: numbers, or what a picture or a frame of a video shows, in the size of the model's."""
    numbers = [_number(word) for word in given]
    shape = model.state_shape
    if None not in numbers:
        if len(numbers) != math.prod(shape):  # a person has to know which numbers a state has, and in which order
            size, named = " x ".join(map(str, shape)), f" ({', '.join(model.columns)})" if model.columns else ""
            raise InputError(f"A state of this model has {size} numbers{named}, but {option} gives {len(numbers)}.")
        return np.array(numbers)
    if not is_image(shape) or arrangement(shape)[0][:2] != (0, 1):
        raise InputError(f"{given[0]!r} is not a number; this model takes states of {shape_in_words(shape)}.")
    path, *number = given
    if len(number) > 1 or not all(word.isdecimal() for word in number):
        raise InputError(f"Give one picture, or a video and the number of a frame, not {' '.join(given)!r}.")
    height, width, *_ = shape
    return read_frame(Path(path), int(number[0]) if number else None, (height, width))


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
