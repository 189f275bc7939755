"""A trained model as an ONNX graph of plain operators, for ONNX Runtime and whatever else reads ONNX.

>>> import minaction as ma
>>> ma.fit("cliffwalking", steps=1, progress=False).export("/tmp/minaction-example.onnx")
>>> import onnxruntime
>>> session = onnxruntime.InferenceSession("/tmp/minaction-example.onnx")
>>> session.run(None, {"states": [[0.0, 1.0]], "goals": [[1.0, 0.0]]})[0].shape
(1,)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from ..errors import InputError, MissingExtra, unknown_name

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError:
    raise MissingExtra("An export to ONNX", "onnx") from None

from . import _formulas
from ._agent_file import StoredAgent
from ._file import Stored

Part = Literal["distance", "encoder", "quasimetric"]
"""distance: of `states` and `goals`, both (n, *state_shape); encoder: `embeddings` of `states`; quasimetric: the
`distance` of the embeddings `x` and `y`, both (n, latent)."""

_OPSET, _IR_VERSION = 18, 10  # old enough for most runtimes in use; 18 has reductions with axes as inputs


def serialise(stored: Stored, part: Part = "distance") -> bytes:
    """The graph as the bytes of an .onnx file; n, the number of rows, is free."""
    if part not in get_args(Part):
        raise unknown_name("part of a model", str(part), get_args(Part))
    _require_near_zero(stored.origin)
    graph = _Graph()
    weights = {name: graph.constant(weight, name) for name, weight in stored.weights.items()}
    kind = helper.np_dtype_to_tensor_dtype(_recorded(stored.state_dtype))
    latent = _latent(stored)

    def embedded(name: str) -> _Value:
        rows = graph.as_rows(graph.input(name, kind, stored.state_shape))
        return _formulas.encoder(graph, stored.encoder, weights)(rows)

    if part == "encoder":
        graph.output(embedded("states"), "embeddings", (latent,))
        return graph.serialise()
    if part == "distance":
        x, y = embedded("states"), embedded("goals")
    else:
        x, y = (graph.input(name, TensorProto.FLOAT, (latent,)) for name in ("x", "y"))
    found = _formulas.quasimetric(graph, stored.quasimetric, weights)(x, y)
    graph.output(found if stored.step_time == 1.0 else found * stored.step_time, "distance", ())
    return graph.serialise()


def serialise_policy(stored: StoredAgent) -> bytes:
    """An agent's local policy as the bytes of an .onnx file.

    It takes `states` and `subgoals`, both (n, D), and gives `actions`: numbers (n, A) within the bounds of the recorded
    ones, or the likeliest choices (n,), beside the `scores` (n, choices) of all.
    """
    _require_near_zero(stored.origin)
    graph = _Graph()
    weights = {name: graph.constant(weight, name) for name, weight in stored.weights.items()}
    kind = helper.np_dtype_to_tensor_dtype(_recorded(stored.model.state_dtype))
    given = [graph.as_rows(graph.input(name, kind, stored.model.state_shape)) for name in ("states", "subgoals")]
    found = _formulas.policy(graph, stored.hidden, stored.heading, weights)(*given)
    if stored.choices:
        likeliest = graph.node("ArgMax", found, axis=-1, keepdims=0)
        graph.output(likeliest, "actions", (), TensorProto.INT64)
        graph.output(found, "scores", (stored.choices,))
    else:
        within = graph.node("Min", graph.node("Max", found, graph.constant(stored.low)), graph.constant(stored.high))
        graph.output(within, "actions", stored.low.shape)
    return graph.serialise()


def _require_near_zero(origin: np.ndarray | None) -> None:
    if origin is not None:
        raise InputError(
            "The recorded states lie so far from zero that float32, in which an ONNX graph takes them, cannot tell "
            "them apart; record them from an origin of your own and train again."
        )


def _recorded(dtype: str) -> np.dtype[Any]:
    """The type in which states are given; the distance is of float32, however long the recorded numbers are."""
    return np.dtype(np.float32) if np.dtype(dtype).kind == "f" else np.dtype(dtype)


def _latent(stored: Stored) -> int | None:
    """How many numbers an embedding has; None, a free axis, where the encoder is somebody's own."""
    description = stored.encoder
    while description.get("name") == "ensemble":
        description = description["base"]
    return description.get("latent")


class _Value:
    """The output of a node; arithmetic on it adds nodes."""

    def __init__(self, graph: _Graph, name: str) -> None:
        self.graph, self.name, self.size = graph, name, 0
        self.shape: tuple[int, ...] = ()  # of a constant

    def of(self, size: int) -> _Value:
        """Itself, with a last axis of which the length is known."""
        self.size = size
        return self

    def __add__(self, other: _Value | float) -> _Value:
        return self.graph.node("Add", self, other)

    def __sub__(self, other: _Value) -> _Value:
        return self.graph.node("Sub", self, other)

    def __mul__(self, other: _Value | float) -> _Value:
        return self.graph.node("Mul", self, other)

    def __truediv__(self, other: _Value | float) -> _Value:
        return self.graph.node("Div", self, other)

    def __matmul__(self, other: _Value) -> _Value:
        return self.graph.node("MatMul", self, other)


