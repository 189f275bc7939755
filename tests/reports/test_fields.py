"""The explorer's data, decoded here as the page decodes it, against models and truths."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minaction._model import DistanceModel
from minaction.errors import InputError
from minaction.reports import Trial, read_trials
from minaction.reports._fields import EncodedField, encode_field, explorer_data, on_states, regions
from minaction.tasks import Layout, Source, Truth, get_task
from minaction.tasks._gridworlds import CliffWalkingTask

PLENTY = 10_000_000


def truths_of(trial: Trial) -> list[Truth]:
    return Source(trial.task, (trial.seed,), trial.episodes).truths(trial.seed)


def decoded(one: EncodedField, size: int) -> np.ndarray:
    planes = np.frombuffer(zlib.decompress(base64.b64decode(one.data)), np.uint8).astype(np.int64)
    low, high = planes.reshape(2, -1)
    codes = np.cumsum(low + 256 * high) % 65536
    values = codes * one.quantum
    return np.where(codes == 65535, np.inf, np.where(codes == 65534, np.nan, values)).reshape(size, size)


@settings(deadline=None)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.lists(
            st.one_of(st.floats(0, 60_000), st.just(np.inf), st.just(np.nan)), min_size=n * n, max_size=n * n
        )
    )
)
def test_a_field_comes_back_to_within_half_a_quantum(values: list[float]) -> None:
    size = round(len(values) ** 0.5)
    field = np.array(values).reshape(size, size)
    one = encode_field(field)
    back = decoded(one, size)
    finite = np.isfinite(field)
    np.testing.assert_array_equal(np.isinf(back), np.isinf(field))
    np.testing.assert_array_equal(np.isnan(back), np.isnan(field))
    assert (np.abs(back[finite] - field[finite]) <= 0.5 * one.quantum * (1 + 1e-6)).all()


def test_the_quantum_follows_the_longest_distance() -> None:
    assert encode_field(np.array([[0.0, 12.34], [1.5, 0.0]])).quantum == 0.01
    assert encode_field(np.array([[0.0, 440.5], [1.5, 0.0]])).quantum == 0.1
    assert encode_field(np.array([[0.0, 12.0], [np.inf, 0.0]])).quantum == 1
    assert encode_field(np.array([[np.nan, np.inf]]).repeat(2, 0)).quantum == 1


@pytest.mark.parametrize(
    "name", ["cliffwalking", "noisy-gridworld", "keydoor-gridworld", "ogbench-pointmaze-medium-stitch"]
)
def test_the_regions_cover_every_pixel_once_and_hold_their_state(name: str) -> None:
    layout = get_task(name).layout()
    assert layout is not None
    judged = Source(name).truths(0)[0]
    found = regions(layout, judged.sources)
    assert len(found) == len(judged.sources)
    owner = np.full(layout.shape, -1)
    for k, numbers in enumerate(found):
        for row, column, height, width in np.reshape(numbers, (-1, 4)):
            assert (owner[row : row + height, column : column + width] == -1).all()
            owner[row : row + height, column : column + width] = k
    drawn = np.zeros(layout.shape, dtype=bool)
    drawn[tuple(layout.pixels.T)] = True
    np.testing.assert_array_equal(owner >= 0, drawn)
    shown = judged.sources[owner[tuple(layout.pixels.T)]]
    gaps = np.abs(layout.states[:, :2] - shown[:, :2])
    assert gaps.max() <= (2.0 if "maze" in name else 0.0) + 1e-5  # half a cell of a maze is 2 wide


def test_an_observed_truth_is_laid_over_all_states_and_says_what_it_does_not_know() -> None:
    states = np.arange(4, dtype=np.float32)[:, None]
    true = Truth.between("true", "steps", states, np.abs(states - states.T))
    some = np.array([2, 0])
    seen = Truth.between("observed", "steps", states[some], np.array([[0.0, 5.0], [np.inf, 0.0]]))
    laid = on_states(seen, true)
    assert laid is not None
    assert (laid[2, 0], laid[0, 2], laid[0, 0]) == (5.0, np.inf, 0.0)
    assert np.isnan(laid[1]).all()
    assert np.isnan(laid[:, 3]).all()
    assert on_states(Truth.between("anywhere", "steps", states + 0.5, true.distances), true) is None


def test_the_explorer_holds_what_models_and_truths_say(trained: Path) -> None:
    found = read_trials([trained])
    explorer, notes = explorer_data(found.main, PLENTY)
    assert notes == []
    assert [board["task"] for board in explorer["boards"]] == ["cliffwalking", "ogbench-pointmaze-medium-stitch"]
    for trial in found.main:
        board = next(board for board in explorer["boards"] if board["task"] == trial.task)
        (entry,) = [m for m in board["models"] if (m["method"], m["seed"]) == (trial.method, trial.seed)]
        truths = {truth.name: truth for truth in truths_of(trial)}
        judged = next(iter(truths.values()))
        size = len(judged.sources)
        assert trial.model is not None
        learned = explorer["fields"][entry["field"]]
        predicted = DistanceModel.load(trial.model).pairwise(judged.sources, judged.targets)
        np.testing.assert_allclose(decoded(learned, size), predicted, atol=0.5 * learned.quantum + 1e-6)
        assert "steps-anywhere" not in entry["truths"]
        assert board["units"] == {name: truth.unit for name, truth in truths.items()}
        np.testing.assert_allclose(
            decoded(explorer["fields"][entry["truths"][judged.name]], size), judged.distances, atol=0.051
        )


def test_what_the_models_of_one_data_set_share_is_made_once(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = read_trials([trained / "cliff-maddist", trained / "cliff-tautdist"]).main
    layouts, encoded = Counter[str](), 0

    def counted_layout(task: CliffWalkingTask) -> Layout:
        layouts[task.name] += 1
        return layout(task)

    def counted_encoding(distances: np.ndarray) -> EncodedField:
        nonlocal encoded
        encoded += 1
        return encode_field(distances)

    layout = CliffWalkingTask.layout
    monkeypatch.setattr(CliffWalkingTask, "layout", counted_layout)
    monkeypatch.setattr("minaction.reports._fields.encode_field", counted_encoding)
    explorer_data(trials, PLENTY)
    assert layouts == {"cliffwalking": 1}
    seeds = {trial.seed for trial in trials}
    assert len(trials) > len(seeds)
    assert encoded == len(trials) + len(seeds) * len(truths_of(trials[0]))


def test_a_source_that_is_given_is_used_and_no_other_made(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = read_trials([trained / "cliff-maddist"]).main
    source = Source("cliffwalking", (0, 1))
    expected = explorer_data(trials, PLENTY)
    monkeypatch.setattr("minaction.reports._fields.Source", None)
    assert explorer_data(trials, PLENTY, source) == expected


def test_the_observed_truth_is_that_of_as_many_episodes_as_were_trained_on(trained: Path) -> None:
    trials = [replace(trial, episodes=2) for trial in read_trials([trained / "cliff-maddist"]).main[:1]]
    explorer, _ = explorer_data(trials, PLENTY)
    (entry,) = explorer["boards"][0]["models"]
    few, many = (Source("cliffwalking", episodes=count).truths(0) for count in (2, None))
    shown = decoded(explorer["fields"][entry["truths"]["observed"]], len(few[0].sources))
    expected, other = (on_states(truths[1], truths[0]) for truths in (few, many))
    assert expected is not None
    assert other is not None
    np.testing.assert_array_equal(shown, expected)
    assert not np.array_equal(shown, other, equal_nan=True)


def test_a_model_that_cannot_be_read_is_named_and_stops_nothing(runs: Path) -> None:
    trials = read_trials([runs / "cliff-maddist"]).main
    assert trials[0].model is not None
    trials[0].model.write_bytes(b"no model")
    explorer, notes = explorer_data(trials, PLENTY)
    assert [model["seed"] for model in explorer["boards"][0]["models"]] == [1]
    (note,) = notes
    assert "seed 0, cannot be explored" in note
    assert str(trials[0].model) in note


def test_a_task_that_cannot_be_loaded_is_named_and_stops_nothing(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(name: str, seeds: tuple[int, ...] = (0,), episodes: int | None = None) -> Source:
        if name == "cliffwalking":
            raise InputError("The task 'cliffwalking' of somebody cannot be imported.")
        return Source(name, seeds, episodes)

    monkeypatch.setattr("minaction.reports._fields.Source", make)
    explorer, notes = explorer_data(read_trials([trained]).main, PLENTY)
    assert [board["task"] for board in explorer["boards"]] == ["ogbench-pointmaze-medium-stitch"]
    assert notes == ["cliffwalking cannot be explored: The task 'cliffwalking' of somebody cannot be imported."]


def test_a_task_without_truths_has_no_explorer_and_a_reason(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Source, "truths", lambda source, seed: [])
    explorer, notes = explorer_data(read_trials([trained / "cliff-maddist"]).main[:1], PLENTY)
    assert explorer["boards"] == []
    assert "no truth is known" in notes[0]


def test_what_does_not_fit_is_left_out_and_said_last_seeds_first(trained: Path) -> None:
    found = read_trials([trained / "cliff-maddist", trained / "cliff-tautdist"])
    everything, _ = explorer_data(found.main, PLENTY)
    size = sum(len(one.data) for one in everything["fields"])
    some, notes = explorer_data(found.main, size - 1)
    kept = [(m["method"].split()[0], m["seed"]) for m in some["boards"][0]["models"]]
    assert {("maddist", 0), ("tautdist", 0)} <= set(kept)
    assert len(kept) == 3
    assert "1 model was left out" in notes[0]


def test_results_that_were_kept_without_their_models_are_said_and_stop_nothing(trained: Path) -> None:
    here, *others = read_trials([trained / "cliff-maddist"]).main
    gone = [replace(trial, model=trained / "gone.safetensors") for trial in others]
    explorer, notes = explorer_data([here, *gone], PLENTY)
    assert [m["seed"] for m in explorer["boards"][0]["models"]] == [here.seed]
    assert notes == ["1 model was not kept with the results and cannot be explored."]
    assert explorer_data(gone, PLENTY) == ({"fields": [], "boards": [], "weights": []}, notes)


def test_without_a_layout_the_page_says_why_there_is_no_explorer() -> None:
    explorer, notes = explorer_data([], PLENTY)
    assert explorer["boards"] == []
    assert "nothing to explore" in notes[0]
