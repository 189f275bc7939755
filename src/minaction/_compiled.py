"""Compiled programs, kept on disk: a second start finds what the first one compiled.

It is JAX's own persistent cache, in the user's cache folder. `JAX_COMPILATION_CACHE_DIR` chooses another one, and
`JAX_ENABLE_COMPILATION_CACHE=false` none.
"""

from __future__ import annotations

import hashlib
import os
import platform
import warnings
from importlib.metadata import version
from pathlib import Path

import platformdirs

MOST_BYTES = 1 << 30
"""What is kept at most, in all folders together, when a process starts; the least recently used goes first."""
_WORTH_KEEPING = 0.1  # seconds of compiling; a training has a dozen small programs besides its large one


def keep_compiled_programs() -> None:
    """Have JAX keep what it compiles from now on; without a folder that can be written, everything stays as it is."""
    import jax  # not above: tests ask for `this_machine` before JAX reads its environment

    names = ("jax_compilation_cache_dir", "jax_enable_compilation_cache")
    chosen, wanted = (getattr(jax.config, name) for name in names)
    if chosen is not None or not wanted:
        return
    above = Path(platformdirs.user_cache_dir("minaction")) / "compiled"
    folder = above / this_machine()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _drop_oldest(above)
    except OSError:
        return
    if not os.access(folder, os.W_OK):
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", _WORTH_KEEPING)
    # A full disk, or an entry that a kill left half written: it is compiled again, which needs no comment.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache")


def this_machine() -> str:
    """Names the processor and the version of jaxlib: JAX may crash on programs compiled for others."""
    processor = Path("/proc/cpuinfo")
    described = processor.read_text() if processor.exists() else platform.processor()
    features = sorted({line for line in described.splitlines() if line.startswith(("flags", "Features", "model name"))})
    return hashlib.sha256(repr((version("jaxlib"), features or described)).encode()).hexdigest()[:12]


def _drop_oldest(folder: Path) -> None:
    """Remove programs, least recently used first, until all together have at most `MOST_BYTES`.

    JAX can bound its cache itself, but gives it up for good once a kill has come between the two files of an entry.
    """
    found = sorted((stat.st_atime, stat.st_size, path) for path in folder.rglob("*-cache") if (stat := path.stat()))
    excess = sum(size for _, size, _ in found) - MOST_BYTES
    for _, size, path in found:
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size