class _Graph:
    """A graph under construction, and the operations that the formulas add to it."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    # ---------------------------------------------------------------- building

    def constant(self, value: Any, name: str | None = None) -> _Value:
        name = name or f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(value), name))
        made = _Value(self, name)
        made.shape = np.shape(value)
        return made

    def input(self, name: str, kind: int, shape: tuple[int | None, ...]) -> _Value:
        self._inputs.append(helper.make_tensor_value_info(name, kind, ["n", *shape]))
        return _Value(self, name)

    def output(self, value: _Value, name: str, shape: tuple[int | None, ...], kind: int = TensorProto.FLOAT) -> None:
        self._nodes.append(helper.make_node("Identity", [value.name], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, kind, ["n", *shape]))

    def nodes(self, operator: str, count: int, *inputs: _Value | float, **attributes: Any) -> list[_Value]:
        given = [value if isinstance(value, _Value) else self.constant(np.float32(value)) for value in inputs]
        names = [f"{operator}_{len(self._nodes)}_{k}" for k in range(count)]
        self._nodes.append(helper.make_node(operator, [value.name for value in given], names, **attributes))
        return [_Value(self, name) for name in names]

    def node(self, operator: str, *inputs: _Value | float, **attributes: Any) -> _Value:
        return self.nodes(operator, 1, *inputs, **attributes)[0]

    def serialise(self) -> bytes:
        used = {name for node in self._nodes for name in node.input}
        constants = [constant for constant in self._constants if constant.name in used]
        graph = helper.make_graph(self._nodes, "minaction", self._inputs, self._outputs, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)
        model.producer_name = "minaction"
        onnx.checker.check_model(model)
        return model.SerializeToString()

    def as_rows(self, states: _Value) -> _Value:
        """(n, *shape) as float32 (n, size)."""
        return self.node("Flatten", self.node("Cast", states, to=TensorProto.FLOAT), axis=1)

    # ---------------------------------------------------------------- the operations of the formulas

    def relu(self, x: _Value) -> _Value:
        return self.node("Relu", x)

    def selu(self, x: _Value) -> _Value:
        return self.node("Selu", x)

    def tanh(self, x: _Value) -> _Value:
        return self.node("Tanh", x)

    def sigmoid(self, x: _Value) -> _Value:
        return self.node("Sigmoid", x)

    def sin(self, x: _Value) -> _Value:
        return self.node("Sin", x)

    def cos(self, x: _Value) -> _Value:
        return self.node("Cos", x)

    def exp(self, x: _Value) -> _Value:
        return self.node("Exp", x)

    def log(self, x: _Value) -> _Value:
        return self.node("Log", x)

    def erf(self, x: _Value) -> _Value:
        return self.node("Erf", x)

    def sign(self, x: _Value) -> _Value:
        return self.node("Sign", x)

    def abs(self, x: _Value) -> _Value:
        return self.node("Abs", x)

    def root(self, x: _Value) -> _Value:
        return self.node("Sqrt", x)

    def fixed(self, x: _Value) -> _Value:
        return x

    def at_least(self, x: _Value, least: float) -> _Value:
        return self.node("Max", x, least)

    def sum(self, x: _Value) -> _Value:
        return self.node("ReduceSum", x, self._whole(-1), keepdims=0)

    def mean(self, x: _Value, keep: bool = False) -> _Value:
        return self.node("ReduceMean", x, self._whole(-1), keepdims=int(keep))

    def max(self, x: _Value, keep: bool = False) -> _Value:
        return self.node("ReduceMax", x, self._whole(-1), keepdims=int(keep))

    def single(self, x: _Value) -> _Value:
        return self.node("Squeeze", x, self._whole(-1))

    def split(self, x: _Value, size: int) -> _Value:
        return self.node("Reshape", x, self._whole(0, -1, size)).of(size)

    def halves(self, x: _Value) -> Sequence[_Value]:
        return self.nodes("Split", 2, x, axis=-1, num_outputs=2)

    def join(self, parts: Sequence[_Value]) -> _Value:
        return self.node("Concat", *parts, axis=-1)

    def transpose(self, x: _Value) -> _Value:
        return self.node("Transpose", x)

    def flattened(self, x: _Value) -> _Value:
        return self.node("Reshape", x, self._whole(-1))

    def arranged(self, x: _Value, shape: Sequence[int], order: Sequence[int], into: Sequence[int]) -> _Value:
        images = self.node("Reshape", x, self._whole(-1, *shape))
        images = self.node("Transpose", images, perm=[0, *(axis + 1 for axis in order)])
        return self.node("Reshape", images, self._whole(-1, *into))

    def convolved(self, x: _Value, weight: _Value) -> _Value:
        found = self.node(
            "Conv",
            self.node("Transpose", x, perm=[0, 3, 1, 2]),
            self.node("Transpose", weight, perm=[3, 2, 0, 1]),
            kernel_shape=[3, 3],
            pads=[1, 1, 1, 1],
        )
        return self.node("Transpose", found, perm=[0, 2, 3, 1])

    def halved(self, x: _Value) -> _Value:
        found = self.node(
            "MaxPool",
            self.node("Transpose", x, perm=[0, 3, 1, 2]),
            kernel_shape=[3, 3],
            pads=[1, 1, 1, 1],
            strides=[2, 2],
        )
        return self.node("Transpose", found, perm=[0, 2, 3, 1])

    def rows(self, x: _Value) -> _Value:
        return self.node("Flatten", x, axis=1)

    def larger(self, x: _Value, y: _Value) -> _Value:
        return self.node("Max", x, y).of(x.size)

    def sorted(self, x: _Value) -> _Value:
        return self.nodes("TopK", 2, x, self._whole(x.size), largest=0)[0].of(x.size)

    def covered(self, low: _Value, high: _Value) -> _Value:
        after = self.node("Max", self._slice(low, 1, low.size), self._slice(high, 0, high.size - 1))
        return self.join([self._slice(low, 0, 1), after])

    def _slice(self, x: _Value, start: int, end: int) -> _Value:
        return self.node("Slice", x, self._whole(start), self._whole(end), self._whole(-1))

    def _whole(self, *numbers: int) -> _Value:
        return self.constant(np.array(numbers, np.int64))
