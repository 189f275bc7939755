"""The page's Jinja2 templates: every value is escaped unless it is marked as safe."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

FOLDER = Path(__file__).parent / "page"


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(name: str, **values: Any) -> Markup:
    """A template filled in."""
    return Markup(_environment().get_template(name).render(values))


def asset(name: str) -> Markup:
    """One of the page's own scripts or styles, as it is."""
    return Markup((FOLDER / name).read_text(encoding="utf-8"))


def inline_json(data: Any) -> Markup:
    """Compact JSON without the characters that could end the element it stands in."""
    return htmlsafe_json_dumps(data, separators=(",", ":"), allow_nan=False)
