"""Parquet logs: one file, or a folder of files that follow each other by name; in memory, or mapped.

A log larger than memory is written, a part after the other, to one file of ours in the cache folder, which is then
mapped; its episodes keep their numbers alone, not their names. It is made again when a file of the log changes.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import platformdirs

from ..._files import check_regular, remove_abandoned, scratch_file, write_tensors
from ..._progress import counting_progress
from ...errors import InputError, MissingExtra
from .._dataset import Trajectories
from ._checks import list_names, naming, parsing, refuse_if_too_large
from ._columns import Roles, TableOptions
from ._order import by_number
from ._tables import from_arrow, identities

SUFFIXES = (".parquet", ".pq")
_ROWS_AT_ONCE = 1 << 20
_LITTLE = 1 << 28  # bytes, which any machine has
_VERSION = 3  # of what is kept; raised when the same log would be read otherwise


def parquet_files(path: Path) -> list[Path]:
    """The files of a log: `path` itself, or those in the folder, in the order of the numbers in their names."""
    if not path.is_dir():
        return [path]
    try:
        found = [file for file in path.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file()]
    except OSError:  # a folder that may not be looked into
        return []
    return sorted(found, key=by_number)


def read_parquet(path: Path, keep_actions: bool, table: TableOptions | None = None) -> Trajectories:
    """A log in memory; a column of equally long lists counts as several columns. No other columns are read."""
    with naming(path), parsing(path, "Parquet"):
        import_arrow(path)
        import pyarrow as pa

        files = {file: _opened(file) for file in parquet_files(path)}
        roles, wanted = _wanted(files, keep_actions, table)
        stored = sum(file.stat().st_size for file in files)
        for unpacked in unpacked_sizes(files, wanted):
            refuse_if_too_large(path, "the table", unpacked, stored)
        parts = []
        for name, file in files.items():
            with parsing(name, "Parquet"):
                parts.append(file.read(columns=wanted).replace_schema_metadata())
        return from_arrow(pa.concat_tables(parts, promote_options="permissive"), roles, keep_actions)


def parquet_columns(path: Path) -> list[str]:
    """What the columns are called in the first file of a log."""
    with naming(path), parsing(path, "Parquet"):
        import_arrow(path)
        return [name for file in parquet_files(path)[:1] for name in _opened(file).schema_arrow.names]


def unpacked_sizes(files: Mapping[Path, Any], wanted: list[str]) -> Iterator[int]:
    """Bounds on what the wanted columns take in memory, of which none may be too large.

    Encodings shrink repeated values to almost nothing, so the stored size says little about the size in memory. What
    the file says of a single column is looked at only where that may be more, and after a row of it was read: pyarrow
    26 aborts the process where it is damaged in some ways, while reading raises an error.
    """
    from pyarrow.types import is_nested

    groups = [(name, file, k) for name, file in files.items() for k in range(file.metadata.num_row_groups)]
    schema = next(iter(files.values())).schema_arrow
    nested = [name for name in wanted if is_nested(schema.field(name).type)]
    yield 8 * sum(file.metadata.row_group(k).num_rows for _, file, k in groups) * len(wanted)
    if nested or sum(file.metadata.row_group(k).total_byte_size for _, file, k in groups) > _LITTLE:
        pieces = []
        for name, file, k in groups:
            with parsing(name, "Parquet"):
                next(file.iter_batches(batch_size=1, row_groups=[k], columns=wanted), None)
            places = [place for place in range(len(file.schema)) if _belongs(file.schema.column(place).path, wanted)]
            pieces += [file.metadata.row_group(k).column(place) for place in places]
        yield max(sum(piece.total_uncompressed_size for piece in pieces), 8 * sum(p.num_values for p in pieces))


def map_parquet(path: Path, keep_actions: bool, table: TableOptions | None = None) -> Trajectories:
    """A log whose states stay on disk: in our format, in the cache folder, made from it where that is not there yet."""
    kept = _kept_path(path, keep_actions, table)
    with contextlib.suppress(OSError):  # there is no such folder yet, or it may not be written to
        remove_abandoned(kept.parent, ".*")
    try:
        return Trajectories.load(kept, memory_map=True)
    except InputError:
        pass  # not there, or damaged
    with naming(path), parsing(path, "Parquet"):
        import_arrow(path)
        _convert(path, keep_actions, table, kept)
    for old in kept.parent.glob(f"{glob.escape(kept.stem.rpartition('-')[0])}-*.safetensors"):
        if old != kept:  # made of the same log before it changed
            old.unlink(missing_ok=True)
    return Trajectories.load(kept, memory_map=True)


def import_arrow(path: Path) -> None:
    """Refuse to read `path` where pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise MissingExtra(f"Reading {path}", "tables") from None


