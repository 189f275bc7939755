from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from minaction import _compiled
from minaction._compiled import this_machine

ASK = "import jax; from minaction._compiled import keep_compiled_programs as keep; keep(); "
ASK += "print(jax.config.jax_compilation_cache_dir)"
TRAIN = "import sys, minaction as ma; tiny = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8)); "
TRAIN += "data = ma.Trajectories.from_episodes([[[0.0], [1.0], [2.0], [1.0]]]); "
TRAIN += "ma.fit(data, tiny, steps=2, progress=False).save(sys.argv[1])"


def python(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program without the folder that all tests share."""
    own = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**own, **environment}, check=True)


def test_a_second_start_finds_what_the_first_compiled(tmp_path: Path) -> None:
    python(TRAIN, str(tmp_path / "first.safetensors"), XDG_CACHE_HOME=str(tmp_path))
    folder = tmp_path / "minaction" / "compiled" / this_machine()
    (steps,) = folder.glob("jit_chunk-*-cache")
    second = python(TRAIN, str(tmp_path / "second.safetensors"), XDG_CACHE_HOME=str(tmp_path))
    assert second.stderr == ""
    assert list(folder.glob("jit_chunk-*-cache")) == [steps], "the same program was compiled again"
    first, again = ((tmp_path / f"{name}.safetensors").read_bytes() for name in ("first", "second"))
    assert first == again


def test_nothing_is_kept_where_it_is_not_wanted_or_cannot_be(tmp_path: Path) -> None:
    off = python(ASK, XDG_CACHE_HOME=str(tmp_path), JAX_ENABLE_COMPILATION_CACHE="false")
    assert off.stdout.strip() == "None"
    chosen = python(ASK, XDG_CACHE_HOME=str(tmp_path), JAX_COMPILATION_CACHE_DIR=str(tmp_path / "own"))
    assert chosen.stdout.strip() == str(tmp_path / "own")
    assert not (tmp_path / "minaction").exists()
    (tmp_path / "minaction").write_text("not a folder")
    assert python(ASK, XDG_CACHE_HOME=str(tmp_path)).stdout.strip() == "None"


def test_the_least_recently_used_programs_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for used, name in enumerate(("old", "middle", "new")):
        path = tmp_path / "machine" / f"{name}-cache"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(100))
        os.utime(path, (used, 0))
    monkeypatch.setattr(_compiled, "MOST_BYTES", 150)
    _compiled._drop_oldest(tmp_path)
    assert [path.name for path in tmp_path.rglob("*-cache")] == ["new-cache"]
