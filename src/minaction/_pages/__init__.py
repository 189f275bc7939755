"""Pages as single files: they open offline, request nothing, and every text in them is escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

_COMMON = Path(__file__).parent


class Pages:
    """The templates, scripts and styles in a folder of ours, beside those that all pages share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = Environment(
            loader=FileSystemLoader(folder),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, name: str, **values: Any) -> Markup:
        """A template filled in: every value is escaped unless it is marked as safe."""
        return Markup(self._environment.get_template(name).render(values))

    def page(self, name: str, data: Any, scripts: Sequence[str | Path], styles: Sequence[str], **values: Any) -> Markup:
        """A whole page. Its policy lets a browser run these scripts and styles alone, and load nothing."""
        script = Markup("\n").join(self._asset(one) for one in ("common.js", *scripts))
        style = Markup("\n").join(self._asset(one) for one in ("common.css", *styles))
        policy = f"default-src 'none'; img-src data:; script-src {_hash(script)}; style-src {_hash(style)}"
        return self.render(name, policy=policy, style=style, script=script, data=inline_json(data), **values)

    def _asset(self, name: str | Path) -> Markup:
        ours = self._folder / name
        return Markup((ours if ours.exists() else _COMMON / name).read_text(encoding="utf-8"))


def inline_json(data: Any) -> Markup:
    """Compact JSON without the characters that could end the element it stands in."""
    return htmlsafe_json_dumps(data, separators=(",", ":"), allow_nan=False)


def _hash(text: str) -> str:
    """How a content security policy names this one script or style; the browser runs no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
