"""Build wheel and sdist, install each into fresh environments, ask a model there: `make release-check`.

Each is installed twice: with the newest versions of the base dependencies, and with the lowest that are allowed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOOLS = ROOT / "tools"
BELONGS = {".py", ".pyi", ".typed", ".css", ".js", ".html", ".json", ".md", ".safetensors"}  # suffixes in a wheel


def main() -> int:
    """Carry everything out; a step that fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", default="", help="the tag of the release, which must name the version: v1.2.3")
    options = parser.parse_args()
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    say("building wheel and sdist")
    run("-m", "build", "--outdir", "dist", ".")
    built = sorted((ROOT / "dist").iterdir())
    wheel, sdist = next(one for one in built if one.suffix == ".whl"), next(one for one in built if one.suffix == ".gz")
    run("-m", "twine", "check", "--strict", *map(str, built))
    only_what_belongs(wheel)
    version = wheel.name.split("-")[1]
    if sdist.name != f"minaction-{version}.tar.gz" or options.tag not in ("", f"v{version}"):
        raise SystemExit(f"wheel, sdist and tag disagree: {wheel.name}, {sdist.name}, {options.tag or 'no tag'}")
    with tempfile.TemporaryDirectory() as folder:
        lowest = lowest_versions(Path(folder))
        for file in (wheel, sdist):
            for name, pins in (("newest", None), ("lowest", lowest)):
                say(f"{file.name}, {name} versions")
                install_and_ask(Path(folder) / f"{file.suffix[1:]}-{name}", file, pins, version)
        say(f"{wheel.name}, NumPy and safetensors alone")
        ask_without_jax(Path(folder) / "numpy", wheel, Path(folder) / "whl-newest" / "model")
    say("everything is fine; dist/ holds what was checked")
    return 0


def only_what_belongs(wheel: Path) -> None:
    """Modules, and what they read; nothing that an editor or a merge left behind."""
    with zipfile.ZipFile(wheel) as file:
        left = [name for name in file.namelist() if name.startswith("minaction/") and Path(name).suffix not in BELONGS]
    if left:
        raise SystemExit(f"{wheel.name} holds what does not belong in it: {', '.join(left)}")


def lowest_versions(folder: Path) -> Path:
    """The lowest version of every base dependency, and the newest of theirs that go with it, as constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (folder / "base.in").write_text("\n".join(project["dependencies"]) + "\n")
    found = folder / "lowest.txt"
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    run("-m", "uv", "pip", "compile", "--quiet", "--resolution", "lowest-direct", "--python-version", python,
        "--output-file", str(found), str(folder / "base.in"))  # fmt: skip
    return found


def install_and_ask(folder: Path, file: Path, pins: Path | None, version: str) -> None:
    """A fresh environment with `file` and nothing of ours beside it answers as it should."""
    constraints = [] if pins is None else ["-c", str(pins)]
    python = installed(folder, *constraints, file)
    asked(python, TOOLS / "smoke.py", version, folder / "model")
    subprocess.run([folder / "bin" / "minaction", "--version"], check=True, cwd=folder)


def ask_without_jax(folder: Path, wheel: Path, model: Path) -> None:
    """The model that another environment saved, where there is nothing to train one with."""
    python = installed(folder, "numpy", "safetensors")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", wheel], check=True, cwd=folder)
    asked(python, TOOLS / "smoke_numpy.py", model)


def installed(folder: Path, *packages: str | Path) -> Path:
    """The Python of a fresh environment with `packages`."""
    run("-m", "venv", str(folder))
    python = folder / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    subprocess.run(command, check=True, cwd=folder)
    return python


def asked(python: Path, script: Path, *arguments: str | Path) -> None:
    """A script run by `python`, which sees nothing of ours beside what is installed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([python, "-I", script, *arguments], check=True, cwd=python.parent, env=clean)


def run(*arguments: str) -> None:
    """With the Python that runs this."""
    subprocess.run([sys.executable, *arguments], check=True, cwd=ROOT)


def say(text: str) -> None:
    """Progress, in order with what the steps print."""
    print(f"release-check: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
