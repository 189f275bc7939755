"""Seeded mutations of files, and what reading one comes to."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

from kinds import Kind

from minaction.errors import InputError

_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**6,
    10**30,
    1e308,
    0.5,
    "",
    "two",
    "[/red]x",
    [],
    [[]],
    {},
    {"a": 1},
    "\udcff",
)


_WIDTHS = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "U8": 1, "BOOL": 1, "F8_E4M3": 1}


def mutated(good: bytes, chance: random.Random, is_json: bool) -> bytes:
    """`good` with something wrong."""
    if is_json and chance.random() < 0.6:
        return _other_value(good, chance)
    bad = bytearray(good)
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        place = chance.randrange(len(bad) + 1)
        kind = chance.randrange(7)
        if kind == 0 and bad:
            bad[place % len(bad)] ^= 1 << chance.randrange(8)
        elif kind == 1 and bad:
            bad[place % len(bad)] = chance.choice((0, 255, 127, 128, 10, 34, 91))
        elif kind == 2:
            del bad[place:]
        elif kind == 3:
            bad[place:place] = chance.randbytes(chance.randrange(1, 20))
        elif kind == 4:
            other = chance.randrange(len(bad) + 1)
            bad[place:place] = bad[other : other + 64]
        elif kind == 5:
            bad[place : place + 8] = chance.choice((1 << 31, 1 << 40, (1 << 63) - 1, 0)).to_bytes(8, "little")
        else:
            del bad[place : place + chance.randrange(1, 64)]
    return bytes(bad)


def _other_value(good: bytes, chance: random.Random) -> bytes:
    """A JSON file, or header, with one value of another kind, a key too few, or brackets without end."""
    if chance.random() < 0.02:
        return chance.choice((b"[", b'{"a":')) * 100_000
    if good[8:9] == b"{":  # a header behind eight bytes that say how long it is
        length = int.from_bytes(good[:8], "little")
        entries, arrays = json.loads(good[8 : 8 + length]), good[8 + length :]
        if chance.random() < 0.4:
            return _with_header(*_other_array(entries, arrays, chance))
        ours = entries["__metadata__"]["minaction"].encode()
        entries["__metadata__"]["minaction"] = _other_value(ours, chance).decode(errors="replace")
        return _with_header(entries, arrays)
    value = json.loads(good.splitlines()[0] if b"}\n{" in good else good)
    places: list[tuple[Any, Any]] = []

    def visit(item: Any) -> None:
        for key in list(item) if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ():
            places.append((item, key))
            visit(item[key])

    visit(value)
    if not places or chance.random() < 0.05:
        return json.dumps(chance.choice(_ODD)).encode()
    item, key = chance.choice(places)
    if isinstance(item, dict) and chance.random() < 0.2:
        del item[key]
    else:
        item[key] = chance.choice(_ODD)
    return json.dumps(value).encode() + b"\n"


def _with_header(entries: dict[str, Any], arrays: bytes) -> bytes:
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + arrays


def _other_array(entries: dict[str, Any], arrays: bytes, chance: random.Random) -> tuple[dict[str, Any], bytes]:
    """As well-formed as before, but one array is missing, has another name, shape or type, or odd numbers."""
    values = {name: arrays[slice(*entry["data_offsets"])] for name, entry in entries.items() if "dtype" in entry}
    name = chance.choice(list(values))
    entry, array = entries[name], values[name]
    kind = chance.randrange(5)
    if kind == 0:
        del entries[name], values[name]
    elif kind == 1:
        entries[name + "x"], values[name + "x"] = entries.pop(name), values.pop(name)
    elif kind == 2:
        entry["shape"] = chance.choice(([], [0], [1], [3, 2], [1, *entry["shape"]], [n + 1 for n in entry["shape"]]))
    elif kind == 3:
        entry["dtype"] = chance.choice(list(_WIDTHS))
    else:
        odd = chance.choice((b"\0", b"\1", b"\xff", b"\x7f", b"\0\0\x80\x7f"))  # the last are infinite
        values[name] = (odd * len(array))[: len(array)]
    if kind in (2, 3):
        size = _WIDTHS[entry["dtype"]] * math.prod(entry["shape"])
        values[name] = array[:size].ljust(size, b"\1")
    position = 0
    for name, value in values.items():
        entries[name]["data_offsets"] = [position, position := position + len(value)]
    return entries, b"".join(values.values())


def outcome(kind: Kind, path: Path) -> str:
    """ "read", "refused", or the exception that should not have come out, with what it says."""
    try:
        kind.read(path)
    except InputError:
        return "refused"
    except Exception as error:
        import traceback

        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:120]} ({Path(last.filename).name}:{last.lineno})"
    return "read"
