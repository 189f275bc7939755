"""What columns and arrays are usually called: one table for logs, replay buffers and files of arrays."""

from __future__ import annotations

EPISODE = ("episode", "episode_id", "episode_index")
"""Which episode a row belongs to."""
LAST = ("terminal", "timeout", "termination", "truncation", "terminated", "truncated", "done", "is_last", "is_terminal")
"""True in the last row of an episode."""
FIRST = ("episode_start", "is_first")
"""True in the first row of an episode."""
TIME = ("time", "timestamp", "step", "timestep", "%time")  # the last is what `rostopic echo -p` writes
MAYBE_TIME = ("stamp", "t")  # the clock where it increases inside every episode; "t" may be a temperature
SUCCESS = ("success", "is_success", "next.success", "next.is_success")


def or_several(*names: str) -> tuple[str, ...]:
    """Each name and its plural: arrays are called either."""
    return tuple(either for name in names for either in (name, f"{name}s"))
