"""Names that mean something to Rich, Matplotlib, Markdown or a file system."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction.cli import main
from minaction.errors import InputError
from minaction.reports._rendering import TextTable
from minaction.training._run import Run, RunConfig

NAMES = ("[/red]x.npz", "cost_$5_and_$6.npz", "a|b<img>.npz", os.fsdecode(b"caf\xe9.npz"))


@pytest.mark.parametrize("name", NAMES)
def test_data_of_any_name_is_shown(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as file:
        np.savez(file, states=np.arange(8.0).reshape(4, 2))
    assert ma.read(str(path)).num_states == 4
    if name.isascii():
        assert main(["data", "info", str(path)]) == 0
        assert "fingerprint" in capsys.readouterr().out


def test_a_terminal_obeys_no_name_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    path.write_text("episode,\x1b[31mx,y\n0,1,2\n0,2,3\n0,3,5\n")
    assert main(["data", "info", str(path)]) == 0
    assert main(["data", "info", str(tmp_path / "\x1b[31m.csv")]) == 2
    small = ma.MadDist(encoder=ma.MLP(hidden=(4,), latent=4))
    print(ma.fit(path, small, steps=1, progress=False).card())
    said = "".join(capsys.readouterr())
    assert "\\x1b" in said
    assert "\x1b" not in said


def test_a_picture_takes_dollar_signs_as_they_are(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    from minaction.reports._figures import finish_figure

    figure = Figure()
    figure.subplots().set_title("a_$5_and_$\\frac6$")
    finish_figure(figure, tmp_path / "x.png", "png", "cost_$5_and_$\\6")
    assert (tmp_path / "x.png").stat().st_size > 0


def test_markdown_tables_hold_no_html() -> None:
    text = TextTable("x", "x", ["a"], [["<script>|\n"]]).markdown()
    assert "&lt;script&gt;\\|" in text
    assert "<" not in text


def test_a_name_that_is_not_utf8_ends_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not UTF-8"):
        Run.create(tmp_path / "run", RunConfig(NAMES[3], "maddist", {}, 10, (0,), 2))
