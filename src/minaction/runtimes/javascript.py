"""A trained model for a web page: the list of operations that `_formulas` performs, and the weights.

`page/model.js` carries the operations out. It knows no encoder and no quasimetric: a new one needs a change there only
if it needs a new operation.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from . import _formulas
from ._file import Stored

SCRIPT = Path(__file__).parent / "page" / "model.js"
"""Defines `Model`, whose constructor takes what `describe` returns."""


def describe(stored: Stored) -> dict[str, Any]:
    """What `new Model(...)` takes, as JSON has it: two programs, the weights in base64, and what a state is."""
    encoder, quasimetric = _Program(stored.weights), _Program(stored.weights)
    encode = _formulas.encoder(cast(Any, encoder), stored.encoder, encoder.weights)
    encoder.output = encode(encoder.input()).place
    measure = _formulas.quasimetric(cast(Any, quasimetric), stored.quasimetric, quasimetric.weights)
    quasimetric.output = measure(quasimetric.input(), quasimetric.input()).place
    weights, places = [], {}
    for name in sorted({*encoder.used, *quasimetric.used}):
        weight = np.ascontiguousarray(stored.weights[name], "<f4")
        places[name] = {"start": sum(map(np.size, weights)), "shape": list(weight.shape)}
        weights.append(weight.ravel())
    content = np.concatenate(weights) if weights else np.zeros(0, "<f4")
    return {
        "encoder": {"steps": encoder.steps, "output": encoder.output},
        "quasimetric": {"steps": quasimetric.steps, "output": quasimetric.output},
        "places": places,
        "weights": base64.b64encode(content.tobytes()).decode(),
        "size": int(np.prod(stored.state_shape, dtype=np.int64)),
        "origin": None if stored.origin is None else stored.origin.ravel().tolist(),
        "time": stored.step_time,
    }


class _Value:
    """What a step of a program makes; arithmetic on it adds steps."""

    def __init__(self, program: _Program, place: int) -> None:
        self.program, self.place = program, place
        self.shape: tuple[int, ...] = ()  # of a weight

    def __add__(self, other: _Value | float) -> _Value:
        return self.program.step("add", self, other)

    def __sub__(self, other: _Value | float) -> _Value:
        return self.program.step("subtract", self, other)

    def __mul__(self, other: _Value | float) -> _Value:
        return self.program.step("multiply", self, other)

    def __truediv__(self, other: _Value | float) -> _Value:
        return self.program.step("divide", self, other)

    def __matmul__(self, other: _Value) -> _Value:
        return self.program.step("matmul", self, other)


class _Program:
    """The operations of the formulas, written down: each step names earlier steps by their number."""

    def __init__(self, weights: _formulas.Weights) -> None:
        self.steps: list[dict[str, Any]] = []
        self.output = 0
        self.used: set[str] = set()
        self.weights = _Weights(self, weights)

    def step(self, operation: str, *values: _Value | float, **settings: Any) -> _Value:
        given = [one if isinstance(one, _Value) else self.step("constant", value=float(one)) for one in values]
        self.steps.append({"do": operation, "of": [one.place for one in given], **settings})
        return _Value(self, len(self.steps) - 1)

    def input(self) -> _Value:
        return self.step("input")

    def weight(self, name: str) -> _Value:
        self.used.add(name)
        return self.step("weight", name=name)

    def arranged(self, x: _Value, shape: Sequence[int], order: Sequence[int], into: Sequence[int]) -> _Value:
        return self.step("arranged", x, shape=list(shape), order=list(order), into=list(into))

    def fixed(self, x: _Value) -> _Value:
        return x

    def at_least(self, x: _Value, least: float) -> _Value:
        return self.step("at_least", x, least=least)

    def mean(self, x: _Value, keep: bool = False) -> _Value:
        return self.step("mean", x, keep=keep)

    def max(self, x: _Value, keep: bool = False) -> _Value:
        return self.step("max", x, keep=keep)

    def split(self, x: _Value, size: int) -> _Value:
        return self.step("split", x, size=size)

    def halves(self, x: _Value) -> tuple[_Value, _Value]:
        both = self.step("halves", x)
        return self.step("pick", both, index=0), self.step("pick", both, index=1)

    def join(self, parts: Sequence[_Value]) -> _Value:
        return self.step("join", *parts)

    def __getattr__(self, operation: str) -> Any:
        """Every other operation takes values alone, and has the same name in `model.js`."""
        if operation.startswith("_"):
            raise AttributeError(operation)
        return lambda *values: self.step(operation, *values)


class _Weights(dict[str, Any]):
    """The weights as steps of a program, each at the place where it is asked for."""

    def __init__(self, program: _Program, weights: _formulas.Weights) -> None:
        super().__init__(weights)
        self._program = program

    def __getitem__(self, name: str) -> _Value:
        shape = np.shape(super().__getitem__(name))  # a missing one is a KeyError here, as in every runtime
        made = self._program.weight(name)
        made.shape = shape
        return made
