"""`minaction progress`: remaining time and wasted stretches of recorded episodes."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from .._files import atomic_write
from .._model import DistanceModel
from .._remaining import Progress as Along
from ..errors import InputError, MissingExtra
from ..tasks import Source
from ..training import Run
from ..trajectories import Trajectories
from ._options import Progress
from ._show import make_console
from ._table import table_options


def progress(options: Progress) -> int:
    """Write the table, and show the episodes that lost most."""
    if options.out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"Cannot write {options.out}: its ending must be .csv or .parquet.")
    models, data = _models_and_data(options)
    goals = np.array(options.goal) if options.goal else data
    remaining = np.mean([model.remaining(data.states, goals) for model in models], axis=0)
    starts, ends = data.offsets[:-1], data.offsets[1:]
    episodes = [
        Along(episode.times, remaining[start:end], models[0].unit)
        for episode, start, end in zip(data, starts, ends, strict=True)
    ]
    _write(options.out, data, episodes)
    console = make_console()
    _show(console, episodes, options.worst)
    console.print(f"table   {options.out}", highlight=False, markup=False, soft_wrap=True)
    return 0


def _models_and_data(options: Progress) -> tuple[list[DistanceModel], Trajectories]:
    table = table_options(options)
    if not options.run.is_dir():
        if options.log is None:
            raise InputError("A model file does not say which log is meant; give the log after it.")
        return [DistanceModel.load(options.run)], Source(options.log, table=table).data(0)
    run = Run.open(options.run)
    config = run.config
    models = [DistanceModel.load(run.model_path(seed)) for seed in config.seeds]
    is_table = options.log is None or Path(options.log).suffix.lower() in (".csv", ".parquet", ".pq")
    table = table or (config.table if is_table else None)
    episodes = config.episodes if options.log is None else None
    return models, Source(options.log or config.data, config.seeds, episodes, table).data(config.seeds[0])


def _write(path: Path, data: Trajectories, episodes: list[Along]) -> None:
    columns: dict[str, Any] = {
        "episode": np.repeat(np.arange(len(data)), data.lengths),
        "frame_index": np.concatenate([np.arange(length) for length in data.lengths]),
        "time": np.concatenate([one.times for one in episodes]),
        "remaining": np.concatenate([one.remaining for one in episodes]),
        "done": np.concatenate([one.done for one in episodes]),
        "waste": np.concatenate([one.waste for one in episodes]),
        "wasted": np.concatenate([one.wasted for one in episodes]).astype(np.int8),
    }
    if path.suffix.lower() == ".parquet":
        try:
            import pyarrow as pa
            import pyarrow.parquet as parquet
        except ImportError:
            raise MissingExtra(f"Writing {path}", "tables") from None
        with atomic_write(path) as file:
            parquet.write_table(pa.table(columns), file)
        return
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(columns)
    rows.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())


def _show(console: Console, episodes: list[Along], worst: int) -> None:
    unit = episodes[0].unit or "actions"
    order = sorted(range(len(episodes)), key=lambda k: (not episodes[k].finished, episodes[k].lost), reverse=True)
    finished = sum(one.finished for one in episodes)
    title = f"Episodes that went worst ({finished} of {len(episodes)} finished; times in {unit})"
    table = Table(title=title, title_justify="left")
    for name in ("episode", "took", "lost", "left at the end", "finished", "longest stretch wasted (rows)"):
        table.add_column(name, justify="right")
    for k in order[: max(0, worst)]:
        one = episodes[k]
        longest = max(one.stretches, key=lambda stretch: stretch.lost, default=None)
        table.add_row(
            str(k),
            f"{one.times[-1] - one.times[0]:.2f}",
            f"{one.lost:.2f}",
            f"{one.remaining[-1]:.2f}",
            "yes" if one.finished else "no",
            "" if longest is None else f"{longest.start} to {longest.stop - 1}: {longest.lost:.2f}",
        )
    console.print(table)
