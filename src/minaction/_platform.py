"""Where JAX computes: told before it is imported, and asked in another process."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

from .errors import InputError


def choose_device(device: str, *, here: bool = True) -> None:
    """Tell JAX, before it is imported, where to compute; auto leaves the environment as it is.

    JAX takes a GPU by itself where it finds one. Its own name "gpu" asks for those of every maker at once, and fails.

    Args:
        device: auto, cpu or gpu.
        here: whether this machine computes, which then has to have the device.
    """
    if device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    elif device == "gpu":
        os.environ.pop("JAX_PLATFORMS", None)
        if here and default_device() == "cpu":
            raise InputError("JAX finds no GPU; leave --device out, or see `minaction doctor`.")


@functools.cache  # asking takes a second
def default_device() -> str:
    """JAX's default backend, such as "cpu"; asked in another process, so that this one uses no GPU memory."""
    asked = subprocess.run(
        [sys.executable, "-c", "import jax; print(jax.default_backend())"], capture_output=True, text=True
    )
    if asked.returncode:
        reason = (asked.stderr.strip().splitlines() or [f"Python ended with code {asked.returncode}"])[-1]
        raise InputError(f"The chosen device cannot be used ({reason}); leave --device out or see `minaction doctor`.")
    return asked.stdout.split()[-1]
