"""`minaction evaluate` and `minaction distance`: ask a trained model."""

from __future__ import annotations

import numpy as np

from .._model import DistanceModel
from ..cli import Distance, Evaluate
from ..errors import InputError
from ..evaluation import evaluate as compare
from ..evaluation import evaluate_by_range
from ..training._run import RunDirectory
from ..training._session import Source
from ._show import make_console, print_agreement, print_agreement_by_range


def evaluate(options: Evaluate) -> int:
    """Compare every seed's model with the truths of its task."""
    console = make_console()
    run = RunDirectory.open(options.run)
    models = [DistanceModel.load(run.model_path(seed)) for seed in run.config.seeds]
    with console.status(f"preparing {run.config.data}"):
        source = Source(run.config.data, run.config.seeds)
    if not source.truths(0):
        raise InputError(f"{run.config.data} has no truth to compare with: its states hardly repeat.")
    rows = [compare(model, source.truths(k)) for k, model in enumerate(models)]
    shown = [{name: found.as_dict() for name, found in row.items()} for row in rows]
    print_agreement(console, shown, source.truths(0))
    by_range = [evaluate_by_range(model, source.truths(k)) for k, model in enumerate(models)]
    print_agreement_by_range(console, by_range, source.truths(0))
    return 0


def distance(options: Distance) -> int:
    """Print d(from, to) and d(to, from), with the spread over seeds where there are several."""
    if options.run.is_dir():
        run = RunDirectory.open(options.run)
        models = [DistanceModel.load(run.model_path(seed)) for seed in run.config.seeds]
    else:
        models = [DistanceModel.load(options.run)]
    there = np.array([model.distance(options.source, options.target) for model in models])
    back = np.array([model.distance(options.target, options.source) for model in models])
    for arrow, values in (("from -> to", there), ("to -> from", back)):
        spread = f"  (seeds {values.min():.2f} to {values.max():.2f})" if len(values) > 1 else ""
        print(f"{arrow}: {values.mean():.2f} actions{spread}")
    return 0
