"""Conversion of frozen descriptions (objectives, encoders, quasimetrics) to and from JSON, TOML and command lines.

A description is a frozen dataclass with a `name` and a `family`. As JSON it is its name and all its fields::

    {"name": "mlp", "hidden": [512, 256], "latent": 64, ...}

Users write less: only a name, or the fields to change, with a dot before the fields of a part::

    quasimetric=iqe quasimetric.component_size=8 encoder.fourier=64 encoder.hidden=256,256 learning_rate=1e-3
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import InputError, unknown_name
from .registry import Registry

Described = TypeVar("Described")


def describe(member: Any) -> dict[str, Any]:
    """A full description of `member`, as JSON values."""
    values = {field.name: getattr(member, field.name) for field in _settable(type(member))}
    return {"name": member.name, **{name: _plain(value) for name, value in values.items()}}


def _plain(value: Any) -> Any:
    if _is_described(value):
        return describe(value)
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


def make(family: Registry[Any], description: Any) -> Any:
    """The member for a description: a member itself, its class, its name, or a mapping with its name and fields."""
    if isinstance(description, str):
        return _with_name(family, description, {})
    if isinstance(description, Mapping):
        fields = dict(description)
        name = fields.pop("name", None)
        if not isinstance(name, str):
            raise InputError(f"The description of {_a(family.kind)} has no name; choose from {', '.join(family)}.")
        return _with_name(family, name, fields)
    if dataclasses.is_dataclass(description) and getattr(description, "family", None) is family:
        return _built(description, {}) if isinstance(description, type) else description
    raise InputError(f"{description!r} is not {_a(family.kind)}; give a name, such as {next(iter(family))!r}.")


def _with_name(family: Registry[Any], name: str, fields: Mapping[str, Any]) -> Any:
    member = family[name]
    return _built(member, fields) if isinstance(member, type) else with_settings(member, fields)


def with_settings(member: Described, settings: Mapping[str, Any]) -> Described:
    """`member` with some fields changed; values may be text, as on a command line."""
    now = {field.name: getattr(member, field.name) for field in _settable(type(member))}
    changes = _changes(type(member), settings, now)
    with _refusing(member):
        return dataclasses.replace(member, **changes)  # type: ignore[type-var]


def _built(kind: type, fields: Mapping[str, Any]) -> Any:
    """A member of class `kind`; fields that are not given have their defaults."""
    defaults: dict[str, Any] = {}
    for field in _settable(kind):
        if field.default is not dataclasses.MISSING:
            defaults[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = field.default_factory()
    changes = _changes(kind, fields, defaults)
    with _refusing(kind):
        return kind(**changes)


@contextlib.contextmanager
def _refusing(member: Any) -> Iterator[None]:
    """Turns any exception of a member's own checks into one sentence."""
    try:
        yield
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"The {member.family.kind} {member.name!r} cannot be built ({error}).") from error


def _settable(kind: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if field.init]


def _is_described(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and isinstance(getattr(value, "family", None), Registry)


def _changes(kind: Any, settings: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """`settings` as values for the fields of `kind`, whose current values are `now`."""
    hints = get_type_hints(kind)
    known = [field.name for field in _settable(kind)]
    changes: dict[str, Any] = {}
    for key, value in _nested(settings).items():
        if key not in known:
            raise unknown_name(f"setting of {kind.name}", key, _all_settings(known, now))
        changes[key] = _converted(key, value, hints[key], now.get(key))
    return changes


def _nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """{"a": "x", "a.b": 1} as {"a": {"name": "x", "b": 1}}."""
    nested: dict[str, Any] = {key: value for key, value in settings.items() if "." not in key}
    for key, value in settings.items():
        owner, dot, rest = key.partition(".")
        if not dot:
            continue
        part = nested.get(owner, {})
        if _is_described(part):
            nested[owner] = with_settings(part, {rest: value})
        elif isinstance(part, str | Mapping):
            nested[owner] = {**({"name": part} if isinstance(part, str) else part), rest: value}
        else:
            raise InputError(f"{owner} is {part!r}, which has no settings of its own, such as {rest!r}.")
    return nested


def _all_settings(known: Iterable[str], now: Mapping[str, Any], prefix: str = "") -> list[str]:
    found = []
    for name in known:
        found.append(prefix + name)
        part = now.get(name)
        if _is_described(part):
            inner = {field.name: getattr(part, field.name) for field in _settable(type(part))}
            found += _all_settings(inner, inner, f"{prefix}{name}.")
    return found


def _converted(name: str, value: Any, kind: Any, now: Any) -> Any:
    """`value`, which may be text, converted for a field of type `kind` whose current value is `now`."""
    if get_origin(kind) in (Union, types.UnionType):  # only ever "some type or None"
        if value is None or (isinstance(value, str) and value.strip().lower() == "none"):
            return None
        kind = next(option for option in get_args(kind) if option is not type(None))
    family = getattr(kind, "family", None)
    if isinstance(family, Registry):
        return _part(family, value, now)
    try:
        return _simple(value, kind)
    except InputError:
        raise
    except (TypeError, ValueError, SyntaxError):
        raise InputError(f"{name} should be {_wanted(kind)}, not {value!r}.") from None


def _part(family: Registry[Any], value: Any, now: Any) -> Any:
    """A description inside a description: another member, or the current one with some fields changed."""
    if isinstance(value, Mapping) and now is not None and value.get("name", now.name) == now.name:
        return with_settings(now, {key: item for key, item in value.items() if key != "name"})
    return make(family, value)


def _simple(value: Any, kind: Any) -> Any:
    if isinstance(getattr(kind, "family", None), Registry):
        return make(kind.family, value)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError
        return value
    if get_origin(kind) is tuple:
        return _several(value, get_args(kind)[0])
    if kind is bool:
        return _boolean(value)
    if kind is int:
        return _integer(value)
    if kind is float and not isinstance(value, bool):
        return float(value)
    if kind is Any or (isinstance(kind, type) and isinstance(value, kind)):
        return value
    raise ValueError


def _wanted(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(repr, get_args(kind)))}"
    if get_origin(kind) is tuple:
        return "numbers such as 512,256"
    return {str: "text", bool: "true or false", int: "a whole number", float: "a number"}.get(kind, str(kind))


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.strip().lower() not in ("true", "false"):
        raise ValueError
    return value.strip().lower() == "true"


def _integer(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError
    return int(value)


def _several(value: Any, kind: Any) -> tuple[Any, ...]:
    """Several numbers, such as "512,256", or several members of a family, such as "simple,l1"."""
    if isinstance(value, str):
        value = value.split(",") if isinstance(getattr(kind, "family", None), Registry) else ast.literal_eval(value)
        if isinstance(value, str):
            raise ValueError
    items = value if isinstance(value, tuple | list) else (value,)
    return tuple(_simple(item.strip() if isinstance(item, str) else item, kind) for item in items)


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
