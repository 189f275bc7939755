"""A table as plain cells, and how it is written: Markdown, LaTeX, HTML. Every text is escaped for where it goes."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .._files import atomic_write


@dataclass(frozen=True)
class TextTable:
    """A header and lines of text; the first `labels` columns are names, the others numbers."""

    name: str
    """Short, fit for a file's name."""
    title: str
    header: Sequence[str]
    lines: Sequence[Sequence[str]]
    labels: int = 1
    caption: str = ""

    def markdown(self) -> str:
        """A table as GitHub and others read it."""
        rule = ["---"] * self.labels + ["---:"] * (len(self.header) - self.labels)
        cells = [[cell.replace("|", "\\|") for cell in line] for line in (self.header, rule, *self.lines)]
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

    def html(self) -> str:
        """A table for the page, which can be scrolled sideways by itself; marks get a class to colour them by."""

        def row(tag: str, line: Sequence[str]) -> str:
            cells = (_html_cell(tag, cell, label=place < self.labels) for place, cell in enumerate(line))
            return f"<tr>{''.join(cells)}</tr>"

        body = "\n".join(row("td", line) for line in self.lines)
        caption = f'<p class="small">{html.escape(self.caption)}</p>' if self.caption else ""
        return (
            f'<div class="scroll" role="region" tabindex="0" aria-label="{html.escape(self.title)}">'
            f"<table><thead>{row('th', self.header)}</thead>\n<tbody>{body}</tbody></table></div>{caption}"
        )


_MARKS = {"▲": "better", "▼": "worse", "=": "same"}


def _html_cell(tag: str, cell: str, *, label: bool) -> str:
    classes = [*(["label"] if label else []), *([_MARKS[cell[0]]] if cell[:1] in _MARKS else [])]
    attribute = f' class="{" ".join(classes)}"' if classes else ""
    scope = ' scope="col"' if tag == "th" else ""
    return f"<{tag}{scope}{attribute}>{html.escape(cell)}</{tag}>"


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


def escape_latex(text: str) -> str:
    """Text as LaTeX shows it, whatever characters it has."""
    return re.sub("|".join(map(re.escape, _LATEX)), lambda found: _LATEX[found.group()], text)
