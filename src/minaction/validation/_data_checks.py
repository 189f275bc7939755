"""`check_data`: finds common mistakes in data before training."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from .._coverage import Coverage, flat
from .._image_axes import arrangement, images_of, is_image
from .._mapped import read_rows, row_blocks
from ..errors import InputError
from ..trajectories import Trajectories, as_trajectories, failed_readings, repaired
from ..trajectories._ids import GLANCE, are_ids, remembered, some_steps
from ._bounds import states_repeat

_FEW_STEPS = 200
_IMAGES, _STEPS_OF_IMAGES = 1_000, 100  # looked at
_LARGEST = 64  # numbers of a state: of images, single ones mean nothing
_SHARES = 8  # of an episode, and steps of each, over which what drifts changes by the same amount
_STEADY = 0.2  # its standard deviation there, of its mean
_NEAR = 2.0  # typical steps
_OVERLAP = 0.1  # of states near one of another episode, or known from one
_MOST_FOR_NEARNESS = 10  # numbers of a state
_FAR_OUT = 50.0  # times what nearly all values of a number span
_ASKED, _NEIGHBOURS = 1_000, 64


def check_data(data: Any) -> list[str]:
    """What looks wrong with recorded episodes, one sentence each; an empty list if nothing does.

    Looks for too few states or steps, a clock, a label of episodes or noise among the numbers of a state, readings that
    failed, numbers that stand for missing values, ids given as one number, images of different ranges or with a fourth
    channel, and episodes that share no states.
    Some of this may be intended: a world can have only one direction.

    Args:
        data: recorded episodes, as `recorded_distance` takes them.

    >>> import minaction as ma
    >>> ma.check_data(ma.Trajectories.from_episodes([[0.0, 1.0, 0.0, 1.0]]))[0]
    'only 2 different states were recorded, so there is no distance to learn but that between them'
    """
    data = as_trajectories(data)
    steps = data.num_states - data.num_episodes
    different = len(data.distinct) if data.has_at_most(2) else 3
    if different <= 2:
        what = f"only {different} different states were" if different > 1 else "only a single state was"
        return [f"{what} recorded, so there is no distance to learn but that between them"]
    found = []
    if steps < _FEW_STEPS:
        found.append(f"only {steps} steps were recorded; distances are hardly more than guesses below a few hundred")
    if np.prod(data.state_shape) <= _LARGEST:
        if failed := [*_failed_readings(data)]:
            found, data = [*found, *failed], repaired(data)
        before, after = (flat(states) for states in some_steps(data.states, data.offsets))
        found += [*_clocks(data, before, after), *(_ids(before, after) or _noise(data, before, after))]
        found += [*_labels(data, before, after), *_stand_ins(data, before)]
    return [*found, *_odd_images(data), *_overlap(data)]


def _odd_images(data: Trajectories) -> list[str]:
    """What is unusual about images."""
    return [*_other_ranges(data), *_fourth_channel(data)] if is_image(data.state_shape) else []


def _fourth_channel(data: Trajectories) -> list[str]:
    """Whether images may have transparency beside three colours, rather than being the last four frames stacked."""
    if arrangement(data.state_shape)[1][2] != 4 or len(data.state_shape) != 3:
        return []
    rows = np.arange(min(_STEPS_OF_IMAGES, data.num_states - 1))
    rows = rows[~np.isin(rows, data.offsets[1:] - 1)]
    before, after = (images_of(read_rows(data.states, at)) for at in (rows, rows + 1))
    older_first, newer_first = after[..., :3] == before[..., 1:], after[..., 1:] == before[..., :3]
    if len(rows) and (older_first.all() or newer_first.all()):
        return []
    return [
        "the images have four channels, and the fourth counts as much as a colour: if it is depth or another camera, "
        "that is right; if it is transparency, leave it out (images[..., :3])"
    ]


def _other_ranges(data: Trajectories) -> list[str]:
    """Whether most images of floating-point numbers lie from 0 to 1, or -1 to 1, and others do not."""
    if data.states.dtype.kind != "f":
        return []
    rows = np.sort(np.random.default_rng(0).permutation(data.num_states)[:_IMAGES])
    largest = np.abs(flat(read_rows(data.states, rows))).max(axis=1)
    outside = largest > 1.0
    if not outside.any() or outside.mean() > 0.5:  # a depth camera, say, or never scaled
        return []
    return [
        f"{np.mean(outside):.1%} of the images hold numbers up to {largest.max():.4g}, and the others none beyond 1: "
        "divide all of them by 255, or give all as uint8"
    ]


def _clocks(data: Trajectories, before: np.ndarray, after: np.ndarray) -> Iterator[str]:
    """Numbers that grow, or fall, in every step, or steadily but for noise."""
    least, most, drift = (after - before).min(axis=0), (after - before).max(axis=0), _drift(data)
    for column in np.flatnonzero((least > 0) | (most < 0) | (drift != 0)).tolist():
        steps = least[column] > 0 or most[column] < 0
        way = most[column] if steps else drift[column]
        how = ("grows" if way > 0 else "falls") + ("" if steps else ", but for noise")
        yield (
            f"{_named(data.columns, column)} only ever {how}: if it is a clock or a counter, give it as times or "
            "leave it out, because no state is visited twice while it runs"
        )


def _drift(data: Trajectories) -> np.ndarray:
    """By how much each number changes over an eighth of an episode, (D,); 0 unless that is the same everywhere."""
    lag = int(np.median(data.lengths)) // _SHARES
    rows = np.sort(np.random.default_rng(0).integers(0, data.num_states - lag, GLANCE))
    rows = rows[np.searchsorted(data.offsets, rows, "right") == np.searchsorted(data.offsets, rows + lag, "right")]
    if lag < _SHARES or len(rows) == 0:
        return np.zeros(int(np.prod(data.state_shape)))
    way = flat(read_rows(data.states, rows + lag)) - flat(read_rows(data.states, rows))
    return np.where(way.std(axis=0) < _STEADY * np.abs(way.mean(axis=0)), way.mean(axis=0), 0.0)


def _named(names: Sequence[str], column: int) -> str:
    return f"{names[column]!r}" if names else f"number {column + 1} of the states"


def _labels(data: Trajectories, before: np.ndarray, after: np.ndarray) -> Iterator[str]:
    """Numbers that differ between episodes, and inside none."""
    if data.is_mapped or data.num_episodes < 2:
        return
    rows = flat(data.states)
    for column in np.flatnonzero((before == after).all(axis=0) & (before != before[:1]).any(axis=0)).tolist():
        change = np.diff(rows[:, column]) != 0
        change[data.offsets[1:-1] - 1] = False
        if not change.any():  # in the steps that were not looked at either
            yield (
                f"{_named(data.columns, column)} never changes inside an episode: if it says how an episode went, or "
                "which it is, leave it out, because nobody was seen to go from one of its values to another"
            )


def _failed_readings(data: Trajectories) -> Iterator[str]:
    """Numbers that jump far away for a few rows."""
    for column, rows in failed_readings(data).items():
        yield (
            f"{_named(data.columns, column)} jumps away and straight back in {len(rows)} of {data.num_states} rows, "
            f"row {rows[0]} for one: these readings count as failed, and what lies between those before and after "
            "stands for them"
        )


def _stand_ins(data: Trajectories, some: np.ndarray) -> Iterator[str]:
    """Numbers, such as -9999, that are so far from all others that they probably stand for a missing value."""
    if data.is_mapped:
        return
    low, high = np.quantile(some, [0.01, 0.99], axis=0)
    for rows in row_blocks(data.states):
        numbers = flat(rows)
        away = np.maximum(low - numbers, numbers - high)
        for column in np.flatnonzero((away > _FAR_OUT * (high - low)).any(axis=0) & (high > low)).tolist():
            value = numbers[np.argmax(away[:, column]), column]
            yield (
                f"{_named(data.columns, column)} is {value:g} once, but hardly ever below {low[column]:g} or above "
                f"{high[column]:g}: if that stands for a missing value, leave such rows out"
            )
            high[column] = low[column]  # once is enough


def _ids(before: np.ndarray, after: np.ndarray) -> list[str]:
    if not are_ids(before, after):
        return []
    return [
        "the states are one whole number, and numbers that follow each other in value do not in time: if they are ids, "
        "give what they stand for (row and column, say), or one number per id that is 0 or 1 (--one-hot COLUMN)"
    ]


def refuse_ids(data: Trajectories) -> None:
    """Raise an `InputError` for states that are ids given as one number without a name.

    A column's name is a person's word that it measures something; readers of tables ask for that word by themselves.
    """
    if data.columns or data.state_shape != (1,) or not are_ids(*map(flat, some_steps(data.states, data.offsets))):
        return
    count = int(max(flat(rows).max() for rows in row_blocks(data.states))) + 1
    raise InputError(
        "The states are ids: one whole number, and numbers that follow each other in value do not in time. Give what "
        f"they stand for (row and column, say), or one-hot encode them (np.eye({count})[ids]; --one-hot COLUMN of a "
        'table); if they do measure something, name it (columns=["floor"]).'
    )


def refuse_or_warn(data: Trajectories) -> None:
    """`refuse_ids`, and a warning of what is odd about images, set right in numbers, or keeps episodes apart.

    Somebody who never opens a report should still see these.
    """
    refuse_ids(data)
    sentences = [*_odd_images(data), *_failed_readings(data)]
    if 1 < np.prod(data.state_shape) <= _LARGEST:
        before, after = (flat(states) for states in some_steps(data.states, data.offsets))
        sentences += [*_clocks(data, before, after), *_labels(data, before, after)]
    for sentence in sentences:
        warnings.warn(f"{sentence}.", stacklevel=3)


def _noise(data: Trajectories, before: np.ndarray, after: np.ndarray) -> list[str]:
    """Whether no number is correlated with its value one step later."""
    if states_repeat(data) or remembered(before, after).any():
        return []
    return [
        "the states look like noise: none of their numbers says anything about what it is a step later, so that no "
        "state is nearer than another"
    ]


def _overlap(data: Trajectories) -> list[str]:
    """Whether episodes have states in common, or near each other."""
    if data.num_episodes < 2 or data.is_mapped:
        return []
    random = np.random.default_rng(0)
    episode = np.repeat(np.arange(data.num_episodes), data.lengths)
    if states_repeat(data):
        index = data.distinct.index
        met = len(np.unique(np.stack([index, episode]), axis=1).T) - len(data.distinct)
        share = met / len(data.distinct)
    elif np.prod(data.state_shape) > _MOST_FOR_NEARNESS:
        return []  # of so many numbers, some always differ
    else:
        scale = Coverage.of(data)
        rows = random.permutation(data.num_states)[:GLANCE]
        places = flat(data.states[rows]) / scale.unit
        away, near = KDTree(places).query(places[:_ASKED], k=min(_NEIGHBOURS, len(places)))
        other = episode[rows][near] != episode[rows[:_ASKED], None]
        share = float((other & (away <= _NEAR * scale.step)).any(axis=1).mean())
    if share >= _OVERLAP:
        return []
    return [
        f"recordings hardly overlap: {100 * share:.0f}% of the states lie near one of another episode, so that "
        "distances between episodes are guesses"
    ]
