"""What a log shows of something that takes long; bars on a terminal are looked at by people."""

from __future__ import annotations

import pytest

from minaction import _progress as progress


def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(0, 1000, 4))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(seconds)))
    with progress.counting_progress("walking") as show:
        for done in range(6):
            show(done, 2000)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["walking: 2 of 2,000", "walking: 5 of 2,000"]


def test_a_log_of_something_short_stays_empty(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.counting_progress("walking") as show:
        show(1, 2)
    assert capsys.readouterr().err == ""
