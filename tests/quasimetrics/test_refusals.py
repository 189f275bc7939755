"""What cannot be a quasimetric is refused with a sentence that says what to do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from minaction._descriptions import make
from minaction._distance import Architecture
from minaction.encoders import MLP
from minaction.errors import InputError
from minaction.quasimetrics import IQE, L1, QUASIMETRICS, Simple, WideNorm


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Simple(alpha=1.5), "alpha .* is 1.5; choose one between 0 and 1"),
        (lambda: Simple(alpha=-0.1), "between 0 and 1"),
        (lambda: Simple(alpha=float("nan")), "between 0 and 1"),
        (lambda: IQE(0), "component size of IQE is 0"),
        (lambda: WideNorm(components=0), "number of components of the Wide Norm is 0"),
        (lambda: WideNorm(component_size=0), "component size of the Wide Norm is 0"),
        (lambda: make(QUASIMETRICS, "iqe-smu"), "did you mean 'iqe-sum'"),
        (lambda: make(QUASIMETRICS, "simpel"), "no quasimetric named 'simpel': did you mean 'simple'"),
        (lambda: IQE().check(250), "multiple of 16"),
        (lambda: L1().check(0), "latent of 0 numbers"),
        (lambda: WideNorm().check(-8), "latent of -8 numbers"),
        (lambda: IQE(3).check(8), "latent of 8 numbers into components of 3"),
        (lambda: Architecture(MLP(latent=8), IQE(3)), "choose a latent size that is a multiple of 3"),
        (lambda: Architecture(MLP(latent=8), "l1"), "'l1' is not a description of Quasimetric"),  # type: ignore[arg-type]
        (lambda: Architecture(MLP, L1()), "is not a description of Encoder"),  # type: ignore[arg-type]
    ],
)
def test_nonsense_is_refused(build: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        build()


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ({"name": "ique", "component_size": 4}, "no quasimetric named 'ique': did you mean 'iqe'"),
        ({"alpha": 0.5}, "a quasimetric has no name"),
        ({"name": "simple", "alpha": 2.0}, "between 0 and 1"),
        ({"name": "simple", "beta": 0.5}, "no setting of simple named 'beta'"),
        (3, "3 is not a quasimetric; give a name, such as 'simple'"),
        (MLP(), "is not a quasimetric"),
    ],
)
def test_a_description_that_fits_nothing_is_refused(description: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make(QUASIMETRICS, description)


WRONG_TYPES = [
    ({"name": "simple", "alpha": "much"}, "alpha should be a number, not 'much'"),
    ({"name": "iqe", "component_size": "sixteen"}, "component_size should be a whole number, not 'sixteen'"),
    ({"name": "iqe", "component_size": 2.5}, "component_size should be a whole number, not 2.5"),
    ({"name": "iqe", "component_size": 4, "reduction": "maxmeen"}, "reduction should be one of 'sum', 'maxmean'"),
]
READ_THEM = """
import json, sys
from minaction._descriptions import make
from minaction.errors import InputError
from minaction.quasimetrics import IQE, QUASIMETRICS
for line in sys.stdin:
    try:
        make(QUASIMETRICS, json.loads(line))
    except InputError as error:
        print(error)
    else:
        print("accepted")
for values in ({"component_size": "16"}, {"component_size": 2.5}, {"reduction": "maxmeen"}):
    try:
        IQE(**values)
    except InputError as error:
        print(error)
"""
WRONG_ARGUMENTS = ["component size of IQE is '16'", "component size of IQE is 2.5", "did you mean 'maxmean'"]


def test_a_description_with_values_of_the_wrong_type_is_refused() -> None:
    # In a process of its own: here the run-time check of annotations would object before we do.
    lines = "".join(json.dumps(description) + "\n" for description, _ in WRONG_TYPES)
    ran = subprocess.run([sys.executable, "-c", READ_THEM], input=lines, capture_output=True, text=True, check=True)
    expected = [sentence for _, sentence in WRONG_TYPES] + WRONG_ARGUMENTS
    for sentence, wanted in zip(ran.stdout.splitlines(), expected, strict=True):
        assert re.search(wanted, sentence)
