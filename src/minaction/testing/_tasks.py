"""The laws of a task."""

from __future__ import annotations

import json

import numpy as np

from ..tasks import Layout, Task, Truth, get_task
from ..trajectories import Trajectories
from ._laws import attempting, check_registered, require

_MOST_STATES = 200  # of a truth, whose triangle inequality is checked over all triples
_ROUNDING = 1e-6


def check_task(task: Task | type[Task] | str, episodes: int = 3) -> None:
    """Check that a task makes the data it promises, and that its truths can be true.

    A seed gives the same bytes every time, another seed others; states have the shape that the task announces. True
    distances are not negative, zero from a state to itself, and obey the triangle inequality; those in steps or in
    recorded time are no longer than what was recorded between two states. A layout fits its picture.

    Args:
        task: an object, its class, or its name.
        episodes: how many episodes to make for the check.

    Raises:
        AssertionError: where a law fails, with the law and the numbers.

    >>> from minaction.testing import check_task
    >>> check_task("cliffwalking")
    """
    chosen = get_task(task) if isinstance(task, str) else task() if isinstance(task, type) else task
    what = f"the task {getattr(chosen, 'name', chosen)!r}"
    require(isinstance(chosen, Task), f"{what} is not derived from Task.")
    check_registered(chosen, what)
    named = get_task(chosen.name)
    require(type(named) is type(chosen), f"{what} is not what is found by its name, which is {named!r}.")
    require(
        chosen.summary and "\n" not in chosen.summary, f"The summary of {what} is one line, not {chosen.summary!r}."
    )
    require(chosen.default_episodes >= 1, f"default_episodes of {what} is {chosen.default_episodes}.")
    with attempting(f"Making data and truths of {what}"):
        data = _check_data(chosen, episodes, what)
        _check_truths(chosen, data, what)
        _check_layout(chosen.layout(), tuple(chosen.state_shape), what)
        facts = chosen.facts(data)
    try:
        json.dumps(facts)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"The facts of {what} cannot be written as JSON ({error}).") from error


def _check_data(task: Task, episodes: int, what: str) -> Trajectories:
    data = task.trajectories(0, episodes)
    require(isinstance(data, Trajectories), f"{what} makes {type(data)}, not Trajectories.")
    require(data.num_episodes == episodes, f"{what} made {data.num_episodes} episodes where {episodes} were asked for.")
    require(
        data.state_shape == tuple(task.state_shape),
        f"{what} announces states of shape {tuple(task.state_shape)}, but makes {data.state_shape}.",
    )
    require(data.actions is None, f"{what} keeps actions that were not asked for.")
    again = task.trajectories(0, episodes, keep_actions=True)
    require(
        again.fingerprint == data.fingerprint,
        f"The same seed gives the same bytes: {what} made {data.fingerprint} and then {again.fingerprint}.",
    )
    other = task.trajectories(1, episodes)
    require(other.fingerprint != data.fingerprint, f"Seeds 0 and 1 give the same data for {what}.")
    calls: list[tuple[int, int]] = []
    task.trajectories(0, episodes, lambda done, total: calls.append((done, total)))
    require(
        all(0 <= done <= total == episodes for done, total in calls),
        f"`progress` of {what} is called with episodes done and {episodes} in all, not with {calls}.",
    )
    return data


def _check_truths(task: Task, data: Trajectories, what: str) -> None:
    truths, again = task.truths(), task.truths()
    names = [truth.name for truth in truths]
    require(len(set(names)) == len(names), f"The truths of {what} need names of their own, not {names}.")
    for truth, same in zip(truths, again, strict=True):
        law = f"the truth {truth.name!r} of {what}"
        require(truth.unit and isinstance(truth.unit, str), f"{law} has the unit {truth.unit!r}; name one.")
        require(
            np.array_equal(truth.distances, same.distances) and np.array_equal(truth.sources, same.sources),
            f"{law} differs from one call to the next.",
        )
        _check_truth(truth, tuple(task.state_shape), law)
        _check_recorded(truth, data, law)


