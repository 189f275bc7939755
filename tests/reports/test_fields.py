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
from minaction.reports._fields import EncodedField, encode_field, explorer_data, on_states, regions, task_truths
from minaction.reports._records import Record, read_records
from minaction.tasks import Layout, Truth, get_task
from minaction.tasks._gridworlds import CliffWalkingTask

PLENTY = 10_000_000


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
    judged = task_truths(Record(name, "maddist", "maddist", 0, 1, Path(), "", ((1, {}),), {}, None))[0]
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
    found = read_records([trained])
    explorer, notes = explorer_data(found.main, PLENTY)
    assert notes == []
    assert [board["task"] for board in explorer["boards"]] == ["cliffwalking", "ogbench-pointmaze-medium-stitch"]
    for record in found.main:
        board = next(board for board in explorer["boards"] if board["task"] == record.task)
        (entry,) = [m for m in board["models"] if (m["method"], m["seed"]) == (record.method, record.seed)]
        truths = {truth.name: truth for truth in task_truths(record)}
        judged = next(iter(truths.values()))
        size = len(judged.sources)
        assert record.model is not None
        learned = explorer["fields"][entry["field"]]
        predicted = DistanceModel.load(record.model).pairwise(judged.sources, judged.targets)
        np.testing.assert_allclose(decoded(learned, size), predicted, atol=0.5 * learned.quantum + 1e-6)
        assert "steps-anywhere" not in entry["truths"]
        np.testing.assert_allclose(
            decoded(explorer["fields"][entry["truths"][judged.name]], size), judged.distances, atol=0.051
        )


def test_what_the_models_of_one_data_set_share_is_made_once(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = read_records([trained / "cliff-maddist", trained / "cliff-tautdist"]).main
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
    explorer_data(records, PLENTY)
    assert layouts == {"cliffwalking": 1}
    seeds = {record.seed for record in records}
    assert len(records) > len(seeds)
    assert encoded == len(records) + len(seeds) * len(task_truths(records[0]))


def test_what_does_not_fit_is_left_out_and_said_last_seeds_first(trained: Path) -> None:
    found = read_records([trained / "cliff-maddist", trained / "cliff-tautdist"])
    everything, _ = explorer_data(found.main, PLENTY)
    size = sum(len(one.data) for one in everything["fields"])
    some, notes = explorer_data(found.main, size - 1)
    kept = [(m["method"].split()[0], m["seed"]) for m in some["boards"][0]["models"]]
    assert {("maddist", 0), ("tautdist", 0)} <= set(kept)
    assert len(kept) == 3
    assert "1 model was left out" in notes[0]


def test_results_that_were_kept_without_their_models_are_said_and_stop_nothing(trained: Path) -> None:
    here, *others = read_records([trained / "cliff-maddist"]).main
    gone = [replace(record, model=trained / "gone.safetensors") for record in others]
    explorer, notes = explorer_data([here, *gone], PLENTY)
    assert [m["seed"] for m in explorer["boards"][0]["models"]] == [here.seed]
    assert notes == ["1 model was not kept with the results, and cannot be explored."]
    assert explorer_data(gone, PLENTY) == ({"fields": [], "boards": []}, notes)


def test_without_a_layout_the_page_says_why_there_is_no_explorer() -> None:
    explorer, notes = explorer_data([], PLENTY)
    assert explorer["boards"] == []
    assert "nothing to explore" in notes[0]
