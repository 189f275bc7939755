"""Objectives by name, settings from text, and what is refused."""

from __future__ import annotations

import json

import pytest

from minaction._descriptions import make
from minaction.encoders import MLP, Ensemble, Projected
from minaction.errors import InputError
from minaction.objectives import (
    OBJECTIVES,
    QRL,
    Hilbert,
    MadDist,
    PlanDist,
    TautDist,
    TDMadDist,
    make_objective,
)
from minaction.quasimetrics import IQE, L1, QUASIMETRICS, Simple, WideNorm

CLASSES = {type(objective) for objective in OBJECTIVES.values()}


def test_every_objective_is_registered_under_its_own_name_with_its_defaults() -> None:
    assert {TautDist, MadDist, TDMadDist, PlanDist, QRL, Hilbert} <= CLASSES
    for kind in CLASSES:
        assert make_objective(kind.name) == make_objective(kind) == kind()


def test_presets_are_the_published_variants() -> None:
    table = make_objective("tdmaddist-paper-table")
    assert isinstance(table, TDMadDist)
    assert (table.random_goal_weight, table.constraint_weight, table.polyak) == (1.0, 0.01, 0.005)
    simple = make_objective("plandist-simple")
    assert simple.quasimetric == Simple()
    assert isinstance(simple.encoder, MLP)
    assert simple.encoder.rectified
    assert make_objective("plandist").quasimetric == L1()
    long = make_objective("qrl-long")
    assert isinstance(long, QRL)
    assert (long.push_offset, long.push_sharpness) == (500.0, 0.01)
    qrl = make_objective("qrl").encoder
    assert isinstance(qrl, Projected)
    assert isinstance(qrl.base, MLP)
    assert ((*qrl.base.hidden, qrl.base.latent), (*qrl.hidden, qrl.latent)) == ((512, 512, 128), (512, 2048))
    assert {OBJECTIVES[name].encoder.latent_size for name in ("qrl", "qrl-nn2", "qrl-nn3")} == {64 * 32}
    hilbert = make_objective("hilbert-nn2").encoder
    assert isinstance(hilbert, Ensemble)
    assert isinstance(hilbert.base, MLP)
    assert (*hilbert.base.hidden, hilbert.base.latent) == (512, 512, 256, 128, 32)
    assert hilbert.size == 2


def test_text_becomes_what_the_field_is() -> None:
    made = make_objective(
        "maddist",
        {
            "separation_weight": "5",
            "batch_size": "64",
            "clip_norm": "none",
            "encoder.fourier": "32",
            "encoder.fourier_sigma": "3",
            "encoder.layer_norm": "True",
            "encoder.hidden": "16,8",
            "encoder.latent": "4",
            "quasimetric": "wide-norm",
        },
    )
    encoder = MLP(hidden=(16, 8), latent=4, layer_norm=True, fourier=32, fourier_sigma=3.0)
    assert made == MadDist(
        encoder=encoder, separation_weight=5.0, batch_size=64, clip_norm=None, quasimetric=WideNorm()
    )
    assert isinstance(made, MadDist)
    assert type(made.batch_size) is int
    assert type(made.separation_weight) is float


@pytest.mark.parametrize(
    ("text", "hidden"), [("64,32", (64, 32)), ("8", (8,)), ("[9, 8]", (9, 8)), ([9, 8], (9, 8)), ("()", ())]
)
def test_layer_sizes_may_be_written_shortly(text: object, hidden: tuple) -> None:
    encoder = make_objective("maddist", {"encoder.hidden": text}).encoder
    assert isinstance(encoder, MLP)
    assert encoder.hidden == hidden


def test_a_setting_of_a_part_keeps_the_rest_of_it() -> None:
    changed = make_objective("hilbert", {"encoder.base.fourier": 8}).encoder
    assert changed == Ensemble(
        MLP(hidden=(512,), latent=32, activation="gelu", layer_norm=True, scaling="range", fourier=8)
    )
    assert make_objective("qrl", {"quasimetric.component_size": "64"}).quasimetric == IQE(component_size=64)


def test_another_part_by_name_has_its_own_defaults_and_takes_settings_at_once() -> None:
    settings = {"quasimetric": "iqe", "quasimetric.component_size": "8", "encoder": "projected", "encoder.latent": "64"}
    made = make_objective("maddist", settings)
    assert made.quasimetric == IQE(component_size=8)
    assert made.encoder == Projected(latent=64)
    assert make_objective("qrl", {"quasimetric": "iqe"}).quasimetric == IQE()