def _check_truth(truth: Truth, state_shape: tuple[int, ...], law: str) -> None:
    for name, states in (("sources", truth.sources), ("targets", truth.targets)):
        shape = states.shape[1:]
        require(shape == state_shape, f"The {name} of {law} have states of shape {shape}, not {state_shape}.")
    between = truth.distances
    wanted = (len(truth.sources), len(truth.targets))
    require(between.shape == wanted, f"The distances of {law} have shape {between.shape}, not {wanted}.")
    require(not np.isnan(between).any(), f"{law} holds NaN; a pair without a way is infinitely far apart.")
    require(between.min() >= 0, f"{law} holds the negative distance {between.min():g}.")
    require(np.isfinite(between).any(), f"{law} says that nothing can be reached from anywhere.")
    if not np.array_equal(truth.sources, truth.targets):
        return  # the same places, seen with other noise: there is no diagonal
    itself = np.diag(between).max()
    require(itself == 0, f"A state is no distance from itself: {law} gives {itself:g}.")
    if truth.tolerant:
        return
    some = np.random.default_rng(0).permutation(len(between))[:_MOST_STATES]
    part = between[np.ix_(some, some)]
    shortest = np.array([(row[:, None] + part).min(axis=0) for row in part])
    with np.errstate(invalid="ignore"):
        gap = np.where(np.isinf(shortest), 0.0, part - shortest)  # inf - inf
    worst = np.unravel_index(int(np.argmax(gap)), gap.shape)
    require(
        gap[worst] <= _ROUNDING * max(1.0, shortest[worst]),
        f"Triangle inequality: {law} gives {part[worst]:g} directly and {shortest[worst]:g} by a detour.",
    )


def _check_recorded(truth: Truth, data: Trajectories, law: str) -> None:
    """What was done in so many steps takes no more than so many steps."""
    if truth.unit == "steps":
        clock = np.arange(data.num_states, dtype=np.float64)
    elif truth.unit == "cells" or data.times is None:
        return
    else:
        clock = data.times
    sources, targets = ({row.tobytes(): k for k, row in enumerate(side)} for side in (truth.sources, truth.targets))
    kind = truth.sources.dtype
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        rows = [row.astype(kind).tobytes() for row in data.states[start:end]]
        source = np.array([sources.get(row, -1) for row in rows])
        target = np.array([targets.get(row, -1) for row in rows])
        first, second = np.triu_indices(end - start, k=1)
        known = (source[first] >= 0) & (target[second] >= 0)
        first, second = first[known], second[known]
        elapsed = clock[start + second] - clock[start + first]
        true = truth.distances[source[first], target[second]]
        if len(true) and (true - elapsed).max() > _ROUNDING * elapsed.max():
            worst = int(np.argmax(true - elapsed))
            raise AssertionError(
                f"{law} says {true[worst]:g} for two states that were recorded {elapsed[worst]:g} {truth.unit} apart "
                f"(states {start + first[worst]} and {start + second[worst]} of seed 0)."
            )


def _check_layout(layout: Layout | None, state_shape: tuple[int, ...], what: str) -> None:
    if layout is None:
        return
    pixels = layout.pixels
    require(
        layout.states.shape == (len(pixels), *state_shape) and pixels.shape == (len(layout.states), 2),
        f"The layout of {what} has states {layout.states.shape} and pixels {pixels.shape}; there is one pixel, row and "
        "column, to a state.",
    )
    require(np.issubdtype(pixels.dtype, np.integer), f"The pixels of {what} are {pixels.dtype}, not whole numbers.")
    require(
        (pixels >= 0).all() and (pixels < np.array(layout.shape)).all(),
        f"The picture of {what} has shape {layout.shape}, but pixels run from {pixels.min(axis=0).tolist()} to "
        f"{pixels.max(axis=0).tolist()}.",
    )
    require(len(np.unique(pixels, axis=0)) == len(pixels), f"Two states of the layout of {what} share a pixel.")
