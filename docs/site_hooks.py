"""What the site needs beyond the pages as they stand in the repository: the results as a page, and links to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_RESULTS = Path(__file__).parent.parent / "reproductions" / "RESULTS.md"
_LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """`reproductions/RESULTS.md`, which stands beside the raw numbers, is the page `results.md`."""
    files.append(File.generated(config, "results.md", content=_RESULTS.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to files outside `docs` lead to the page that shows them, or become their name where none does.

    In the search, what research found and how the code is built come after pages that say how a thing is done.
    """
    if page.file.src_uri.startswith(("research", "architecture")):
        page.meta["search"] = {"boost": 0.5}

    def mended(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        if "://" in target:
            return link[0]
        if target.endswith("reproductions/RESULTS.md"):
            return f"[{text}](results.md{anchor})"
        if page.file.src_uri == "results.md":
            name = target.removeprefix("../docs/")
            return f"[{text}]({name}{anchor})" if name != target and not name.endswith(".html") else text
        return text if target.startswith("../") and page.file.src_uri.count("/") == 0 else link[0]

    return _LINK.sub(mended, markdown)
