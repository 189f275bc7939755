"""docs/own-data.md, run line by line: what it shows below a command is what the command says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import minaction as ma
from minaction.cli import main

GUIDE = Path(__file__).parent.parent / "docs" / "own-data.md"


def test_the_guide_does_what_it_says(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for kind, block in re.findall(r"```(python|console)\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        if kind == "python":
            exec(compile(block, str(GUIDE), "exec"), names)
            continue
        for command, *shown in (part.splitlines() for part in block.split("$ ")[1:]):
            program, *arguments = shlex.split(command)
            assert program == "minaction"
            refused = any(line.startswith("minaction:") for line in shown)
            code = main(arguments)
            printed = "".join(capsys.readouterr())
            assert code == (2 if refused else 0), printed
            for line in shown:
                assert line.strip() in printed
    data, along = names["data"], names["along"]
    assert len(data) == 41  # one was split
    assert names["model"].unit == "s"
    assert isinstance(data, ma.Trajectories)
    longest = max(along.stretches, key=lambda stretch: stretch.lost)
    assert 0.7 < longest.lost < 2.5  # the pause took 1.5 s
    near, nearer = names["model"].remaining([[-0.5, -0.5], [0.9, 0.9]], [1.0, 1.0])
    assert near > nearer
