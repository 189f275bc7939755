"""Objectives by name, settings from text, and what is refused."""

from __future__ import annotations

import json

import pytest

from minaction.encoders import Network
from minaction.errors import InputError
from minaction.objectives import (
    OBJECTIVES,
    PRESETS,
    QRL,
    Hilbert,
    MadDist,
    PlanDist,
    TDMadDist,
    make_objective,
)


def test_every_objective_has_a_preset_of_its_own_name_with_its_defaults() -> None:
    assert set(OBJECTIVES) == {"tautdist", "maddist", "tdmaddist", "plandist", "qrl", "hilbert"}
    for name, kind in OBJECTIVES.items():
        assert kind.name == name
        assert make_objective(name) == kind()


def test_presets_are_the_published_variants() -> None:
    table = make_objective("tdmaddist-paper-table")
    assert isinstance(table, TDMadDist)
    assert (table.random_goal_weight, table.constraint_weight, table.polyak) == (1.0, 0.01, 0.005)
    assert make_objective("plandist-simple").quasimetric == "simple"
    assert make_objective("plandist").quasimetric == "l1"
    long = make_objective("qrl-long")
    assert isinstance(long, QRL)
    assert (long.push_offset, long.push_sharpness) == (500.0, 0.01)
    assert make_objective("qrl").network.stages == ((512, 512, 128), (512, 2048))
    assert {PRESETS[name].network.latent_size for name in ("qrl", "qrl-nn2", "qrl-nn3")} == {64 * 32}
    assert make_objective("hilbert-nn2").network.stages == ((512, 512, 256, 128, 32),)
    assert make_objective("hilbert-nn2").network.members == 2


def test_text_becomes_what_the_field_is() -> None:
    made = make_objective(
        "maddist",
        {
            "separation_weight": "5",
            "batch_size": "64",
            "clip_norm": "none",
            "fourier_features": "32",
            "fourier_sigma": "3",
            "layer_norm": "True",
            "stages": "[[16, 8], [4]]",
            "quasimetric": "wide-norm",
        },
    )
    network = Network(stages=((16, 8), (4,)), layer_norm=True, fourier_features=32, fourier_sigma=3.0)
    assert made == MadDist(
        network=network, separation_weight=5.0, batch_size=64, clip_norm=None, quasimetric="wide-norm"
    )
    assert type(made.batch_size) is int  # type: ignore[attr-defined]
    assert type(made.separation_weight) is float  # type: ignore[attr-defined]


@pytest.mark.parametrize(("text", "stages"), [("64,32", ((64, 32),)), ("8", ((8,),)), ([[9, 8]], ((9, 8),))])
def test_stages_may_be_written_shortly(text: object, stages: tuple) -> None:
    assert make_objective("maddist", {"stages": text}).network.stages == stages


def test_a_network_setting_keeps_the_rest_of_the_presets_network() -> None:
    network = make_objective("hilbert", {"fourier_features": 8}).network
    assert network.members == 2
    assert network.activation == "gelu"
    assert network.stages == Hilbert().network.stages


@pytest.mark.parametrize("name", PRESETS)
def test_an_objective_comes_back_from_its_hyperparameters_as_json_holds_them(name: str) -> None:
    objective = make_objective(name, {"fourier_features": 3})
    stored = json.loads(json.dumps(objective.hyperparameters()))
    assert make_objective(objective.name, stored) == objective


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("madist", {}, "did you mean 'maddist'"),
        ("maddist", {"seperation_weight": 1}, "did you mean 'separation_weight'"),
        ("maddist", {"push_offset": 1}, "no setting of maddist named 'push_offset'"),
        ("maddist", {"batch_size": "many"}, "batch_size should be a whole number, not 'many'"),
        ("maddist", {"batch_size": 2.5}, "a whole number"),
        ("maddist", {"batch_size": 0}, "at least 1"),
        ("maddist", {"constraint_horizon": 0}, "at least 1"),
        ("maddist", {"learning_rate": "fast"}, "learning_rate should be a number"),
        ("maddist", {"learning_rate": True}, "learning_rate should be a number"),
        ("maddist", {"learning_rate": "nan"}, "NaN"),
        ("maddist", {"clip_norm": 0}, "positive"),
        ("maddist", {"layer_norm": "perhaps"}, "true or false"),
        ("maddist", {"stages": "512;512"}, "layer sizes"),
        ("maddist", {"stages": "'512'"}, "layer sizes"),
        ("maddist", {"quasimetric": 3}, "text"),
        ("maddist", {"quasimetric": "simpel"}, "did you mean 'simple'"),
        ("maddist", {"network": "large"}, "through its fields"),
        ("tdmaddist", {"polyak": 2}, "polyak"),
        ("tdmaddist", {"polyak": 0}, "polyak"),
        ("qrl", {"quasimetric": "l1"}, "symmetric"),
        ("qrl", {"batch_size": 1}, "at least 2"),
        ("qrl", {"push_sharpness": 0}, "positive"),
        ("hilbert", {"quasimetric": "simple"}, "'l2'"),
        ("hilbert", {"discount": 1.0}, "between 0 and 1"),
        ("hilbert", {"future_fraction": 1.5}, "probability"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(name: str, settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        make_objective(name, settings)
    assert "\n" not in str(caught.value)


def test_any_quasimetric_may_be_asked_for_where_it_makes_sense() -> None:
    for name in ("simple", "wide-norm", "iqe-sum", "iqe-maxmean"):
        for kind in (MadDist, TDMadDist, PlanDist, QRL):
            assert kind(quasimetric=name).architecture.quasimetric == name
