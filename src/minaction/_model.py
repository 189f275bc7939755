"""`DistanceModel`: a trained distance, to measure, search, save and export."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import ArrayLike

from ._blockwise import embed_rows, measure_all_pairs, measure_rows, parts, rows_per_call, rows_within
from ._card import card
from ._compiled import keep_compiled_programs
from ._coverage import Coverage
from ._distance import Architecture, Distance
from ._files import atomic_write
from ._forks import note_process
from ._health import Health
from ._image_axes import is_image
from ._mapped import read_rows
from ._model_file import WEIGHTS, Provenance, as_stored, read_model, write_folder, write_model
from ._remaining import Progress, at_usual_place, check_same_kind
from ._state_format import StateFormat
from ._units import ORDINARY, Units
from .errors import InputError
from .trajectories import Episode, Trajectories

_MOST_ENDS = 2000  # of episodes, which are compared with each other


class DistanceModel:
    """How many actions lead from one state to another, learned from recorded states.

    `fit`, `load` and `minaction train` make one; few people call the constructor.

    Args:
        network: the trained pytree, an encoder and a quasimetric.
        architecture: the descriptions that `network` was built from.
        provenance: the objective, steps, seed and data it was trained with.
        state_shape: the shape of one state, such as (2,) or (64, 64, 3).
        state_dtype: the type of recorded states: images recorded as uint8 are passed as uint8.
        units: the origin and the typical step of the recording. The network takes states relative to that origin and
            measures in such steps.
        columns: the names of a state's numbers, if the recording has any.
        unit: the unit of the recording's clock, such as "s", and so of every distance; "" for actions.
        health: how the model did on held-out episodes; None if none were held out.
        recorded: a sample of the recorded states, from which `coverage` is measured.
        agreement: measures of agreement by the name of the truth, such as "true (steps)"; empty if none is known.

    All of them are attributes too.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=5)
    >>> model = ma.fit(data, steps=2, progress=False)
    >>> model.distance(data.states[0], data.states[:3]).shape
    (3,)
    """

    def __init__(
        self,
        network: Distance,
        architecture: Architecture,
        provenance: Provenance,
        state_shape: tuple[int, ...],
        state_dtype: str = "float32",
        units: Units | None = None,
        columns: tuple[str, ...] = (),
        unit: str = "",
        health: Health | None = None,
        recorded: Coverage | None = None,
        agreement: Mapping[str, Mapping[str, float | None]] | None = None,
    ) -> None:
        self.network = network
        self.architecture = architecture
        self.provenance = provenance
        self.state_shape = tuple(state_shape)
        self.state_dtype = state_dtype
        self.units = units or ORDINARY
        self.columns = tuple(columns)
        self.unit = unit
        self.health = health
        self.agreement = agreement or {}
        self.recorded = recorded
        note_process()
        keep_compiled_programs()

    @property
    def recorded(self) -> Coverage | None:
        """A sample of recorded states, which also tells how bright images are."""
        return self._recorded

    @recorded.setter
    def recorded(self, sample: Coverage | None) -> None:
        self._recorded, brightest = sample, math.inf
        if sample is not None and self.units.origin is None and is_image(self.state_shape):
            brightest = float(np.abs(sample.states).max()) or math.inf
        self._format = StateFormat(self.state_shape, self.state_dtype, self.units, self.columns, brightest)

    def __repr__(self) -> str:
        made = self.provenance
        return (
            f"DistanceModel({made.objective}, {self.architecture.quasimetric}, states of {self._format}, "
            f"{made.steps} steps on {made.data or 'unnamed data'})"
        )

    # ---------------------------------------------------------------- asking

    def embed(self, states: ArrayLike) -> jax.Array:
        """The embeddings phi(s), (..., latent), of `states` (..., *state_shape)."""
        return jax.device_put(self._embed(self._format.as_array(states)))

    def distance(self, states: ArrayLike, goals: ArrayLike) -> jax.Array:
        """d(s, g) for `states` and `goals` (..., *state_shape), whose leading axes broadcast."""
        checked, targets = self._format.as_array(states), self._format.as_array(goals)
        try:
            lead = np.broadcast_shapes(self._format.leading(checked), self._format.leading(targets))
        except ValueError:
            raise InputError(
                f"States {checked.shape} and goals {targets.shape} do not broadcast; use pairwise for all pairs."
            ) from None
        x, y = (self._embed(side) for side in (checked, targets))
        if isinstance(x, Tracer) or isinstance(y, Tracer):
            x, y = (jnp.broadcast_to(side, (*lead, side.shape[-1])).reshape(-1, side.shape[-1]) for side in (x, y))
            return self._in_time(measure_rows(self.network.quasimetric, x, y).reshape(lead))
        return jax.device_put(self._in_time(self._pair_by_pair(np.asarray(x), np.asarray(y), lead)))

    def pairwise(self, states: ArrayLike, goals: ArrayLike) -> np.ndarray:
        """The distances (n, m) float32 from all `states` (n, *state_shape) to all `goals` (m, *state_shape).

        Takes memory for the result, the embeddings of both sides and at most 256 MiB more, whatever n and m are.
        """
        return self._all_pairs(self._embed_rows(states), self._embed_rows(goals))

    def nearest(
        self, state: ArrayLike, states: ArrayLike, k: int = 10, *, direction: Literal["from", "to"] = "from"
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest of many states, nearest first; exactly, as every one is measured, and in bounded memory.

        Args:
            state: one state, or a batch (..., *state_shape).
            states: the candidates, (n, *state_shape).
            k: how many to find.
            direction: "from" measures from `state` to each candidate, "to" from each candidate to `state`.

        Returns:
            Indices into `states` and distances, both (..., k).
        """
        if direction not in ("from", "to"):
            raise InputError(f"The direction is 'from' or 'to', not {direction!r}.")
        query, candidates = self._format.as_array(state), self._format.as_rows(states)
        if not 1 <= k <= len(candidates):
            raise InputError(f"Cannot find the {k} nearest of {len(candidates)} states.")
        queries = np.asarray(self._embed(query)).reshape(-1, self.architecture.encoder.latent_size)
        best = np.empty((len(queries), 0), np.float32)
        index = np.empty((len(queries), 0), np.int64)
        step = min(rows_per_call(self.state_shape), rows_within(32 * max(1, len(queries))))
        for start in range(0, len(candidates), step):
            block = self._embed_rows(candidates[start : start + step])
            found = self._all_pairs(queries, block) if direction == "from" else self._all_pairs(block, queries).T
            best = np.concatenate([best, found], axis=1)
            numbers = np.arange(start, start + len(block))
            index = np.concatenate([index, np.broadcast_to(numbers, found.shape)], axis=1)
            keep = np.argsort(best, axis=1, kind="stable")[:, :k]
            best, index = np.take_along_axis(best, keep, 1), np.take_along_axis(index, keep, 1)
        shape = (*self._format.leading(query), k)
        return index.reshape(shape), best.reshape(shape)

    def subgoal(self, state: ArrayLike, goal: ArrayLike, recorded: ArrayLike | Trajectories) -> np.ndarray:
        """The one of the `recorded` states (n, *state_shape) that lies halfway from `state` to `goal`.

        It is the one whose further end is nearest: the way to it, and the way on from it, are both short.

        >>> import minaction as ma
        >>> data = ma.read("cliffwalking", episodes=5)
        >>> model = ma.fit(data, steps=2, progress=False)
        >>> model.subgoal(data.states[0], data.states[9], data).shape
        (2,)
        """
        candidates = recorded.states if isinstance(recorded, Trajectories) else self._format.as_rows(recorded)
        if len(candidates) == 0:
            raise InputError("There is no recorded state to choose a subgoal from; give at least one.")
        here, there = self._single(state, "state"), self._single(goal, "goal")
        longer = np.maximum(self.pairwise(here, candidates)[0], self.pairwise(candidates, there)[:, 0])
        return np.asarray(candidates[int(np.argmin(longer))])

    # ---------------------------------------------------------------- how far along

    def remaining(self, states: ArrayLike | Trajectories, goals: ArrayLike | Trajectories) -> np.ndarray:
        """The time from each state to the nearest goal, (...) float32.

        Args:
            states: (..., *state_shape), each measured to the goal nearest to it; or recorded episodes, whose states,
                (N,), are measured to the one goal that their episode comes nearest to.
            goals: one state, several (G, *state_shape), or recorded episodes, whose last states are the goals: those
                of the ones that succeeded, where the recording says which; else choose them with `data.filter(...)`.

        >>> import minaction as ma
        >>> data = ma.read("cliffwalking", episodes=5)
        >>> model = ma.fit(data, steps=2, progress=False)
        >>> model.remaining(data.states[:7], data).shape
        (7,)
        """
        targets = self._embed_goals(goals)
        if isinstance(states, Trajectories):
            episodes = np.split(self._embed_rows(states.states), states.offsets[1:-1])
            return np.concatenate([self._to_one_goal(episode, targets) for episode in episodes])
        given = np.asarray(self._format.by_name(states))
        lead = self._format.leading(self._format.as_array(given))
        sources = self._embed_rows(given.reshape(-1, *self.state_shape))
        found = [block.min(axis=1) for block in self._pairs_in_parts(sources, targets)]
        return np.concatenate(found or [np.zeros(0, np.float32)]).reshape(lead)

    def progress(self, episode: Episode | ArrayLike, goals: ArrayLike | Trajectories | None = None) -> Progress:
        """How far along an episode is at each of its states, and where it lost time.

        Args:
            episode: an `Episode` of recorded `Trajectories`, or states (T, *state_shape), one step apart; states alone
                have no clock, which a model that counts in a unit of time needs.
            goals: as for `remaining`; the last state of the episode if None. Of several, the one that the episode comes
                nearest to is the goal of all its states.

        >>> import minaction as ma
        >>> data = ma.read("cliffwalking", episodes=5)
        >>> model = ma.fit(data, steps=2, progress=False)
        >>> model.progress(data[0]).done.shape == data[0].times.shape
        True
        """
        if isinstance(episode, Trajectories):
            raise InputError("Progress is that of one episode: give data[0], or all of them to `remaining`.")
        if isinstance(episode, Episode):
            check_same_kind(self.columns, self.unit, episode)
        elif self.unit:
            raise InputError(
                f"The model counts in {self.unit}, and states alone have no clock; give an episode of a recording that "
                "has one, such as ma.read(...)[0] or ma.Trajectories.from_dataframe(...)[0]."
            )
        states = self._format.as_rows(episode.states if isinstance(episode, Episode) else episode)
        times = episode.times if isinstance(episode, Episode) else np.arange(len(states), dtype=np.float64)
        if len(states) == 0:
            raise InputError("The episode has no states; give at least one.")
        targets = self._embed_goals(states[-1] if goals is None else goals)
        return Progress(times, self._to_one_goal(self._embed_rows(states), targets), self.unit)

    def usual_ends(self, data: Trajectories) -> np.ndarray:
        """The last states of the episodes that succeeded, (G, *state_shape), or else of those that end where most do.

        The latter where the recording does not say which succeeded, or none did: these are goals if most got there. Two
        ends are the same place if either is soon reached from the other, within a tenth of a usual episode. Where no
        two episodes end in the same place, all ends count.

        >>> import minaction as ma
        >>> data = ma.read("cliffwalking", episodes=5)
        >>> model = ma.fit(data, steps=2, progress=False)
        >>> model.usual_ends(data).shape[1:]
        (2,)
        """
        check_same_kind(self.columns, self.unit, data)
        rows = np.random.default_rng(0).permutation(data.goal_rows)[:_MOST_ENDS]
        ends = read_rows(data.states, np.sort(rows))
        if data.any_succeeded:
            return ends
        return ends[at_usual_place(self.pairwise(ends, ends), data.durations)]

    def coverage(self, states: ArrayLike) -> np.ndarray:
        """How far `states` (..., *state_shape) are from what was recorded, (...), in typical steps; 0 if recorded.

        A distance from or to a state that is several steps from anything recorded is a guess.

        >>> import minaction as ma
        >>> model = ma.fit("cliffwalking", steps=1, progress=False)
        >>> model.coverage([[0.0, 0.0], [0.0, 50.0]]).round() > 3
        array([False,  True])
        """
        if self.recorded is None:
            raise InputError(
                "This model has no sample of what was recorded, as it was left out when it was saved or written by an "
                "older version; train it again, or take one that has it."
            )
        given = np.asarray(self._format.by_name(states))
        lead = self._format.leading(self._format.as_array(given))
        return self.recorded(given.reshape(-1, *self.state_shape)).reshape(lead)

    # ---------------------------------------------------------------- files

    def save(self, path: str | Path, *, licence: str = "") -> None:
        """Write weights, architecture, provenance, a sample of recorded states and the model card.

        Args:
            path: a .safetensors file. A path without a suffix becomes a folder that the Hugging Face Hub understands:
                `model.safetensors`, `config.json` and the card as `README.md`.
            licence: an SPDX identifier for the card.

        >>> import minaction as ma
        >>> model = ma.fit("cliffwalking", steps=1, progress=False)
        >>> model.save("/tmp/minaction-hub/cliffwalking", licence="mit")
        >>> ma.load("/tmp/minaction-hub/cliffwalking").state_shape
        (2,)
        """
        if Path(path).suffix == "":
            write_folder(self, path, licence)
        elif Path(path).suffix == ".safetensors":
            write_model(self, path)
        else:
            raise InputError(f"A model file ends in .safetensors, which {path} does not; rename it, or name a folder.")

    @classmethod
    def load(cls, path: str | Path) -> DistanceModel:
        """Read what `save` wrote to `path`, a file or a folder. Nothing in it is executed."""
        path = Path(path)
        return cls(**read_model(path / WEIGHTS if path.is_dir() else path))

    def card(self, licence: str = "") -> str:
        """The model card as Markdown: data, method, settings, accuracy, `licence` and how to load it.

        >>> import minaction as ma
        >>> print(ma.fit("cliffwalking", steps=1, progress=False).card().splitlines()[0])
        # Minimum action distance of cliffwalking
        """
        return card(self, licence)

    def export(self, path: str | Path, part: Literal["distance", "encoder", "quasimetric"] = "distance") -> None:
        """Write a file that computes distances without this package.

        Args:
            path: an .onnx file, or an .html page that has the weights and computes distances itself, offline.
            part: what an .onnx file computes: the "distance" d(s, g), or only its "encoder" or "quasimetric".

        >>> import minaction as ma
        >>> model = ma.fit("cliffwalking", steps=1, progress=False)
        >>> model.export("/tmp/minaction-encoder.onnx", "encoder")
        >>> model.export("/tmp/minaction-page.html")
        """
        kind = Path(path).suffix
        if kind not in (".onnx", ".html"):
            raise InputError(
                f"A model is exported to an .onnx or .html file, not to {path}; "
                "NumPy and PyTorch read its .safetensors file."
            )
        if kind == ".html" and part != "distance":
            raise InputError(f"A page shows distances, not the {part} alone; export it to an .onnx file.")
        stored = as_stored(self)
        if kind == ".onnx":
            from .runtimes.onnx import serialise

            content = serialise(stored, part)
        else:
            from .runtimes.html import Facts, page

            recorded = None if self.recorded is None else self.recorded.states
            content = page(stored, Facts(_title(self), repr(self), self.columns, self.unit, recorded)).encode()
        with atomic_write(path) as file:
            file.write(content)

    # ---------------------------------------------------------------- internals

    def _embed(self, checked: jax.Array | np.ndarray) -> jax.Array | np.ndarray:
        """The embeddings of states that `StateFormat.as_array` made: an array of the host, unless it is traced."""
        rows = (checked if isinstance(checked, Tracer) else np.asarray(checked)).reshape(-1, *self.state_shape)
        size, latent = rows_per_call(self.state_shape), self.architecture.encoder.latent_size
        found = [embed_rows(self.network.encoder, rows[part]) for part in parts(len(rows), size)]
        traced = any(isinstance(one, Tracer) for one in found)
        joined = (jnp if traced else np).concatenate(found or [np.zeros((0, latent), np.float32)])
        return joined.reshape(*self._format.leading(checked), latent)

    def _pair_by_pair(self, x: np.ndarray, y: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
        """The distances of embeddings (..., latent) that broadcast to `lead`; memory stays bounded."""
        latent = x.shape[-1]
        sources, targets = (
            np.broadcast_to(np.arange(side.size // latent).reshape(side.shape[:-1]), lead).ravel() for side in (x, y)
        )
        x, y = x.reshape(-1, latent), y.reshape(-1, latent)
        found = np.empty(len(sources), np.float32)
        for part in parts(len(found), 1 << (rows_within(32 * latent).bit_length() - 1)):
            found[part] = measure_rows(self.network.quasimetric, x[sources[part]], y[targets[part]])
        return found.reshape(lead)

    def _single(self, state: ArrayLike, what: str) -> np.ndarray:
        """One state as the only row of an array; `what` names it in the message."""
        lead = self._format.leading(self._format.as_array(state))
        if math.prod(lead) != 1:
            raise InputError(f"Give one {what}, not {math.prod(lead)} of them.")
        return np.asarray(self._format.by_name(state)).reshape(1, *self.state_shape)

    def _embed_rows(self, values: ArrayLike) -> np.ndarray:
        states = self._format.as_rows(values)
        embeddings = np.empty((len(states), self.architecture.encoder.latent_size), np.float32)
        for part in parts(len(states), rows_per_call(self.state_shape)):
            embeddings[part] = self._embed(self._format.as_array(states[part]))
        return embeddings

    def _embed_goals(self, goals: ArrayLike | Trajectories) -> np.ndarray:
        """Embeddings (G, latent) of one goal, of several, or of the last states of recorded episodes."""
        if isinstance(goals, Trajectories):
            goals = read_rows(goals.states, goals.goal_rows)
        given = np.asarray(self._format.by_name(goals))
        if given.size == 0:
            raise InputError("There is no goal; give at least one state.")
        return self._embed_rows(given.reshape(-1, *given.shape[-len(self.state_shape) :]))

    def _to_one_goal(self, episode: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The distances (T,) from the states of an episode to the one of the targets that it comes nearest to.

        Near a goal the error of a distance is small. The least of many long ones is the one that errs most, another in
        every state: with it, wasted stretches of an ant are told with an AUROC of .932 instead of .971
        (`reproductions/progress.py`).
        """
        nearest = np.min([block.min(axis=0) for block in self._pairs_in_parts(episode, targets)], axis=0).argmin()
        return self._all_pairs(episode, targets[[nearest]])[:, 0]

    def _pairs_in_parts(self, sources: np.ndarray, targets: np.ndarray) -> Iterator[np.ndarray]:
        """The distances (n, G) from n of the sources to all targets, some sources after the others."""
        return (self._all_pairs(sources[part], targets) for part in parts(len(sources), rows_within(4 * len(targets))))

    def _all_pairs(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return self._in_time(measure_all_pairs(self.network.quasimetric, sources, targets))

    def _in_time(self, distances: Any) -> Any:
        """Distances in the unit of the recorded times."""
        return distances if self.units.time == 1.0 else distances * np.float32(self.units.time)


def _title(model: DistanceModel) -> str:
    return f"Minimum action distance of {model.provenance.data or 'unnamed data'}"
