"""`fit`: data in, model out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, overload

from .._interrupts import interruptible
from .._model import DistanceModel
from .._progress import training_progress
from .._warm_start import objective_of
from ..errors import InputError
from ..objectives import Objective, PathDist, make_objective
from ..tasks import Source, Truth
from ..trajectories import Trajectories, as_trajectories
from ..validation import HELD_OUT, refuse_or_warn, split_all
from ._driver import Diverged, Driver, Evaluated, Event, Finished, Progressed, Training
from ._start import starting_models
from ._stopping import stopped_early


@overload
def fit(
    data: Trajectories | str | Path | Any,
    objective: Objective | type[Objective] | str | None = ...,
    *,
    steps: int | None = ...,
    seed: int = ...,
    seeds: None = None,
    truths: Sequence[Truth] | None = ...,
    evaluations: int = ...,
    name: str = ...,
    held_out: float | None = ...,
    start_from: DistanceModel | str | Path | None = ...,
    on_event: Callable[[Event], object] | None = ...,
    progress: bool = ...,
) -> DistanceModel: ...


@overload
def fit(
    data: Trajectories | str | Path | Any,
    objective: Objective | type[Objective] | str | None = ...,
    *,
    steps: int | None = ...,
    seed: int = ...,
    seeds: Sequence[int],
    truths: Sequence[Truth] | None = ...,
    evaluations: int = ...,
    name: str = ...,
    held_out: float | None = ...,
    start_from: DistanceModel | str | Path | None = ...,
    on_event: Callable[[Event], object] | None = ...,
    progress: bool = ...,
) -> list[DistanceModel]: ...


def fit(
    data: Trajectories | str | Path | Any,
    objective: Objective | type[Objective] | str | None = None,
    *,
    steps: int | None = None,
    seed: int = 0,
    seeds: Sequence[int] | None = None,
    truths: Sequence[Truth] | None = None,
    evaluations: int = 10,
    name: str = "",
    held_out: float | None = None,
    start_from: DistanceModel | str | Path | None = None,
    on_event: Callable[[Event], object] | None = None,
    progress: bool = True,
) -> DistanceModel | list[DistanceModel]:
    """Learn the distance of `data`.

    Args:
        data: recorded episodes, or what `read` takes (a task's name or the path of a file), or a data frame, a list of
            arrays, an array (E, T, D), a dictionary with `states`, a Minari data set, or a replay buffer of
            Stable-Baselines3 or d3rlpy.
        objective: what to minimise: an object, a class or a name; `PathDist` if None, or the one of `start_from`.
        steps: the number of gradient steps. If None, the objective's own default; `PathDist` then stops earlier if
            held-out episodes show no further gain, where there are any.
        seed: the seed of weights and sampling.
        seeds: several seeds, trained side by side; the result is then a list of models.
        truths: true distances to compare with during training; those of a task if None.
        evaluations: how many times, evenly spaced, to compare with them.
        name: the name of the data in the model's file.
        held_out: the share of episodes that is not trained on but used to validate the model (`DistanceModel.health`).
            By default a tenth if there are at least 20 episodes and no truths are known; 0 trains on everything.
        start_from: a model, or the file or run folder of one, whose weights to begin with: to continue with new data,
            or for more steps.
        on_event: called with every event: `Progressed`, `Evaluated`, `Diverged`, `Finished`.
        progress: whether to show a progress bar, or lines if there is no terminal.

    Returns:
        The model, or one for each of `seeds`. Interrupted (Ctrl-C), it returns what has been learned by then, with a
        warning.

    Raises:
        InputError: if the training diverges, or an argument cannot be used.

    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([[[0.0], [1.0], [2.0], [1.0]], [[2.0], [1.0], [0.0]]])
    >>> model = ma.fit(data, ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=8)), steps=3, progress=False)
    >>> float(model.distance([0.0], [0.0]))
    0.0
    """
    all_seeds = (seed,) if seeds is None else () if isinstance(seeds, Integral) else tuple(seeds)
    begins = starting_models(start_from, len(all_seeds))
    chosen = make_objective(objective) if objective is not None else objective_of(begins[0]) if begins else PathDist()
    stop_early, steps = steps is None, chosen.default_steps if steps is None else steps
    if not isinstance(data, str | Path):
        data = as_trajectories(data)
    whole = all(isinstance(one, Integral) for one in (steps, evaluations, *all_seeds))
    if not whole or not all_seeds or steps < 1 or evaluations < 1:
        raise InputError("Training takes at least one seed (seeds=[0]), step and evaluation, all whole numbers.")
    if isinstance(data, Trajectories):
        own, recorded, judged = True, [data] * len(all_seeds), [truths or ()] * len(all_seeds)
    else:
        source = Source(str(data), all_seeds)
        own = source.task is None
        recorded = [source.data(one) for one in all_seeds]
        judged = [source.truths(one) if truths is None else truths for one in all_seeds]
    if own:
        refuse_or_warn(recorded[0])
    share = held_out_by_default(data, truths) if held_out is None else held_out
    recorded, spared = split_all(recorded, share)
    training = Training(
        chosen,
        recorded,
        steps,
        all_seeds,
        judged,
        evaluations,
        name or ("" if isinstance(data, Trajectories) else str(data)),
        held_out=spared,
        start_from=begins,
        stop_early=stop_early,
    )
    models = _trained(training, on_event, progress)
    return models[0] if seeds is None else models


def _trained(training: Training, on_event: Callable[[Event], object] | None, progress: bool) -> list[DistanceModel]:
    """The models at the end, or as they are when the user interrupts the training."""
    note, models = "", list[DistanceModel]()
    driver = Driver([training])
    with training_progress(training.steps, shown=progress) as show, interruptible() as interrupted:
        for event in driver.train():
            if on_event is not None:
                on_event(event)
            if isinstance(event, Progressed):
                show(event.step, note or f"loss {event.loss:.4f}")
            elif isinstance(event, Evaluated):
                note = event.note
            elif isinstance(event, Diverged):
                raise event.error
            elif isinstance(event, Finished):
                models = list(event.models)
            if interrupted() and not models:
                break
    if models:
        if progress and (told := stopped_early(driver.step, training.steps)):
            print(told, file=sys.stderr)
        return models
    if driver.step == 0:
        raise KeyboardInterrupt
    warnings.warn(
        f"Interrupted at step {driver.step:,} of {training.steps:,}; this is the model as it stood then.", stacklevel=3
    )
    return driver.models(training)


def held_out_by_default(data: Trajectories | str | Path, truths: Sequence[Truth] | None = None) -> float:
    """A tenth of a user's own episodes; nothing if the truth is known, as for tasks."""
    known = truths or (not isinstance(data, Trajectories) and Source(str(data)).task is not None)
    return 0.0 if known else HELD_OUT