def test_settings_may_be_objects_or_nested_mappings_as_toml_has_them() -> None:
    made = make_objective("maddist", {"encoder": MLP(latent=64), "encoder.fourier": 3, "quasimetric": IQE(8)})
    assert made.encoder == MLP(latent=64, fourier=3)
    nested = {"encoder": {"latent": 64, "fourier": 3}, "quasimetric": {"name": "iqe", "component_size": 8}}
    assert make_objective("maddist", nested) == made


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_comes_back_from_its_hyperparameters_as_json_holds_them(name: str) -> None:
    objective = make_objective(name, {"learning_rate": 0.003})
    stored = json.loads(json.dumps(objective.hyperparameters()))
    assert make(OBJECTIVES, stored) == objective


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("madist", {}, "did you mean 'maddist'"),
        ("maddist", {"seperation_weight": 1}, "did you mean 'separation_weight'"),
        ("maddist", {"push_offset": 1}, "no setting of maddist named 'push_offset'"),
        ("maddist", {"batch_size": "many"}, "batch_size should be a whole number, not 'many'"),
        ("maddist", {"batch_size": 2.5}, "a whole number"),
        ("maddist", {"batch_size": 0}, "above 0"),
        ("maddist", {"constraint_horizon": 0}, "above 0"),
        ("maddist", {"learning_rate": "fast"}, "learning_rate should be a number"),
        ("maddist", {"learning_rate": True}, "learning_rate should be a number"),
        ("maddist", {"learning_rate": "nan"}, "learning_rate of maddist must be above 0, but is nan"),
        ("maddist", {"clip_norm": 0}, "above 0"),
        ("maddist", {"averaging": 2}, "0 to 1"),
        ("maddist", {"encoder.layer_norm": "perhaps"}, "true or false"),
        ("maddist", {"encoder.hidden": "512;512"}, "hidden should be numbers such as 512,256"),
        ("maddist", {"encoder.hidden": "'512'"}, "hidden should be numbers such as 512,256"),
        ("maddist", {"encoder.hidden": "512,0"}, "Layer sizes must be whole numbers from 1 to"),
        ("maddist", {"encoder.activation": "tanh"}, "activation should be one of 'selu', 'relu', 'gelu'"),
        ("maddist", {"encoder.furier": 3}, "no setting of mlp named 'furier': did you mean 'fourier'"),
        ("maddist", {"fourier": 3}, "did you mean 'encoder.fourier'"),
        ("maddist", {"encoder": "mpl"}, "no encoder named 'mpl': did you mean 'mlp'"),
        ("maddist", {"encoder": "ensemble", "encoder.base": "mpl"}, "did you mean 'mlp'"),
        ("maddist", {"encoder": "ensemble", "encoder.size": 0}, "at least one member"),
        ("maddist", {"encoder": 3}, "3 is not an encoder"),
        ("maddist", {"encoder": Simple()}, "is not an encoder"),
        ("maddist", {"encoder": {"name": 3}}, "has no name"),
        ("maddist", {"quasimetric": 3}, "3 is not a quasimetric"),
        ("maddist", {"quasimetric": "simpel"}, "did you mean 'simple'"),
        ("maddist", {"quasimetric": "iqe", "quasimetric.component_size": 7}, "512 numbers into components of 7"),
        ("maddist", {"quasimetric": "iqe", "encoder.latent": 100}, "100 numbers into components of 16"),
        ("maddist", {"learning_rate.final": 1}, "learning_rate should be a number"),
        ("maddist", {"learning_rate": 1e-3, "learning_rate.final": 1}, "learning_rate is 0.001, which has no settings"),
        ("maddist", {"network": "large"}, "no setting of maddist named 'network'"),
        ("tdmaddist", {"polyak": 2}, "polyak"),
        ("tdmaddist", {"polyak": 0}, "polyak"),
        ("qrl", {"quasimetric": "l1"}, "symmetric"),
        ("qrl", {"batch_size": 1}, "at least 2"),
        ("qrl", {"push_sharpness": 0}, "above 0"),
        ("hilbert", {"quasimetric": "simple"}, "'l2'"),
        ("hilbert", {"encoder": "mlp"}, "'ensemble'"),
        ("hilbert", {"discount": 1.0}, "between 0 and 1"),
        ("hilbert", {"future_fraction": 1.5}, "probability"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(name: str, settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        make_objective(name, settings)
    assert "\n" not in str(caught.value)


def test_any_quasimetric_may_be_asked_for_where_it_makes_sense() -> None:
    for name in ("simple", "wide-norm", "iqe-sum", "iqe"):
        quasimetric = make(QUASIMETRICS, name)
        for kind in (MadDist, TDMadDist, PlanDist, QRL):
            assert kind(quasimetric=quasimetric).architecture.quasimetric == quasimetric
