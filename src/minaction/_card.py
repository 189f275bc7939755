"""The model card: what a model was made from, how, how right it is, and how to load it; as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .errors import printable
from .trajectories import shape_in_words

if TYPE_CHECKING:
    from ._model import DistanceModel

# As tables and documentation call them.
_MEASURES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "ratio_cv": "Ratio CV",
    "mean_ratio": "mean ratio",
    "mean_absolute_error": "error",
    "auroc": "AUROC",
    "same_state": "same state",
    "asymmetric_pearson": "one-way",
}
_TAGS = ("reinforcement-learning", "quasimetric", "minimum-action-distance", "representation-learning")


def card(model: DistanceModel, licence: str = "") -> str:
    """The card of `model`; `licence` is an SPDX identifier, if there is one."""
    parts = ("\n".join(lines) for lines in _sections(model, licence))
    return "\n\n".join(parts) + "\n"


def front_matter(licence: str = "") -> str:
    """What the Hugging Face Hub reads at the top of a README.md."""
    lines = ["library_name: minaction", "pipeline_tag: reinforcement-learning", "tags:", *(f"- {tag}" for tag in _TAGS)]
    if licence:
        lines.insert(0, f"license: {json.dumps(licence.lower())}")
    return "\n".join(["---", *lines, "---", "", ""])


def _sections(model: DistanceModel, licence: str) -> Iterator[list[str]]:
    made = model.provenance
    asked = f"How long it takes, in {_plain(model.unit)}, to get" if model.unit else "How many actions lead"
    yield [f"# Minimum action distance of {_plain(made.data) or 'unnamed data'}"]
    yield [f"{asked} from one state to another, learned from recorded state sequences by minaction."]
    yield ["## Data", "", *_table(_data(model))]
    yield ["## Method", "", *_table(_method(model))]
    yield ["## How right it is", "", *_rightness(model)]
    yield ["## Licence", "", _plain(licence) or _NO_LICENCE]
    yield ["## How to load it", "", *_LOADING.splitlines()]


def _data(model: DistanceModel) -> Iterator[tuple[str, str]]:
    made = model.provenance
    yield "name", made.data
    yield "fingerprint", made.data_fingerprint
    if made.episodes:
        yield "episodes trained on", f"{made.episodes:,}"
        yield "states", f"{made.states:,}"
    yield "a state", f"{shape_in_words(model.state_shape)}, {model.state_dtype}"
    if model.columns:
        yield "columns", ", ".join(model.columns)
    yield "unit of distances", model.unit or "actions"
    if model.recorded is not None:
        yield "recorded states in the file", f"{len(model.recorded.states):,}, from which coverage is measured"


def _method(model: DistanceModel) -> Iterator[tuple[str, str]]:
    made = model.provenance
    yield "objective", made.objective
    yield "gradient steps", f"{made.steps:,}"
    yield "seed", str(made.seed)
    for family, description in model.architecture.as_dict().items():
        yield family, _settings(description)
    for name, value in made.hyperparameters.items():
        if name not in ("name", "encoder", "quasimetric"):
            yield name, str(value)


def _rightness(model: DistanceModel) -> Iterator[str]:
    for truth, measures in model.agreement.items():
        known = ((word, measures.get(name)) for name, word in _MEASURES.items())
        said = ", ".join(f"{word} {value:.3f}" for word, value in known if value is not None)
        yield f"- Beside the {_plain(truth)} distances of {int(measures.get('pairs') or 0):,} pairs: {said}."
    if model.health is not None:
        verdict = "; ".join(model.health.verdict)
        yield f"- By {model.health.episodes} held-out episodes ({model.health.pairs:,} pairs of states): {verdict}."
        if model.health.excess is not None:
            yield f"- Excess over recorded times: {model.health.excess:.1%}."
        if model.health.agreement is not None:
            yield f"- Correlation with shortest paths over the recording: {model.health.agreement:.3f}."
    if model.health is None and not model.agreement:
        yield "No truth is known for this data, and no episodes were held out: nothing is known about its errors."


def _settings(description: dict[str, Any]) -> str:
    inner = (f"{key}={_settings(value) if isinstance(value, dict) else value}" for key, value in description.items())
    return ", ".join(inner)


def _table(rows: Iterator[tuple[str, str]]) -> Iterator[str]:
    yield from ("| | |", "| --- | --- |")
    yield from (f"| {_plain(name)} | {_plain(value)} |" for name, value in rows)


def _plain(text: str) -> str:
    """Text from files, as text: nothing in it is Markdown, HTML or for a terminal to obey."""
    return printable(" ".join(text.split())).translate(_ESCAPED)


_ESCAPED = {ord(one): f"&#{ord(one)};" for one in "<>|&"} | {ord(one): f"\\{one}" for one in "\\`*_[]#"}

_NO_LICENCE = (
    "Not stated. minaction itself is under the MIT licence; whether a model may be passed on depends on its data, of "
    "which its file holds a sample."
)

_LOADING = """\
```python
import minaction as ma  # pip install minaction

model = ma.load("model.safetensors")
model.distance(here, there)
```

With NumPy and safetensors alone: `from minaction.runtimes.numpy import load`. As a PyTorch module:
`from minaction.runtimes.torch import load`. For ONNX Runtime: `minaction export model.safetensors model.onnx`; as a
page: `minaction export model.safetensors page.html`."""
