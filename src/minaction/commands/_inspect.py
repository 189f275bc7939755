"""`minaction evaluate` and `minaction distance`."""

from __future__ import annotations

import numpy as np
from rich.markup import escape

from .._model import DistanceModel
from ..errors import InputError
from ..evaluation import judge
from ..tasks import Source
from ..training import Run
from ._models import models_of, recording_of, refuse_recording
from ._options import Distance, Evaluate
from ._show import make_console, print_agreement, print_agreement_by_range
from ._states import state_of, warn_if_far


def evaluate(options: Evaluate) -> int:
    """Compare every seed's model with the truths of its task."""
    console = make_console()
    refuse_recording(options.run)
    run = Run.open(options.run)
    config = run.config
    models = {seed: DistanceModel.load(run.model_path(seed)) for seed in config.seeds}
    source = Source(config.data, config.seeds, config.episodes, config.table, config.policy)
    with console.status(f"preparing {escape(config.data)}"):
        recording_of(run, source)
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
    models, _ = models_of(options.run)
    source, target = (
        state_of(models[0], option, given) for option, given in (("--from", options.source), ("--to", options.target))
    )
    there = np.array([model.distance(source, target) for model in models])
    back = np.array([model.distance(target, source) for model in models])
    for arrow, values in (("from -> to", there), ("to -> from", back)):
        spread = f"  (seeds {values.min():.2f} to {values.max():.2f})" if len(values) > 1 else ""
        print(f"{arrow}: {values.mean():.2f} {models[0].unit or 'actions'}{spread}")
    for name, state in (("start", source), ("goal", target)):
        warn_if_far(models[0], name, state)
    return 0
