"""Where data meets truth: the episodes of a task or of a user's file, and the distances to judge a model by."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from .._progress import OnProgress
from ..errors import InputError
from ..exact import observed_distance
from ..trajectories import TableOptions, Trajectories, met_again, read_file
from ..trajectories.readers import known_suffixes, local_minari_folder, looks_like_minari_id, read_minari_id
from ..trajectories.readers._parquet import SUFFIXES as PARQUET
from ..trajectories.readers._parquet import parquet_files
from ._base import TASKS, Layout, Task, Truth, get_task
from ._cache import cached

# Observed distances are used for at most this many distinct states, each recorded at least so often on average: where
# states hardly repeat, shortest paths between them say little more than how much time passed.
_MOST_OBSERVED_STATES = 3000
_FEWEST_VISITS = 3

_EPISODES_OF_AN_ENVIRONMENT = 100

# Larger files in our format are memory-mapped.
MAPPED_ABOVE = 2 << 30
_TABLES_MAPPED_ABOVE = 1 << 29  # stored in Parquet, which is a few times smaller than the same in memory


def read(
    source: str | Path,
    *,
    keep_actions: bool = False,
    memory_map: bool = False,
    seed: int = 0,
    episodes: int | None = None,
    progress: OnProgress | None = None,
    episode: str | Sequence[str] | None = None,
    time: str | None = None,
    unit: str | None = None,
    states: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: Literal["refuse", "drop", "split"] = "refuse",
    one_hot: Sequence[str] = (),
    resize: tuple[int, int] | None = None,
    success: str | None = None,
    policy: str | None = None,
) -> Trajectories:
    """Recorded episodes by name: of a task, of a file, of a Minari data set, or of a Gymnasium environment.

    Files may be `.safetensors` (ours), `.npz` and `.npy` (plain or in OGBench's layout), `.hdf5` (D4RL's layout),
    `.csv`, `.tsv` and `.parquet` (logs with a column `episode`), folders of Minari and LeRobot data sets or of Parquet
    files, videos (`.mp4` and others; one per episode in a folder), folders of pictures (one, or one per episode), and
    those of any other `Reader` installed.

    Args:
        source: the name of a task, whose data is made and cached; a path; a Minari id (`minari:ID` downloads it if
            necessary); or, with `policy`, the id of a Gymnasium environment.
        keep_actions: whether to keep the actions, which planning needs.
        memory_map: whether to leave the states in the file and read them as they are used; for `.safetensors`, `.npy`,
            Parquet, videos, pictures and tasks.
        seed: that a task's data is made with.
        episodes: how many episodes of a task to make, or how many of a file to keep from its beginning; all if None.
        progress: called with the number of episodes made so far and of all.
        episode: of a table, as are the following: the column that says to which episode a row belongs, or several that
            do so together; `episode` or the like if None. If empty, all rows are one episode.
        time: the column with the clock, numbers or dates; `time`, `timestamp` or the like if None.
        unit: of the clock, such as "ms"; told from the column's name and values if None. Of videos, whose clock counts
            seconds, "frames" counts them instead.
        states: the columns that make a state; all that are left if empty.
        drop: columns to leave out.
        missing: what to do where a value is missing: "refuse" the table, "drop" the row, or "split" the episode there.
        one_hot: columns of whole numbers from 0 on that name things: each becomes as many numbers, one of them 1.
        resize: of pictures and videos, the height and width to give them; as recorded if None.
        success: of a table again: the column that says, in any row of an episode, that it succeeded; `success` or the
            like if None.
        policy: "random" acts in the environment for `episodes` episodes, 100 by default.

    >>> import minaction as ma
    >>> ma.read("cliffwalking", episodes=3).num_episodes
    3
    """
    options = TableOptions(episode, time, unit, states, drop, missing, one_hot, resize, success)
    table = None if options == TableOptions() else options
    if not isinstance(source, str | Path):
        raise InputError(f"A {type(source).__name__} is not the name of a task or a file; give text or a path.")
    try:
        path = Path(source).expanduser()
        is_file, exists = path.is_file(), path.exists()
    except (OSError, RuntimeError, ValueError) as error:  # a name too long, a folder without access, an unknown home
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{str(source)[:200]!r} cannot be looked up ({reason}); check the path.") from error
    is_path = is_file or isinstance(source, Path)
    if policy is not None:
        if exists or str(source) in TASKS:
            raise InputError(f"{source} already has recorded data; leave the policy out (--policy).")
        return _acted(str(source), policy, keep_actions, memory_map, seed, episodes, progress)
    if table is not None and not exists:
        raise (
            _not_found(source, path)
            if str(source) not in TASKS
            else InputError(f"{source} is a task, not a table, so it has no columns to choose.")
        )
    if not is_path and str(source) in TASKS:  # a folder with the name of a task does not hide the task
        return _of_task(get_task(str(source)), keep_actions, memory_map, seed, episodes, progress)
    if is_path and not exists:
        raise _not_found(source, path)
    if exists:
        data = read_file(path, keep_actions=keep_actions, memory_map=memory_map, table=table)
        return data if episodes is None else data.first(episodes)
    name = str(source)
    if name.startswith("minari:") or (looks_like_minari_id(name) and local_minari_folder(name) is not None):
        if memory_map:
            raise InputError(f"{name} cannot be memory-mapped; convert it to .safetensors first.")
        return read_minari_id(name.removeprefix("minari:"), keep_actions)
    raise _not_found(name, path)


def _acted(
    name: str,
    policy: str,
    keep_actions: bool,
    memory_map: bool,
    seed: int,
    episodes: int | None,
    progress: OnProgress | None,
) -> Trajectories:
    """Episodes of a Gymnasium environment, made once and then kept like those of a task."""
    import gymnasium  # here, because truths and pictures of mazes do without it

    from ..environments import collect

    if policy != "random":
        raise InputError(f"The policy is 'random', not {policy!r}; for one of your own use minaction.collect.")
    count = _EPISODES_OF_AN_ENVIRONMENT if episodes is None else episodes
    data = cached(
        f"gymnasium {name} {policy}",
        seed,
        count,
        lambda: collect(name, count, seed=seed, keep_actions=True, progress=progress),
        gymnasium.__version__,
        memory_map=memory_map,
    )
    return data if keep_actions or data.actions is None else replace(data, actions=None)


def _of_task(
    task: Task, keep_actions: bool, memory_map: bool, seed: int, episodes: int | None, progress: OnProgress | None
) -> Trajectories:
    count = task.default_episodes if episodes is None else episodes
    data = cached(
        task.name,
        seed,
        count,
        lambda: task.trajectories(seed, count, progress, keep_actions=True),
        task.recipe_version,
        memory_map=memory_map,
    )
    return data if keep_actions or data.actions is None else replace(data, actions=None)


def _not_found(source: str | Path, path: Path) -> InputError:
    try:
        beside = [other.name for other in path.parent.iterdir()]
    except (OSError, ValueError):
        beside = []
    near = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.7)
    hint = f" (did you mean {str(path.parent / near[0])!r}?)" if near else ""
    name = str(source)
    import gymnasium

    if name in gymnasium.registry:
        return InputError(f"{name} is a Gymnasium environment; give --policy random to record it with random actions.")
    if isinstance(source, Path) or path.suffix.lower() in known_suffixes() or len(path.parts) > 1:
        fetch = f"; for a Minari data set give 'minari:{name}'" if looks_like_minari_id(name) else "; check the path"
        return InputError(f"There is no file {str(path)!r}{hint}{fetch}.")
    try:
        get_task(name)
    except InputError as error:
        message = str(error)
        return InputError(f"There is no file {name!r}{hint}, and {message[:1].lower()}{message[1:]}")
    return InputError(f"There is no file {name!r}{hint}; check the path.")


class Source:
    """Data by name for every seed, and the truths that each seed is judged by; both are loaded on first use."""

    def __init__(
        self,
        name: str,
        seeds: Sequence[int] = (0,),
        episodes: int | None = None,
        table: TableOptions | None = None,
        policy: str | None = None,
    ) -> None:
        self.name, self.seeds, self.episodes, self.table, self.policy = name, tuple(seeds), episodes, table, policy
        self.task: Task | None = get_task(name) if name in TASKS and not Path(name).is_file() else None
        self._data: dict[int, Trajectories] = {}
        self._truths: dict[int, list[Truth]] = {}

    @property
    def fresh(self) -> bool:
        """Whether every seed has its own data."""
        return self.task is not None and self.task.fresh_data_per_seed

    def data(self, seed: int) -> Trajectories:
        """What a seed learns from."""
        key = seed if self.fresh else 0
        if key not in self._data:
            table = asdict(self.table) if self.table is not None else {}
            large = _is_large(self.name)
            self._data[key] = read(
                self.name, seed=key, episodes=self.episodes, memory_map=large, policy=self.policy, **table
            )
        return self._data[key]

    def truths(self, seed: int) -> list[Truth]:
        """The truths that a seed is judged by, the most important first; empty where none are known.

        Those of a task's world do not depend on the data. The observed one, the exact distances of the recorded data,
        comes last, and only where states repeat.
        """
        key = seed if self.fresh else 0
        if key not in self._truths:
            self._truths[key] = [*self._of_world, *self._observed(seed)]
        return self._truths[key]

    @cached_property
    def layout(self) -> Layout | None:
        """How to draw its states, if they can be drawn."""
        return None if self.task is None else self.task.layout()

    @cached_property
    def _of_world(self) -> list[Truth]:
        return [] if self.task is None else self.task.truths()

    def _observed(self, seed: int) -> list[Truth]:
        if self.task is not None and not self.task.fresh_data_per_seed:
            return []  # positions in mazes never repeat, and their data takes minutes to make
        data = self.data(seed)
        few = data.has_at_most(min(_MOST_OBSERVED_STATES, data.num_states // _FEWEST_VISITS))
        if not few or not met_again(data.distinct, data.offsets, _FEWEST_VISITS):
            return []
        states, distances = observed_distance(data)
        if self._of_world:  # only the states that the world's truth covers, which may leave out where episodes end
            judged = {row.tobytes() for row in self._of_world[0].sources}
            kept = np.array([row.tobytes() in judged for row in states], dtype=bool)
            states, distances = states[kept], distances[np.ix_(kept, kept)]
        unit = data.time_unit or ("steps" if data.times is None else "time")
        return [Truth.between("observed", unit, states, distances)] if len(states) else []


def _is_large(name: str) -> bool:
    path = Path(name)
    if path.suffix == ".safetensors" and path.is_file():
        return path.stat().st_size > MAPPED_ABOVE
    is_table = path.is_dir() or (path.suffix.lower() in PARQUET and path.is_file())
    return is_table and sum(file.stat().st_size for file in parquet_files(path)) > _TABLES_MAPPED_ABOVE
