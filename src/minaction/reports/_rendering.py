"""A table of text, and how it is written: as Markdown, LaTeX or HTML, with every text escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from .._files import atomic_write
from ._templates import PAGES


@dataclass(frozen=True)
class TextTable:
    """A header and lines of text; the first `labels` columns are names, the others numbers."""

    name: str
    """Short, and fit for a file name."""
    title: str
    header: Sequence[str]
    lines: Sequence[Sequence[str]]
    labels: int = 1
    caption: str = ""

    def markdown(self) -> str:
        """A table in GitHub's Markdown."""
        rule = ["---"] * self.labels + ["---:"] * (len(self.header) - self.labels)
        cells = [[escape_markdown(cell) for cell in line] for line in (self.header, rule, *self.lines)]
        text = "\n".join("| " + " | ".join(line) + " |" for line in cells)
        return f"{text}\n\n{self.caption}\n" if self.caption else f"{text}\n"

    def latex(self) -> str:
        """A table for a paper that loads booktabs."""
        columns = "l" * self.labels + "r" * (len(self.header) - self.labels)
        head, *body = (" & ".join(map(escape_latex, line)) + r" \\" for line in (self.header, *self.lines))
        about = f"% {' '.join(self.title.split())}; needs \\usepackage{{booktabs}}"
        lines = [r"\begin{tabular}{" + columns + "}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
        return "\n".join([about, *lines, r"\end{tabular}", ""])

    def write(self, folder: Path) -> list[Path]:
        """Write it into `folder` as Markdown and as LaTeX; returns the files."""
        texts = {folder / f"{self.name}.md": self.markdown(), folder / f"{self.name}.tex": self.latex()}
        for path, text in texts.items():
            with atomic_write(path, "w") as file:
                file.write(text)
        return list(texts)

    def html(self) -> Markup:
        """A table for the page, with a scroll bar of its own; marks get a class to colour them by."""
        return PAGES.render("table.html", table=self, marks=_MARKS)


_MARKS = {"▲": "better", "▼": "worse", "=": "same"}

_LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    "−": "$-$",
    "–": "--",
}


def escape_markdown(text: str) -> str:
    """Text for a cell of a Markdown table, in which neither a bar nor HTML means anything."""
    plain = " ".join(text.splitlines())
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|")


def escape_latex(text: str) -> str:
    """Text for LaTeX, whatever characters it has."""
    return re.sub("|".join(map(re.escape, _LATEX)), lambda found: _LATEX[found.group()], text)
