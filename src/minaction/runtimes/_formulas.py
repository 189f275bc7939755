"""What encoders and quasimetrics compute, once for every runtime.

`Operations` are what a runtime has to offer, beside + - * / @ on its arrays; they work on the last axis. The
mathematics and its laws are explained in `minaction.encoders` and `minaction.quasimetrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .._image_axes import arrangement
from ..errors import InputError

Array = Any
Description = Mapping[str, Any]
Weights = Mapping[str, Array]

_GELU_SLOPE, _GELU_CUBIC = 0.7978845608028654, 0.044715  # sqrt(2 / pi); Hendrycks and Gimpel, 2016
_PQE_TERMS, _PQE_SCALE = 10, 0.5**1.5  # as `minaction.quasimetrics` has them
_SMALLEST = 1.1754944e-38  # of the normal float32 numbers
_KNOWN_BY = "a runtime knows those of the package alone, so ask it with minaction itself"


class Operations(Protocol):
    """What the formulas are made of."""

    def relu(self, x: Array) -> Array: ...
    def selu(self, x: Array) -> Array: ...
    def tanh(self, x: Array) -> Array: ...
    def sigmoid(self, x: Array) -> Array: ...
    def sin(self, x: Array) -> Array: ...
    def cos(self, x: Array) -> Array: ...
    def exp(self, x: Array) -> Array: ...
    def log(self, x: Array) -> Array: ...
    def erf(self, x: Array) -> Array: ...
    def sign(self, x: Array) -> Array: ...
    def abs(self, x: Array) -> Array: ...
    def root(self, x: Array) -> Array: ...  # of 0 without a gradient, where there are gradients
    def fixed(self, x: Array) -> Array: ...  # no gradient flows through it
    def at_least(self, x: Array, least: float) -> Array: ...
    def sum(self, x: Array) -> Array: ...
    def mean(self, x: Array, keep: bool = False) -> Array: ...
    def max(self, x: Array, keep: bool = False) -> Array: ...
    def single(self, x: Array) -> Array: ...  # (..., 1) as (...)
    def split(self, x: Array, size: int) -> Array: ...  # (..., c size) as (..., c, size)
    def halves(self, x: Array) -> Sequence[Array]: ...
    def join(self, parts: Sequence[Array]) -> Array: ...
    def transpose(self, x: Array) -> Array: ...
    def flattened(self, x: Array) -> Array: ...  # a weight of any shape as one row
    def larger(self, x: Array, y: Array) -> Array: ...  # number by number
    def sorted(self, x: Array) -> Array: ...  # from the lowest
    def covered(self, low: Array, high: Array) -> Array: ...  # max(low_j, high_(j - 1)) for every j; the first is low_0
    def arranged(self, x: Array, shape: Sequence[int], order: Sequence[int], into: Sequence[int]) -> Array: ...
    # rows (n, size) as (n, *shape), their axes in another order, as (n, *into)
    def convolved(self, x: Array, weight: Array) -> Array: ...  # (n, h, w, c) by (3, 3, c, d), padded with zeros
    def halved(self, x: Array) -> Array: ...  # the largest of 3 x 3 pixels around every second one
    def rows(self, x: Array) -> Array: ...  # (n, h, w, c) as (n, h w c)


def encoder(o: Operations, description: Description, weights: Weights, at: str = "encoder") -> Callable[[Array], Array]:
    """phi: rows of float32 numbers to embeddings; `at` is where the names of its weights begin."""
    name = description.get("name")
    if name == "mlp":
        mean, scale = weights[f"{at}.scale.mean"], weights[f"{at}.scale.scale"]
        perceptron = _perceptron(o, description, weights, f"{at}.perceptron")
        features = _unchanged
        if description["fourier"]:
            features = _fourier(o, o.transpose(weights[f"{at}.fourier.frequencies"]))
        rectified = o.relu if description.get("rectified") else _unchanged  # models of 0.1 do not say
        gain = weights[f"{at}.gain"] if description.get("gain") else None

        def encode(x: Array) -> Array:
            embedding = rectified(perceptron(features((x - mean) / scale)))
            return embedding if gain is None else embedding * gain

        return encode
    if name == "image":
        mean, scale = weights[f"{at}.scale.mean"], weights[f"{at}.scale.scale"]
        shape = tuple(mean.shape)
        order, into = arrangement(shape)
        centre = o.flattened(mean)
        stages = [_stage(o, weights, f"{at}.stages.{k}") for k in range(len(description["channels"]))]
        relu = {**description, "activation": "relu", "layer_norm": False}
        perceptron = _perceptron(o, relu, weights, f"{at}.perceptron")

        def see(x: Array) -> Array:
            x = o.arranged((x - centre) / scale, shape, order, into)
            for stage in stages:
                x = stage(x)
            return perceptron(o.rows(o.relu(x)))

        return see
    if name == "projected":
        base = encoder(o, description["base"], weights, f"{at}.base")
        projector = _perceptron(o, description, weights, f"{at}.projector")
        return lambda x: projector(base(x))
    if name == "ensemble":
        size = description["size"]
        first, *others = (encoder(o, description["base"], weights, f"{at}.members.{k}") for k in range(size))
        return lambda x: sum((member(x) for member in others), start=first(x)) / size
    raise InputError(f"The encoder {name!r} cannot be run here: {_KNOWN_BY}.")


def quasimetric(o: Operations, description: Description, weights: Weights) -> Callable[[Array, Array], Array]:
    """q(x, y), whose leading axes broadcast."""
    name = description.get("name")
    rectified = {"max": o.max, "sum": o.sum, "mean": o.mean}
    if name in rectified:
        return lambda x, y: rectified[name](o.relu(x - y))
    if name == "simple":
        return lambda x, y: _maxmean(o, o.relu(x - y), description["alpha"])
    if name == "l1":
        return lambda x, y: o.sum(o.abs(x - y))
    if name == "l2":
        return lambda x, y: _norm(o, x - y)
    if name == "mrn":
        return lambda x, y: _metric_and_residual(o, *o.halves(x - y))
    if name == "pqe":
        alpha, size = o.exp(weights["quasimetric.log_weights"]), description["component_size"]
        if description["form"] == "lh":
            return lambda x, y: o.sum(_lost(o, o.relu(x - y), size) * alpha)
        return lambda x, y: o.sum(_lost(o, _gaussian_races(o, x, y), size) * alpha)
    if name == "deep-norm":
        alpha = o.sigmoid(weights["quasimetric.combine.logit"])
        layers = range(description["layers"])
        direct = [weights[f"quasimetric.inputs.{k}"] for k in layers]
        roots = [weights[f"quasimetric.roots.{k}"] for k in layers[:-1]]
        return lambda x, y: _maxmean(o, _deep_norm(o, x - y, direct, [root * root for root in roots]), alpha)
    if name in ("wide-norm", "iqe"):
        combine: Callable[[Array], Array] = o.sum
        if name == "wide-norm" or description["reduction"] == "maxmean":
            alpha = o.sigmoid(weights["quasimetric.combine.logit"])
            combine = lambda values: _maxmean(o, values, alpha)  # noqa: E731
        size = description["component_size"]
        if name == "iqe":
            return lambda x, y: combine(_union_length(o, o.split(x, size), o.split(y, size)))
        roots = weights["quasimetric.roots"]
        weight = roots * roots

        def wide_norm(x: Array, y: Array) -> Array:
            parts = o.join([o.relu(x - y), o.relu(y - x)])
            return combine(_norm(o, o.split(parts @ weight, size)))

        return wide_norm
    raise InputError(f"The quasimetric {name!r} cannot be run here: {_KNOWN_BY}.")


def policy(o: Operations, hidden: Sequence[int], heading: bool, weights: Weights) -> Callable[[Array, Array], Array]:
    """An agent's numbers, or scores of its choices, for rows of states and of subgoals."""
    mean, scale, subgoal = weights["scale.mean"], weights["scale.scale"], weights["subgoal"]
    described = {"hidden": hidden, "activation": "gelu", "layer_norm": heading}
    perceptron = _perceptron(o, described, weights, "perceptron")
    size = subgoal.shape[1]

    def act(states: Array, goals: Array) -> Array:
        away = (goals - states) @ subgoal
        if heading:
            away = away / (o.root(o.mean(away * away, keep=True) * float(size) + 1e-12) + 1e-3)
        return perceptron(o.join([(states - mean) / scale, away]))

    return act


