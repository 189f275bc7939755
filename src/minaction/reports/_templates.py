"""The report's templates, scripts and styles."""

from __future__ import annotations

from pathlib import Path

from .._pages import Pages

PAGES = Pages(Path(__file__).parent / "page")
