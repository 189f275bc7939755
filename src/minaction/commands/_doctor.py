"""`minaction doctor`: versions, devices and extras."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys

from rich.console import Console
from rich.table import Table

from .. import __version__
from ._options import Doctor

_PACKAGES = ("jax", "jaxlib", "equinox", "optax", "numpy", "scipy", "gymnasium", "safetensors", "matplotlib")
_EXTRAS = {
    "mazes": {"ogbench": "ogbench", "gymnasium-robotics": "gymnasium_robotics", "mujoco": "mujoco"},
    "minari": {"minari": "minari", "h5py": "h5py"},
    "onnx": {"onnx": "onnx", "onnxruntime": "onnxruntime"},
    "pytorch": {"torch": "torch"},
    "tables": {"pyarrow": "pyarrow"},
    "video": {"av": "av"},
    "ray": {"ray": "ray"},
    "track": {"tensorboardX": "tensorboardX", "wandb": "wandb", "mlflow-skinny": "mlflow"},
}


def doctor(options: Doctor) -> int:
    """Print versions, devices and extras; 0 if training can run."""
    del options
    console = Console()
    table = Table(title=f"minaction {__version__}", show_header=False, title_justify="left")
    table.add_row("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    for package in _PACKAGES:
        table.add_row(package, _version(package))
    for extra, packages in _EXTRAS.items():
        missing = [name for name, module in packages.items() if importlib.util.find_spec(module) is None]
        found = ", ".join(f"{name} {_version(name)}" for name in packages)
        table.add_row(
            f"extra [{extra}]".replace("[", r"\["),
            f"not installed: pip install 'minaction\\[{extra}]'" if missing else found,
        )
    console.print(table)
    try:
        import jax

        for device in jax.devices():
            console.print(f"device {device.id}: {device.device_kind} ({device.platform})", highlight=False)
    except RuntimeError as error:
        console.print(f"[red]JAX finds no device:[/red] {error}", file=sys.stderr)  # type: ignore[call-arg]
        return 1
    return 0


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"