def _convert(path: Path, keep_actions: bool, table: TableOptions | None, kept: Path) -> None:
    """Write the log part by part: each array to a file of its own, and then all into one."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    files = {file: _opened(file) for file in parquet_files(path)}
    roles, wanted = _wanted(files, keep_actions, table)
    total, first = sum(file.metadata.num_rows for file in files.values()), None
    lengths: list[np.ndarray] = []
    outcomes: list[np.ndarray | None] = []
    with (
        contextlib.ExitStack() as scratch,
        counting_progress(f"reading {path}") as progress,
        warnings.catch_warnings(),
    ):
        arrays = {name: scratch.enter_context(scratch_file(kept)) for name in ("states", "times", "actions")}
        done = 0
        for part in _whole_episodes(files, wanted, [roles.names[k] for k in roles.episode]):
            data = from_arrow(part, roles, keep_actions)
            first = first or data
            if (data.columns, data.time_unit, data.states.dtype) != (
                first.columns,
                first.time_unit,
                first.states.dtype,
            ):
                raise InputError(f"The columns from row {done} on are not what they are before; name them (--states).")
            lengths.append(data.lengths)
            outcomes.append(data.succeeded)
            for name, values in (("states", data.states), ("times", _times(data, roles)), ("actions", data.actions)):
                if values is not None:
                    arrays[name].write(np.ascontiguousarray(values).data)
            done += part.num_rows
            progress(done, total)
            warnings.simplefilter("ignore")  # of a column that grows was warned with the first part
        for file in arrays.values():
            file.flush()
        if first is None:
            raise InputError("There are no rows; record at least two states.")
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
        tensors = {"states": _mapped(arrays["states"], first.states), "offsets": offsets}
        for name, values in (("times", _times(first, roles)), ("actions", first.actions)):
            if values is not None:
                tensors[name] = _mapped(arrays[name], values)
        known = [each for each in outcomes if each is not None]
        if len(known) == len(outcomes):
            tensors["succeeded"] = np.concatenate(known)
        header = {"made": {"from": str(path)}, "columns": list(first.columns), "time_unit": first.time_unit}
        write_tensors(kept, "trajectories", tensors, header)


def _whole_episodes(files: Mapping[Path, Any], wanted: list[str], episode: list[str]) -> Iterator[Any]:
    """The rows in parts of about a million, each of whole episodes; an episode has to fit into memory."""
    import pyarrow as pa

    rest, seen = None, set()
    for batch in _batches(files, wanted):
        part = pa.Table.from_batches([batch]).replace_schema_metadata()
        part = part if rest is None else pa.concat_tables([rest, part], promote_options="permissive")
        ids = identities(part, episode)
        numbers = (ids.indices if hasattr(ids, "indices") else ids).to_numpy(zero_copy_only=False)
        begins = int(np.flatnonzero(numbers != numbers[-1]).max(initial=-1)) + 1
        whole = ids.slice(0, begins).unique().to_pylist()
        if len(whole) == begins:  # there is no episode yet that has a transition
            rest = part
            continue
        for identity in whole:
            if identity in seen:
                raise InputError(f"Episode {identity!r} goes on after another episode; sort the rows by episode.")
            seen.add(identity)
        yield part.slice(0, begins)
        rest = part.slice(begins)
    if rest is not None:
        if (identity := identities(rest, episode)[0].as_py()) in seen:
            raise InputError(f"Episode {identity!r} goes on after another episode; sort the rows by episode.")
        yield rest


def _batches(files: Mapping[Path, Any], wanted: list[str]) -> Iterator[Any]:
    for name, file in files.items():
        batches = file.iter_batches(_ROWS_AT_ONCE, columns=wanted)
        while True:
            with parsing(name, "Parquet"):
                batch = next(batches, None)
            if batch is None:
                break
            yield batch


def _times(data: Trajectories, roles: Roles) -> np.ndarray | None:
    """Of a part; counted where rows may have been dropped from another."""
    if data.times is not None or roles.options.missing != "drop":
        return data.times
    return (np.arange(data.num_states) - np.repeat(data.offsets[:-1], data.lengths)).astype(np.float64)


def _mapped(file: IO[bytes], like: np.ndarray) -> np.ndarray:
    return np.memmap(file, like.dtype, "r").reshape(-1, *like.shape[1:])


def _wanted(files: Mapping[Path, Any], keep_actions: bool, table: TableOptions | None) -> tuple[Roles, list[str]]:
    if not files:
        raise InputError("There are no Parquet files in it; give the folder that holds them.")
    roles = Roles(next(iter(files.values())).schema_arrow.names, table or TableOptions())
    actions = roles.actions if keep_actions else ()
    used = [*roles.episode, roles.time, roles.nanoseconds, roles.success, *roles.states, *actions]
    wanted = [roles.names[k] for k in used if k is not None]
    _refuse_other_columns(files, wanted)
    return roles, wanted


def _refuse_other_columns(files: Mapping[Path, Any], wanted: list[str]) -> None:
    """Refuse a file that lacks what is read of the first, or holds text, say, where the first has numbers."""
    import pyarrow as pa

    (first, opened), *others = files.items()
    schema = opened.schema_arrow
    for path, file in others:
        if lacking := [name for name in wanted if name not in file.schema_arrow.names]:
            raise InputError(
                f"{path} lacks {list_names(lacking)} (it has {list_names(file.schema_arrow.names)}), unlike "
                f"{first.name}; give all files the same columns, or name those to read (--states)."
            )
        for name in wanted:
            fields = [schema.field(name), file.schema_arrow.field(name)]
            try:
                pa.unify_schemas([pa.schema([field]) for field in fields], promote_options="permissive")
            except pa.ArrowException:
                its, other = (getattr(field.type, "value_type", field.type) for field in fields)  # texts as `_opened`
                raise InputError(
                    f"{path} holds {other} in column {name!r}, in which {first.name} holds {its}; write all files with "
                    "the same types."
                ) from None


def _opened(path: Path) -> Any:
    """A Parquet file, whose texts are read as a dictionary and numbers of its entries: repeated ones cost nothing."""
    import pyarrow.parquet as parquet
    import pyarrow.types as types

    with parsing(path, "Parquet"):
        schema = parquet.read_schema(path)
        texts = [field.name for field in schema if types.is_string(field.type) or types.is_binary(field.type)]
        # With `pre_buffer` all that was read of a file stays in memory until it is closed.
        return parquet.ParquetFile(path, read_dictionary=texts, pre_buffer=False)


def _belongs(path: str, wanted: list[str]) -> bool:
    """Whether a stored column is one of those wanted, or a part of one."""
    return any(path == name or path.startswith(f"{name}.") for name in wanted)


def _kept_path(path: Path, keep_actions: bool, table: TableOptions | None) -> Path:
    """Where a log is kept: its name says which log, and what is made of its columns; and then what is in its files."""
    try:
        files = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in parquet_files(path)]
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path.") from error
    of_log = _digest((str(path.resolve()), keep_actions, table or TableOptions()))
    return (
        Path(platformdirs.user_cache_dir("minaction")) / "tables" / f"{path.stem}-{of_log}-{_digest(files)}.safetensors"
    )


def _digest(described: object) -> str:
    return hashlib.sha256(repr((_VERSION, described)).encode()).hexdigest()[:16]


def read_columns(files: list[Path], wanted: list[str]) -> Any:
    """Some columns of several files of one data set, as one Arrow table."""
    import pyarrow as pa

    return pa.concat_tables([one.read(columns=wanted).replace_schema_metadata() for one in open_files(files, wanted)])


def open_files(files: list[Path], wanted: list[str]) -> list[Any]:
    """The files of one data set, opened, unless one lacks a column or they would take too much memory."""
    import pyarrow.parquet as parquet

    for path in files:
        check_regular(path)
    opened = [parquet.ParquetFile(path) for path in files]
    for path, file in zip(files, opened, strict=True):
        if missing := set(wanted) - set(file.schema_arrow.names):
            raise InputError(f"{path.name} lacks {list_names(sorted(missing))}; download the data set again.")
    for unpacked in unpacked_sizes(dict(zip(files, opened, strict=True)), wanted):
        refuse_if_too_large(files[0].parent, "the data set", unpacked, sum(path.stat().st_size for path in files))
    return opened
