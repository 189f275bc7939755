"""Where to compute."""

from typing import Literal

Device = Literal["auto", "cpu", "gpu"]
