"""Families by name: what is registered, what other distributions offer, and what is refused."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

import minaction as ma
from minaction import registry
from minaction.errors import InputError
from minaction.registry import BrokenMember, Registry

GROUP = "minaction.words"


@dataclass(frozen=True)
class Word:
    """A member of a family that exists in these tests alone."""

    family: ClassVar[Any]
    name: ClassVar[str]


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Registry[Any]:
    made: Registry[Any] = Registry("word", GROUP, lambda: {"own": Own})
    monkeypatch.setattr(Word, "family", made, raising=False)
    return made


class Own(Word):
    name = "own"


class Other(Word):
    name = "other"


def offer(monkeypatch: pytest.MonkeyPatch, **members: str) -> None:
    """Entry points as installed distributions have them."""
    found = [EntryPoint(name, value, GROUP) for name, value in members.items()]
    monkeypatch.setattr(registry, "entry_points", lambda group: found if group == GROUP else [])


# ---------------------------------------------------------------- registering


def test_the_five_families_have_groups_of_their_own() -> None:
    families = (ma.OBJECTIVES, ma.QUASIMETRICS, ma.ENCODERS, ma.TASKS, ma.READERS)
    assert [family.group.removeprefix("minaction.") for family in families] == [
        *("objectives", "quasimetrics", "encoders", "tasks", "readers")
    ]
    for family, base in zip(families, (ma.Objective, ma.Quasimetric, ma.Encoder, ma.Task, ma.Reader), strict=True):
        assert base.family is family
        assert len(family) == len(list(family)) >= 3


def test_a_class_is_registered_by_a_decorator_and_found_by_name(words: Registry[Any]) -> None:
    assert ma.register(Other) is Other
    assert words["other"] is Other
    assert "other" in words
    assert list(words) == ["own", "other"]
    assert dict(words.usable()) == {"own": Own, "other": Other}


def test_an_instance_is_registered_under_a_name_of_its_own(words: Registry[Any]) -> None:
    instance = Other()
    ma.register(instance, name="special")
    assert words["special"] is instance


def test_registering_the_same_definition_again_replaces_it_as_in_a_notebook(words: Registry[Any]) -> None:
    def define() -> type[Word]:
        class Again(Word):
            name = "again"

        return ma.register(Again)

    first, second = define(), define()
    assert words["again"] is second is not first


def test_a_name_that_is_taken_is_refused(words: Registry[Any]) -> None:
    ma.register(Other)
    ma.register(Own)  # what is there already
    with pytest.raises(InputError, match="named 'other' already; choose another name"):
        ma.register(Own, name="other")
    with pytest.raises(InputError, match="named 'own' already"):
        ma.register(Other, name="own")


def test_a_variant_of_our_own_member_cannot_take_its_name() -> None:
    """It would be registered and never found: ours come first."""
    with pytest.raises(InputError, match="named 'maddist' already"):
        ma.register(ma.MadDist(learning_rate=1e-3), name="maddist")
    assert ma.OBJECTIVES["maddist"] == ma.MadDist()


@pytest.mark.parametrize("name", ["", "two words", "a/b", "a=b", "a,b"])
def test_names_that_could_not_be_typed_are_refused(words: Registry[Any], name: str) -> None:
    with pytest.raises(InputError, match="use letters, digits"):
        words.register(name, Other)


@pytest.mark.parametrize("nonsense", [3, "mlp", object, type("Nameless", (Word,), {})])
def test_what_belongs_to_no_family_is_refused(nonsense: Any) -> None:
    with pytest.raises(InputError, match="belongs to no family of minaction"):
        ma.register(nonsense)


def test_an_unknown_name_is_refused_with_the_nearest(words: Registry[Any]) -> None:
    ma.register(Other)
    with pytest.raises(InputError, match="There is no word named 'othr': did you mean 'other'"):
        words["othr"]
    with pytest.raises(InputError, match="choose from other, own"):
        words["zzzzzz"]


# ---------------------------------------------------------------- entry points


def test_entry_points_are_loaded_when_they_are_asked_for(words: Registry[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, late="late_module:Member")
    assert list(words) == ["own", "late"]
    assert "late" in words
    assert "late_module" not in sys.modules
    monkeypatch.setitem(sys.modules, "late_module", SimpleNamespace(Member=Other))  # type: ignore[arg-type]
    assert words["late"] is words["late"] is Other


def test_an_entry_point_that_fails_to_import_is_named_and_the_rest_works(
    words: Registry[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "failing_module.py").write_text("raise RuntimeError('no licence')\n")
    monkeypatch.syspath_prepend(tmp_path)
    offer(monkeypatch, failing="failing_module:Member", missing="no_such_module:Member", absent="json:Member")
    for name, reason in (("failing", "RuntimeError: no licence"), ("missing", "No module named"), ("absent", "Member")):
        with pytest.raises(BrokenMember, match=f"The word '{name}' of .* cannot be imported .*{reason}") as caught:
            words[name]
        assert "\n" not in str(caught.value)
    with pytest.warns(UserWarning, match="cannot be imported") as warned:
        assert words.usable() == {"own": Own}
    assert len(warned) == 3


def test_an_entry_point_that_offers_something_else_is_refused(
    words: Registry[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, odd="json:dumps")
    with pytest.raises(BrokenMember, match="'json:dumps', the entry point of the word 'odd', is not one"):
        words["odd"]


def test_our_own_members_come_first(words: Registry[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, own="json:dumps")
    assert words["own"] is Own
    assert list(words) == ["own"]