def _perceptron(o: Operations, description: Description, weights: Weights, at: str) -> Callable[[Array], Array]:
    depth = len(description["hidden"])
    *hidden, (last_weight, last_bias) = (
        (weights[f"{at}.layers.{k}.weight"], weights[f"{at}.layers.{k}.bias"]) for k in range(depth + 1)
    )
    activations = {"selu": o.selu, "relu": o.relu, "gelu": lambda x: _gelu(o, x)}
    activate = activations.get(description["activation"])
    if activate is None:
        raise InputError(f"The activation {description['activation']!r} cannot be run here: {_KNOWN_BY}.")
    norms = [_unchanged] * depth
    if description["layer_norm"]:
        norms = [_layer_norm(o, weights, f"{at}.norms.{k}") for k in range(depth)]

    def perceptron(x: Array) -> Array:
        for (weight, bias), norm in zip(hidden, norms, strict=True):
            x = norm(activate(x @ weight + bias))
        return x @ last_weight + last_bias

    return perceptron


def _unchanged(x: Array) -> Array:
    return x


def _stage(o: Operations, weights: Weights, at: str) -> Callable[[Array], Array]:
    entry, first, second = (
        (weights[f"{at}.{part}.weight"], weights[f"{at}.{part}.bias"]) for part in ("entry", "first", "second")
    )

    def convolved(x: Array, conv: tuple[Array, Array]) -> Array:
        return o.convolved(x, conv[0]) + conv[1]

    def stage(x: Array) -> Array:
        x = o.halved(convolved(x, entry))
        return x + convolved(o.relu(convolved(o.relu(x), first)), second)

    return stage


