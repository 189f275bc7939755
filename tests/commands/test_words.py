"""The words of the command line: options given twice or wrongly, help, and what a shell completes."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from minaction.cli import main
from minaction.commands._parse import COMMANDS, parse
from minaction.commands._table import table_words
from minaction.trajectories import TableOptions


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["--states", "x", "y"], {"states": ("x", "y")}),
        (["--states", "x", "--states", "y", "z"], {"states": ("x", "y", "z")}),
        (["--drop", "mode", "--drop=stamp"], {"drop": ("mode", "stamp")}),
        (["--one-hot", "a", "--one_hot", "b"], {"one_hot": ("a", "b")}),
        (["--episode", "run", "--episode", "robot"], {"episode": ("run", "robot")}),
        (["--episode"], {"episode": ()}),
        ([], {"episode": None}),
    ],
)
def test_names_of_columns_add_up(words: list[str], read: dict[str, Any]) -> None:
    for command in (["train", "log.csv"], ["data", "info", "log.csv"], ["progress", "run", "log.csv"]):
        _, options = parse([*command, *words])
        found = TableOptions(**table_words(options))
        assert {name: getattr(found, name) for name in read} == read


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["train", "x", "--steps", "1", "--steps=2"], "--steps"),
        (["train", "x", "--first-seed", "1", "--first_seed", "2"], "--first-seed"),
        (["train", "x", "--overwrite", "--no-overwrite"], "--overwrite"),
        (["progress", "run", "--goal", "1", "1", "--goal", "2", "2"], "--goal"),
        (["card", "run", "-o", "a.md", "--output", "b.md"], "--output"),
        (["suite", "paper", "--only", "a", "--only", "b"], "--only"),
    ],
)
def test_other_options_are_given_once(words: list[str], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(f"minaction: {name} is given 2 times")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train"], "`minaction train` needs DATA; see `minaction train --help`."),
        (["export"], "`minaction export` needs RUN and OUTPUT; see"),
        (["distance", "run", "--from", "0", "0"], "`minaction distance` needs --to; see"),
        (["train", "x", "--steps", "ten"], "--steps: 'ten' is not a whole number; see"),
        (["train", "x", "--held-out", "some"], "--held-out: 'some' is not a number; see"),
        (["train", "x", "--resize", "64"], "Missing value for argument '--resize'; expected 2 values; see"),
        (["train", "x", "--device", "tpu"], "Invalid choice 'tpu' for argument '--device'; expected one of 'auto', "),
        (["train", "x", "--policy", "mine"], "Invalid choice 'mine' for argument '--policy'; expected one of 'random'"),
        (["train", "x", "--objektive", "y"], "`minaction train` has no use for --objektive; did you mean --objective?"),
        (["train", "a.csv", "b.csv"], "has no use for b.csv; several logs go into one file, or, as Parquet files, in"),
        (["progress", "run", "log.csv", "more.csv"], "`minaction progress` has no use for more.csv; see"),
        (["version"], "`minaction --version` shows it."),
        (["--verison"], "`minaction` has no use for --verison; see `minaction --help`."),
    ],
)
def test_wrong_words_end_in_one_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("minaction: ")
    assert said in line
    assert not re.search("[│─]|NoneType|class", line)


def test_help_tells_how_values_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit):
            main([name, "--help"])
        said = capsys.readouterr().out
        assert "{None" not in said
        if name == "train":
            assert "--steps INT" in said
            assert "with at least 20 episodes" in " ".join(re.sub("[│ \n]+", " ", said).split())
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "minaction --version" in capsys.readouterr().out


def test_no_description_of_an_option_is_broken_into_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """A shell would offer what comes after the break as a word to complete with."""
    with pytest.raises(SystemExit):
        main(["--tyro-print-completion", "bash"])
    (described,) = re.findall("^COMPLETION_SPEC = (.*)$", capsys.readouterr().out, re.MULTILINE)
    commands = ast.literal_eval(described)["subcommands"]
    assert set(commands) == set(COMMANDS)
    texts = [option["description"] for one in commands.values() for option in one["options"]]
    assert len(texts) > 50
    assert [text for text in texts if "\n" in text] == []


def test_values_that_begin_with_a_dash_are_no_options(tmp_path: Path) -> None:
    _, options = parse(["distance", "run", "--from", "-1", "-inf", "--to", "-.5", "-1"])
    assert options.source == ("-1", "-inf")
    assert options.target == ("-.5", "-1")
