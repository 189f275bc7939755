"""A separate distribution adds one member to each of the five families, without a change to this package.

It is installed for real and driven by name in processes of its own.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

SETTINGS = ("quasimetric=sample-weighted", "encoder=sample-conv", "encoder.latent=4")

CHECKS = """
import sys
from pathlib import Path
import minaction as ma
from minaction import testing
from minaction_sample.encoder import Convolutional

testing.check_quasimetric("sample-weighted", latent_size=8)
testing.check_encoder("sample-conv", state_shape=(3, 9, 1), dtype="uint8")
testing.check_task("sample-line")
data = ma.read("sample-line", episodes=4)
testing.check_objective(ma.make_objective("sample-regression", {"encoder": Convolutional(latent=4)}), data)
lines = Path(sys.argv[1]) / "log.lines"
lines.write_text("#lines\\n0 1 2 1\\n3 2\\n")
testing.check_reader("sample-lines", lines)
assert ma.read(lines).num_episodes == 2
print("every contract is kept")
"""

FIT = """
import sys
import numpy as np
import minaction as ma

objective = ma.make_objective("sample-regression", {"quasimetric": "sample-weighted", "encoder": "sample-conv"})
found = []
model = ma.fit("sample-line", objective, steps=20, progress=False, on_event=found.append)
assert any(isinstance(event, ma.Evaluated) and event.measurements[0].evaluations for event in found)
states = ma.get_task("sample-line").truths()[0].sources
assert states.dtype == np.uint8
model.save(sys.argv[1])
again = ma.load(sys.argv[1])
assert again.architecture.quasimetric == objective.quasimetric
assert again.state_dtype == "uint8"
np.testing.assert_array_equal(again.pairwise(states, states), model.pairwise(states, states))
index, _ = again.nearest(states[4], states, k=3)
assert index[0] == 4
"""

GRID = """
steps = 20
seeds = 2
tasks = ["sample-line"]

[methods.theirs]
objective = "sample-regression"
settings = { quasimetric = "sample-weighted", encoder = { name = "sample-conv", latent = 4 } }
"""


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence on the standard error of a command that ended with 2."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def test_its_members_keep_the_public_contracts(run: Run, tmp_path: Path) -> None:
    assert "every contract is kept" in succeeded(run("-c", CHECKS, tmp_path))


def test_fit_takes_them_by_name_and_a_model_file_brings_them_back(run: Run, tmp_path: Path) -> None:
    succeeded(run("-c", FIT, tmp_path / "model.safetensors"))


def test_they_are_listed_and_one_that_cannot_be_imported_is_named_while_the_rest_works(run: Run) -> None:
    done = run("-c", "import minaction as ma; print([*ma.ENCODERS.usable()]); ma.ENCODERS['sample-broken']")
    assert "['mlp', 'image', 'projected', 'ensemble', 'sample-conv']" in done.stdout
    sentence = "The encoder 'sample-broken' of minaction-sample cannot be imported (ModuleNotFoundError"
    assert f"UserWarning: {sentence}" in done.stderr
    assert f"BrokenMember: {sentence}" in done.stderr


def test_without_the_package_its_names_are_unknown(run: Run) -> None:
    done = run("-c", "import minaction as ma; ma.get_task('sample-line')", plugin=False)
    assert "InputError: There is no task named 'sample-line'" in done.stderr


# ---------------------------------------------------------------- the command line


def trained(run: Run, folder: Path) -> Path:
    options = ("--objective", "sample-regression", "--steps", 20, "--evaluations", 2, "--out", folder)
    succeeded(run("-m", "minaction", "train", "sample-line", *options, "--set", *SETTINGS))
    return folder


def test_train_evaluate_and_report_take_them_by_name(run: Run, tmp_path: Path) -> None:
    folder = trained(run, tmp_path / "run")
    config = json.loads((folder / "config.json").read_text())
    assert config["objective"] == "sample-regression"
    page = tmp_path / "page.html"
    succeeded(run("-m", "minaction", "report", folder, "-o", page))
    assert "sample-line" in page.read_text()
    assert "sample-regression" in page.read_text()


def test_train_reads_a_file_of_its_format(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.lines"
    log.write_text("#lines\n" + "0 1 2 3 2 1 0 1 2\n" * 5)
    options = ("--objective", "sample-regression", "--steps", 5, "--out", tmp_path / "run")
    settings = ("quasimetric=sample-weighted", "encoder.hidden=8", "encoder.latent=4")
    succeeded(run("-m", "minaction", "train", log, *options, "--set", *settings))


def test_a_suite_and_its_report_take_them_by_name(run: Run, tmp_path: Path) -> None:
    grid, folder, page = tmp_path / "grid.toml", tmp_path / "suite", tmp_path / "page.html"
    grid.write_text(GRID)
    succeeded(run("-m", "minaction", "suite", grid, "--out", folder, "--jobs", 1))
    succeeded(run("-m", "minaction", "report", folder, "-o", page))
    assert "sample-line" in page.read_text()
    assert "theirs" in page.read_text()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("encoder=sample-broken", "The encoder 'sample-broken' of minaction-sample cannot be imported"),
        ("encoder=sample-cnov", "did you mean 'sample-conv'"),
        (
            "quasimetric.weights=1,2,3",
            "The quasimetric 'sample-weighted' cannot be built (there is one positive weight",
        ),
        ("encoder=mlp encoder.latent=0", "Layer sizes must be whole numbers from 1 to"),
        ("quasimetric.parts=simple,iqe encoder.latent=7", "7 numbers into components of 16"),
    ],
)
def test_what_cannot_be_built_is_refused_in_a_sentence(run: Run, tmp_path: Path, settings: str, sentence: str) -> None:
    chosen = ("quasimetric=sample-weighted", *settings.split())
    done = run("-m", "minaction", "train", "sample-line", "--steps", 5, "--out", tmp_path / "run", "--set", *chosen)
    assert sentence in refused(done)
    assert not (tmp_path / "run").exists()


def test_an_encoder_that_does_not_take_the_states_is_refused_in_a_sentence(run: Run, tmp_path: Path) -> None:
    done = run(
        "-m", "minaction", "train", "cliffwalking", "--steps", 5, "--out", tmp_path / "run", "--set", SETTINGS[1]
    )
    assert "The encoder 'sample-conv' cannot take states of shape (2,) and type" in refused(done)


def test_a_model_whose_encoder_is_not_installed_is_refused_in_a_sentence(run: Run, tmp_path: Path) -> None:
    folder = trained(run, tmp_path / "run")
    for given in (folder, *folder.rglob("seed*.safetensors")):
        done = run("-m", "minaction", "distance", given, "--from", 0, "--to", 1, plugin=False)
        assert "no encoder named 'sample-conv'" in refused(done)
        assert "not installed" in refused(done)