def _layer_norm(o: Operations, weights: Weights, at: str) -> Callable[[Array], Array]:
    weight, bias = weights[f"{at}.weight"], weights[f"{at}.bias"]

    def normalise(x: Array) -> Array:
        centred = x - o.mean(x, keep=True)
        return centred / o.root(o.mean(centred * centred, keep=True) + 1e-6) * weight + bias

    return normalise


def _fourier(o: Operations, frequencies: Array) -> Callable[[Array], Array]:
    def features(x: Array) -> Array:
        phase = x @ frequencies
        return o.join([x, o.sin(phase) * 2**0.5, o.cos(phase) * 2**0.5])

    return features


def _gelu(o: Operations, x: Array) -> Array:
    return x * (o.tanh((x + x * x * x * _GELU_CUBIC) * _GELU_SLOPE) + 1.0) * 0.5


def _maxmean(o: Operations, values: Array, alpha: Array | float) -> Array:
    mean = o.mean(values)
    return (o.max(values) - mean) * alpha + mean


def _norm(o: Operations, values: Array) -> Array:
    """Over the whole range of the number format: squares of scaled values neither overflow nor vanish."""
    scale = o.fixed(o.at_least(o.max(o.abs(values), keep=True), _SMALLEST))
    scaled = values / scale
    return o.root(o.sum(scaled * scaled)) * o.single(scale)


def _union_length(o: Operations, x: Array, y: Array) -> Array:
    """Of the intervals from x_j to max(x_j, y_j).

    Starts and ends are sorted each for itself, as there is a gap after the j-th end exactly if the next start lies
    beyond it: what counts is how many intervals have begun and how many have ended, not which.
    """
    low, high = o.sorted(x), o.sorted(o.larger(x, y))
    return o.sum(high - o.covered(low, high))


def _metric_and_residual(o: Operations, symmetric: Array, residual: Array) -> Array:
    return _norm(o, symmetric) + o.max(o.relu(residual))


def _deep_norm(o: Operations, difference: Array, direct: Sequence[Array], passed: Sequence[Array]) -> Array:
    hidden = o.relu(difference @ direct[0])
    for to_layer, between in zip(direct[1:], passed, strict=True):
        hidden = o.relu(difference @ to_layer + hidden @ between)
    return hidden


def _lost(o: Operations, exponents: Array, size: int) -> Array:
    """The probability that some Poisson race of a component is lost."""
    return (o.exp(o.sum(o.split(exponents, size)) * -1.0) - 1.0) * -1.0


def _gaussian_races(o: Operations, x: Array, y: Array) -> Array:
    """-log P(N(A(x)) <= N(A(y))): a short series, as rates are small."""
    beyond, behind = _excess(o, x, y), _excess(o, y, x)
    total, term, power_a, power_b = beyond * 0.0, beyond * 0.0, beyond * 0.0 + 1.0, beyond * 0.0 + 1.0
    for i in range(1, _PQE_TERMS + 1):
        term = term + power_b
        power_a, power_b = power_a * beyond / float(i), power_b * behind / float(i)
        total = total + power_a * term
    return o.log(o.exp((beyond + behind) * -1.0) * total * -1.0 + 1.0) * -1.0


def _excess(o: Operations, u: Array, v: Array) -> Array:
    """What the Gaussian region of u has beyond that of v."""
    side = o.sign(u - v) * 0.5
    own, other = o.exp(u * u * -0.25), o.exp(v * v * -0.25)
    return o.relu(own * (o.erf(side * v) * -1.0 + 1.0) - other * (o.erf(side * u) * -1.0 + 1.0)) * _PQE_SCALE
