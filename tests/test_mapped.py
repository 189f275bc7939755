from __future__ import annotations

from pathlib import Path

import numpy as np
import psutil
import pytest

from minaction._mapped import read_rows, release_pages, row_blocks


def mapped(path: Path, values: np.ndarray, mode: str = "r", offset: int = 0) -> np.memmap:
    path.write_bytes(b"\0" * offset + values.tobytes())
    return np.memmap(path, values.dtype, mode, offset, values.shape)  # type: ignore[call-overload]


def resident_bytes() -> int:
    return psutil.Process().memory_info().rss


@pytest.mark.parametrize("offset", [0, 304, 5000])
@pytest.mark.parametrize("width", [1, 8, 3000])
def test_rows_are_those_of_the_array_in_the_order_asked_for(width: int, offset: int, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(30_000 // width + 7, width)).astype(np.float32)
    array = mapped(tmp_path / "rows", values, offset=offset)
    rows = random.integers(len(values), size=9000)
    np.testing.assert_array_equal(read_rows(array, rows), values[rows])
    np.testing.assert_array_equal(
        read_rows(array[5:], rows[rows < len(values) - 5]), values[5:][rows[rows < len(values) - 5]]
    )
    np.testing.assert_array_equal(read_rows(values, rows), values[rows])


def test_no_rows_are_no_rows(tmp_path: Path) -> None:
    array = mapped(tmp_path / "rows", np.ones((5, 2), np.float32))
    assert read_rows(array, np.empty(0, np.int32)).shape == (0, 2)


def test_blocks_are_the_array_in_order(tmp_path: Path) -> None:
    values = np.arange(40 << 20, dtype=np.float32).reshape(-1, 2)
    blocks = [np.array(block) for block in row_blocks(mapped(tmp_path / "rows", values))]
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate(blocks), values)


@pytest.mark.parametrize("read", ["blocks", "rows"])
def test_what_was_read_does_not_stay_resident(read: str, tmp_path: Path) -> None:
    array = mapped(tmp_path / "rows", np.ones((32 << 20, 2), np.float32))
    before = resident_bytes()
    if read == "blocks":
        for block in row_blocks(array):
            block.sum()
            assert resident_bytes() - before < 160 << 20
    else:
        read_rows(array, np.arange(0, len(array), 2000))
    assert resident_bytes() - before < 32 << 20
    array.sum()
    assert resident_bytes() - before > 200 << 20  # which is what would have been


def test_changes_that_are_not_in_the_file_are_kept(tmp_path: Path) -> None:
    array = mapped(tmp_path / "rows", np.ones((5, 2), np.float32), mode="c")
    array[3] = 7
    release_pages(array)
    assert array[3].tolist() == [7, 7]
