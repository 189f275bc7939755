"""Descriptions of every kind a third party may write, to JSON and back, and what cannot be built."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Optional

import pytest

import minaction as ma
from minaction._descriptions import describe, make, with_settings
from minaction.errors import InputError
from minaction.quasimetrics import QUASIMETRICS


@dataclass(frozen=True)
class Everything(ma.Quasimetric):
    """A field of every type that a description may have."""

    name: ClassVar[str] = "everything"

    required: int
    inner: ma.Quasimetric = field(default_factory=ma.Simple)
    maybe: ma.Quasimetric | None = None
    several: tuple[ma.Quasimetric, ...] = ()
    old_style: Optional[float] = None  # noqa: UP045
    sizes: tuple[int, ...] = (3, 4)
    choice: Literal["a", "b"] = "a"
    switch: bool = False
    word: str = "x"
    anything: Any = None
    derived: int = field(init=False, default=7)

    def __post_init__(self) -> None:
        if self.required < 0:
            raise ValueError("required is below 0")

    def build(self, latent_size: int, *, key: Any) -> Any:
        return self.inner.build(latent_size, key=key)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    before = dict(QUASIMETRICS._registered)
    ma.register(Everything)
    yield
    QUASIMETRICS._registered = before


FULL = Everything(
    required=2,
    inner=ma.IQE(component_size=8),
    maybe=ma.Simple(alpha=0.5),
    several=(ma.L1(), ma.Simple(alpha=0.25)),
    old_style=1.5,
    sizes=(1,),
    choice="b",
    switch=True,
    word="none of these",
    anything=[1, {"a": 2}],
)


@pytest.mark.parametrize("described", [FULL, Everything(required=1)])
def test_every_type_of_field_comes_back_from_json(described: Everything) -> None:
    stored = json.loads(json.dumps(describe(described)))
    assert "derived" not in stored
    assert make(QUASIMETRICS, stored) == described


def test_a_member_that_needs_a_setting_is_built_from_a_description_but_not_from_its_name() -> None:
    assert make(QUASIMETRICS, {"name": "everything", "required": "3"}) == Everything(3)
    with pytest.raises(InputError, match=r"The quasimetric 'everything' cannot be built .*required"):
        make(QUASIMETRICS, "everything")


def test_a_class_means_its_defaults() -> None:
    assert make(QUASIMETRICS, ma.IQE) == ma.IQE()


def test_text_as_on_a_command_line() -> None:
    made = with_settings(
        Everything(1),
        {
            "required": "5",
            "inner": "iqe",
            "inner.component_size": "4",
            "maybe": "simple",
            "maybe.alpha": "0.5",
            "several": "l1, simple",
            "old_style": "2",
            "sizes": "7,8",
            "switch": "true",
            "word": "some text",
        },
    )
    assert made == Everything(
        required=5,
        inner=ma.IQE(component_size=4),
        maybe=ma.Simple(alpha=0.5),
        several=(ma.L1(), ma.Simple()),
        old_style=2.0,
        sizes=(7, 8),
        switch=True,
        word="some text",
    )
    assert with_settings(made, {"maybe": "none", "old_style": "None"}).maybe is None


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"required": -1}, r"The quasimetric 'everything' cannot be built \(required is below 0\)"),
        ({"required": "1.5"}, "required should be a whole number, not '1.5'"),
        ({"required": None}, "required should be a whole number, not None"),
        ({"choice": "c"}, "choice should be one of 'a', 'b', not 'c'"),
        ({"switch": 1}, "switch should be true or false, not 1"),
        ({"word": 3}, "word should be text, not 3"),
        ({"sizes": "7,x"}, "sizes should be numbers such as 512,256"),
        ({"sizes": "[["}, "sizes should be numbers such as 512,256"),
        ({"several": "l1,simpel"}, "did you mean 'simple'"),
        ({"several": [3]}, "3 is not a quasimetric"),
        ({"inner": ma.MLP()}, "is not a quasimetric"),
        ({"inner": {"alpha": 2.0}}, "between 0 and 1"),
        ({"inner.alhpa": 1}, "no setting of simple named 'alhpa': did you mean 'alpha'"),
        ({"maybe.alpha": 1}, "a quasimetric has no name"),
        ({"alpha": 1}, "no setting of everything named 'alpha': did you mean .*'inner.alpha'"),
        ({"derived": 3}, "no setting of everything named 'derived'"),
        ({"inner": None}, "None is not a quasimetric"),
    ],
)
def test_what_cannot_be_built_is_refused_in_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        with_settings(Everything(1), settings)
    assert "\n" not in str(caught.value)
