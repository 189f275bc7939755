"""What `make` installs: the versions of constraints.txt, with hashes, and everything that pyproject.toml asks for."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from minaction.errors import MissingExtra

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NEVER_RELEASED = {"opentelemetry-semantic-conventions"}
OTHER_SYSTEMS = re.compile(r"^([\w.-]+)==[^;\n]+; sys_platform == '(?:win32|darwin)'", flags=re.MULTILINE)


def _pinned(name: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / name).read_text("utf-8"), flags=re.MULTILINE)
    return {canonicalize_name(package): version for package, version in found}


def _asked_for(extras: list[str]) -> set[str]:
    """The names of what the package and some of its extras need, without those of other packages."""
    found, waiting = list(PROJECT["dependencies"]), list(extras)
    while waiting:
        for text in PROJECT["optional-dependencies"][waiting.pop()]:
            requirement = Requirement(text)
            if requirement.name == "minaction":
                waiting += requirement.extras
            else:
                found.append(text)
    return {canonicalize_name(Requirement(text).name) for text in found}


@pytest.mark.parametrize(("name", "extras"), [("requirements.txt", []), ("requirements-dev.txt", ["dev"])])
def test_hashed_requirements_follow_the_project(name: str, extras: list[str]) -> None:
    pinned, tested = _pinned(name), _pinned("constraints.txt")
    assert _asked_for(extras) <= pinned.keys(), "run `make lock`"
    elsewhere = {canonicalize_name(package) for package in OTHER_SYSTEMS.findall((ROOT / name).read_text("utf-8"))}
    other = {package for package, version in pinned.items() if tested.get(package) != version}
    assert other <= elsewhere, "constraints.txt, where these versions were tested, says otherwise; run `make lock`"
    entries = re.split(r"^(?=[\w.-]+==)", (ROOT / name).read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


def test_no_beta_comes_with_an_extra_where_a_release_serves() -> None:
    pinned = _pinned("requirements-dev.txt")
    assert {package for package, version in pinned.items() if Version(version).is_prerelease} == NEVER_RELEASED


def test_what_has_no_wheels_for_a_python_is_not_asked_for_there() -> None:
    """`labmaze` would be built by Bazel on Python 3.13; see `[tool.uv]` in pyproject.toml."""
    (asked,) = re.findall(r"^(labmaze==.*?) ?\\$", (ROOT / "requirements-dev.txt").read_text("utf-8"), re.MULTILINE)
    marker = Requirement(asked).marker
    assert marker is not None
    assert marker.evaluate({"python_full_version": "3.12.9"})
    assert not marker.evaluate({"python_full_version": "3.13.0"})


@pytest.mark.parametrize(("version", "installs"), [((3, 12), True), ((3, 13), False)])
def test_where_an_extra_leaves_ogbench_out_it_is_said_how_to_add_it(
    version: tuple[int, int], installs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OGBench asks for `labmaze` too, so that `pip install 'minaction[mazes]'` would fail on Python 3.13."""
    (asked,) = (one for one in PROJECT["optional-dependencies"]["mazes"] if one.startswith("ogbench"))
    marker = Requirement(asked).marker
    assert marker is not None
    assert marker.evaluate({"python_version": f"{version[0]}.{version[1]}"}) is installs
    monkeypatch.setattr(sys, "version_info", version)
    assert ("pip install --no-deps ogbench" in str(MissingExtra("A maze", "mazes"))) is not installs
