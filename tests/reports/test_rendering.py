"""Tables in every format, with texts that would mean something else there if they were not escaped."""

from __future__ import annotations

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from minaction.reports._rendering import TextTable, escape_latex

NASTY = "a|b & 50% <script>alert(1)</script> $x_1^2$ {#} ~ \\end{tabular} ±–"
TABLE = TextTable("nasty", "A table", ["name", "number"], [[NASTY, "▲ better"], ["plain", "1.0"]], caption="So & so")


class Cells(HTMLParser):
    """The texts of the cells, and the names of all elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def test_html_shows_the_text_and_runs_nothing() -> None:
    found = Cells(TABLE.html())
    assert NASTY in found.cells
    assert "script" not in found.tags
    assert 'class="better"' in TABLE.html()


def test_markdown_keeps_its_columns() -> None:
    header, rule, first, *_ = TABLE.markdown().splitlines()
    assert rule == "| --- | ---: |"
    assert header == "| name | number |"
    assert first.replace("\\|", "").count("|") == 3


def test_latex_escapes_everything_that_commands() -> None:
    assert escape_latex("50% of a_b & {c}") == r"50\% of a\_b \& \{c\}"
    assert escape_latex("\\^~") == r"\textbackslash{}\textasciicircum{}\textasciitilde{}"
    body = TABLE.latex().splitlines()
    assert sum(line.startswith(r"\end{tabular}") for line in body) == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path: Path) -> None:
    text = r"\documentclass{article}\usepackage{booktabs,amssymb}\begin{document}" + TABLE.latex() + r"\end{document}"
    (tmp_path / "a.tex").write_text(text)
    subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"], cwd=tmp_path, check=True)
