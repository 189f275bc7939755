"""Every code block of the documentation runs, and shows below a command what the command says; ... is anything."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

import minaction as ma
from minaction.cli import main

DOCS = Path(__file__).parent.parent.parent / "docs"
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
RUN = {name: text for name, text in PAGES.items() if re.search(r"^```(python|console|toml)", text, re.MULTILINE)}
# What a person types into a shell to install, build or train for long is checked elsewhere: `make release-check`,
# tests/test_benchmarks.py, tests/suite, tests/planning, tests/agents.
SHELL = ("pip install ", "pip wheel ", "make ", "mkdir ", "python -m benchmarks.", "minaction suite ",
         "minaction report ", "minaction plan ", "minaction agent ", "minaction --tyro-print-completion ")  # fmt: skip


def run(text: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The blocks of a page one after the other, in one namespace."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for kind, block in BLOCK.findall(text):
        if kind == "python":
            exec(compile(block, "page", "exec", dont_inherit=True), names)
        elif kind == "toml":
            tomllib.loads(block)
            if named := re.match(r"# (\w+\.toml)\n", block):
                Path(named[1]).write_text(block)
        elif kind == "console":
            for command, *shown in (part.splitlines() for part in block.split("$ ")[1:]):
                carry_out(command, [line.strip() for line in shown], capsys)
    return names


def carry_out(command: str, shown: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(command)
    assert program == "minaction"
    refused = any(line.startswith("minaction:") for line in shown)
    code = main(arguments)
    printed = " ".join("".join(capsys.readouterr()).split())  # however wide the terminal is
    assert code == (2 if refused else 0), printed
    for line in shown:
        said = ".*".join(re.escape(" ".join(part.split())) for part in line.split("..."))
        assert re.search(said, printed), (line, printed)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if "<!-- slow -->" in RUN[name] else ()) for name in RUN]
)
def test_a_page_does_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if name == "deployment.md":
        pytest.importorskip("torch")
    names = run(PAGES[name], capsys)
    if name == "own-data.md":
        data, along = names["data"], names["along"]
        assert len(data) == 41  # one was split
        assert names["model"].unit == "s"
        assert isinstance(data, ma.Trajectories)
        longest = max(along.stretches, key=lambda stretch: stretch.lost)
        assert 0.7 < longest.lost < 2.5  # the pause took 1.5 s
        near, nearer = names["model"].remaining([[-0.5, -0.5], [0.9, 0.9]], [1.0, 1.0])
        assert near > nearer


def test_no_block_escapes() -> None:
    """Every block is one that is run, or a command that takes long or changes the machine, or no code."""
    for name, text in PAGES.items():
        for kind, block in BLOCK.findall(text):
            if kind == "sh":
                assert all(line.startswith(SHELL) for line in block.splitlines()), (name, block)
            else:
                assert kind in ("python", "console", "toml", ""), (name, kind)
                assert kind or not re.search(r"^(minaction|pip|python|make) ", block, re.MULTILINE), (name, block)


def test_every_public_name_is_in_the_reference_once() -> None:
    listed = re.findall(r"^::: minaction\.(\w+)$", "\n".join(PAGES.values()), re.MULTILINE)
    assert sorted(listed) == sorted(name for name in ma.__all__ if name != "__version__")


def test_links_between_files_of_the_repository_hold() -> None:
    """As they are read on a code host, without the site."""
    for path in [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md"), *DOCS.parent.glob("reproductions/*.md")]:
        for target in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert "://" in target or (path.parent / target).exists(), (path, target)
