"""What cannot be a quasimetric is refused with a sentence that says what to do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from minaction.errors import InputError
from minaction.quasimetrics import (
    IQE,
    L1,
    L2,
    Convex,
    Max,
    Simple,
    WideNorm,
    make_quasimetric,
    quasimetric_from_config,
)

KEY = jax.random.key(0)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Simple(alpha=1.5), "alpha .* is 1.5; choose one between 0 and 1"),
        (lambda: Simple(alpha=-0.1), "between 0 and 1"),
        (lambda: Simple(alpha=float("nan")), "between 0 and 1"),
        (lambda: Convex([Max(), L1()], [0.5, 0.6]), "not convex"),
        (lambda: Convex([Max(), L1()], [1.5, -0.5]), "not convex"),
        (lambda: Convex([Max()], [float("nan")]), "not convex"),
        (lambda: Convex([Max(), L1()], [1.0]), "2 quasimetrics was given 1 weights"),
        (lambda: Convex([], []), "at least one quasimetric"),
        (lambda: IQE(0), "component size of IQE is 0"),
        (lambda: WideNorm(8, components=0, key=KEY), "number of components of the Wide Norm is 0"),
        (lambda: WideNorm(-8, key=KEY), "latent size of the Wide Norm is -8"),
        (lambda: make_quasimetric("iqe-maxmaen", 256, KEY), "did you mean 'iqe-maxmean'"),
        (
            lambda: make_quasimetric("simpel", 256, KEY),
            "no quasimetric named 'simpel': did you mean 'simple'",
        ),
        (lambda: make_quasimetric("iqe-sum", 250, KEY), "multiple of 16"),
        (lambda: make_quasimetric("simple", 0, KEY), "latent of 0 numbers"),
        (lambda: IQE(3)(jnp.zeros(8), jnp.zeros(8)), "latent of 8 numbers into components of 3"),
        (lambda: WideNorm(8, key=KEY)(jnp.zeros(9), jnp.zeros(9)), "build it with latent_size=9"),
        (lambda: Convex([L2(), IQE(3)], [0.5, 0.5]).check_size(8), "multiple of 3"),
    ],
)
def test_nonsense_is_refused(build: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        build()


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"name": "ique", "component_size": 4}, "no quasimetric named 'ique': did you mean 'iqe'"),
        ({"alpha": 0.5}, "no quasimetric named"),
        ({"name": "simple", "alpha": 2.0}, "between 0 and 1"),
        ({"name": "simple", "beta": 0.5}, "'simple' has entries that do not fit"),
        ({"name": "iqe"}, "'iqe' has entries that do not fit"),
        ({"name": "convex", "members": [{"name": "l3"}], "weights": [1.0]}, "no quasimetric named 'l3'"),
    ],
)
def test_a_description_that_fits_nothing_is_refused(config: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        quasimetric_from_config(config)


WRONG_TYPES = [
    ({"name": "simple", "alpha": "much"}, "'simple' has entries that do not fit"),
    ({"name": "iqe", "component_size": "16"}, "component size of IQE is '16'"),
    ({"name": "iqe", "component_size": 2.5}, "component size of IQE is 2.5"),
    ({"name": "iqe", "component_size": 4, "reduction": "maxmeen"}, "did you mean 'maxmean'"),
    ({"name": "convex", "members": ["l1"], "weights": [1.0]}, "only quasimetrics can be combined"),
    ({"name": "convex", "members": 3, "weights": [1.0]}, "'convex' has entries that do not fit"),
]
READ_THEM = """
import json, sys
from minaction.errors import InputError
from minaction.quasimetrics import quasimetric_from_config
for line in sys.stdin:
    try:
        quasimetric_from_config(json.loads(line))
    except InputError as error:
        print(error)
    else:
        print("accepted")
"""


def test_a_description_with_values_of_the_wrong_type_is_refused() -> None:
    # In a process of its own: here the run-time check of annotations would object before we do.
    lines = "".join(json.dumps(config) + "\n" for config, _ in WRONG_TYPES)
    ran = subprocess.run([sys.executable, "-c", READ_THEM], input=lines, capture_output=True, text=True, check=True)
    sentences = ran.stdout.splitlines()
    assert len(sentences) == len(WRONG_TYPES)
    for sentence, (_, expected) in zip(sentences, WRONG_TYPES, strict=True):
        assert re.search(expected, sentence)
