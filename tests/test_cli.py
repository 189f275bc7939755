"""The real command line, in real processes: what a person types, and what comes back."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

from minaction._model import DistanceModel
from minaction._trees import named_leaves
from minaction.cli import main
from minaction.commands._parse import COMMANDS
from minaction.trajectories import Trajectories

SMALL = [
    "--objective",
    "maddist",
    "--set",
    "encoder.hidden=16",
    "encoder.latent=8",
    "batch_size=16",
    "--set",
    "constraint_batch_size=16",
]


def minaction(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "minaction", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


def refused(*arguments: object, cwd: Path | None = None) -> str:
    """What was said to a bad input: one sentence, exit code 2, no traceback."""
    result = minaction(*arguments, cwd=cwd)
    return _one_sentence(result.returncode, result.stderr)


def refused_here(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The same without a process of its own, which takes seconds to start."""
    return _one_sentence(main([str(word) for word in arguments]), capsys.readouterr().err)


def _one_sentence(exit_code: int, stderr: str) -> str:
    assert exit_code == 2, stderr
    assert "Traceback" not in stderr
    lines = stderr.strip().splitlines()
    assert len(lines) == 1, stderr
    return lines[0]


def test_train_evaluate_and_ask(tmp_path: Path) -> None:
    run = tmp_path / "run"
    trained = minaction("train", "cliffwalking", "--steps", 40, "--seeds", 2, "--evaluations", 4, "--out", run, *SMALL)
    assert trained.returncode == 0, trained.stderr
    assert "Pearson" in trained.stdout
    expected = {"config.json", "metrics.jsonl", "results.json", "curves.png", "landscape.png", "report.html"}
    assert {path.name for path in run.iterdir()} == expected | {"seed-0.safetensors", "seed-1.safetensors"}
    settings = json.loads((run / "config.json").read_text())["settings"]
    assert settings == {
        "encoder.hidden": "16",
        "encoder.latent": "8",
        "batch_size": "16",
        "constraint_batch_size": "16",
    }
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [(row["step"], row["seed"]) for row in rows] == [(s, k) for s in (10, 20, 30, 40) for k in (0, 1)]
    assert set(rows[0]["terms"]) == {"loss", "trajectory", "separation", "constraint"}
    kept = json.loads((run / "results.json").read_text())["evaluations"]
    overall = [one for one in kept if one["seed"] == 0 and one["high"] is None]
    assert overall == rows[-2]["evaluations"]
    assert [(one["truth"], one["unit"]) for one in overall] == [("true", "steps"), ("observed", "steps")]

    evaluated = minaction("evaluate", run)
    assert evaluated.returncode == 0, evaluated.stderr
    assert "By true distance" in evaluated.stdout

    asked = minaction("distance", run, "--from", 0, 1, "--to", 1, "0.667")
    assert asked.returncode == 0, asked.stderr
    models = [DistanceModel.load(run / f"seed-{k}.safetensors") for k in (0, 1)]
    there = np.mean([float(model.distance([0, 1], [1, 0.667])) for model in models])
    assert f"from -> to: {there:.2f} actions" in asked.stdout

    again = minaction("train", "cliffwalking", "--steps", 40, "--seeds", 2, "--evaluations", 4, "--out", run, *SMALL)
    assert "finished already" in again.stdout


def test_a_persons_own_file(log_file: Path, tmp_path: Path) -> None:
    result = minaction("train", log_file, "--steps", 20, "--out", tmp_path / "run", *SMALL)
    assert result.returncode == 0, result.stderr
    assert "observed" in result.stdout  # ten different states: the observed distances are known


def test_a_killed_run_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """SIGKILL in the middle, the same command again, and the weights of a run that nobody disturbed."""
    options = ["train", "cliffwalking", "--steps", 600, "--evaluations", 30, *SMALL, "--out"]
    command = [sys.executable, "-m", "minaction", *map(str, options), str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    metrics, deadline = tmp_path / "killed" / "metrics.jsonl", time.monotonic() + 120
    while (not metrics.exists() or metrics.read_text().count("\n") < 3) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "killed" / "results.json").exists(), "it was finished before it could be killed"
    resumed = minaction(*options, tmp_path / "killed")
    assert "going on from step" in resumed.stdout, resumed.stderr
    assert minaction(*options, tmp_path / "undisturbed").returncode == 0
    first, second = (DistanceModel.load(tmp_path / name / "seed-0.safetensors") for name in ("killed", "undisturbed"))
    for name, values in named_leaves(first.network).items():
        np.testing.assert_array_equal(values, named_leaves(second.network)[name], err_msg=name)
    assert (tmp_path / "killed/metrics.jsonl").read_text() == (tmp_path / "undisturbed/metrics.jsonl").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "clifwalking"], "cliffwalking"),
        (["train", "cliffwalking", "--objective", "madist"], "maddist"),
        (["train", "cliffwalking", "--steps", "0"], "at least 1"),
        (["train", "cliffwalking", "--steps", "10000000000"], "less than 2**31"),
        (["train", "cliffwalking", "--seeds", "0"], "at least 1"),
        (["train", "cliffwalking", "--out", "x" * 300], "file name too long"),
        (["trian", "cliffwalking"], "did you mean 'train'"),
        (["train", "cliffwalking", "--devices", 999], "Cannot train on 999 devices"),
        (["train", "cliffwalking", "--devices", 0], "Cannot train on 0 devices"),
        (["train", "cliffwalking", "--first-seed", "-1"], "seed"),
        (["train", "cliffwalking", "--episodes", "0"], "episode"),
        (["train", "cliffwalking", "--set", "batch_size=0"], "batch_size"),
        (["train", "cliffwalking", "--set", "encoder.furrier=3"], "did you mean 'fourier'"),
        (["train", "cliffwalking", "--set", "batchsize=4"], "batch_size"),
        (["train", "cliffwalking", "--set", "batch_size"], "NAME=VALUE"),
        (["train", "missing.npz"], "missing.npz"),
        (["evaluate", "nowhere"], "nowhere"),
        (["distance", "nowhere.safetensors", "--from", "0", "--to", "1"], "nowhere.safetensors"),
        (["data", "info"], "needs a task or a file"),
        (["data", "make", "clifwalking"], "cliffwalking"),
    ],
)
def test_bad_words_end_in_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused_here(capsys, *arguments)
    assert list(tmp_path.iterdir()) == [] or [p.name for p in tmp_path.rglob("*") if p.is_file()] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "clifwalking"], "cliffwalking"),
        (["trian", "cliffwalking"], "did you mean 'train'"),
        (["train", "cliffwalking", "--devices", 999], "Cannot train on 999 devices"),
    ],
)
def test_a_process_that_ends_so_says_nothing_else(arguments: list[str], said: str, tmp_path: Path) -> None:
    assert said in refused(*arguments, cwd=tmp_path)


GOOD = np.random.default_rng(0).normal(size=(20, 2))
WITH_NAN = np.where(np.arange(40).reshape(20, 2) == 27, np.nan, GOOD)  # in row 13
BAD_ARRAYS = {
    "no states": {"states": np.zeros((0, 2))},
    "state 13": {"states": WITH_NAN},
    "single state": {"states": GOOD, "offsets": np.arange(21)},
    "increase": {"states": GOOD, "times": np.r_[0:10, 5:15]},
    "single number": {"states": np.float64(3)},
    "object": {"states": np.array([[1, 2], [3]], dtype=object)},
}


@pytest.mark.parametrize("said", BAD_ARRAYS)
def test_bad_files_end_in_one_sentence(said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "bad.npz", **BAD_ARRAYS[said])  # type: ignore[arg-type]
    sentence = refused_here(capsys, "train", tmp_path / "bad.npz", "--steps", 1, "--out", tmp_path / "run")
    assert said in sentence
    assert "bad.npz" in sentence
    assert not (tmp_path / "run").exists()


def test_bad_model_files_end_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert minaction("train", "cliffwalking", "--steps", 2, "--out", run, *SMALL).returncode == 0
    model = run / "seed-0.safetensors"
    whole = model.read_bytes()
    for content in (b"hello", whole[: len(whole) // 2]):
        model.write_bytes(content)
        assert "truncated" in refused_here(capsys, "distance", model, "--from", 0, 0, "--to", 1, 1)
    newer = whole.replace(b'\\"format\\": 2', b'\\"format\\": 9')
    assert newer != whole
    model.write_bytes(newer)
    assert "newer version" in refused_here(capsys, "distance", model, "--from", 0, 0, "--to", 1, 1)
    model.write_bytes(whole)
    assert "2 numbers" in refused_here(capsys, "distance", model, "--from", 0, 0, 0, "--to", 1, 1, 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_ends_in_one_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "Cannot write" in refused("train", "cliffwalking", "--steps", 2, "--out", tmp_path / "run")


def test_a_folder_that_cannot_be_made_ends_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "Cannot write" in refused_here(
        capsys, "train", "cliffwalking", "--steps", 2, "--out", tmp_path / "file" / "run"
    )


def test_data_is_made_described_and_converted(
    log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = minaction("data", "make", "cliffwalking", "--episodes", 7, "--seed", 4)
    assert made.returncode == 0, made.stderr
    assert "episodes" in made.stdout
    assert minaction("data", "list").stdout.count("gridworld") >= 2
    described = minaction("data", "info", log_file)
    assert "distinct states" in described.stdout
    written = tmp_path / "log.safetensors"
    assert minaction("data", "convert", log_file, written).returncode == 0
    assert Trajectories.load(written).fingerprint in described.stdout
    assert ".npz" in refused_here(capsys, "data", "convert", log_file, tmp_path / "log.xyz")
    assert not (tmp_path / "log.xyz").exists()
    before = log_file.read_bytes()
    assert "another name" in refused_here(capsys, "data", "convert", log_file, log_file)
    assert log_file.read_bytes() == before


def test_a_device_that_is_not_there_ends_in_one_sentence(tmp_path: Path) -> None:
    if any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("there is one")
    assert "device" in refused("train", "cliffwalking", "--device", "gpu", "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def processor_seconds(*command: str) -> float:
    """What a command takes of a processor, however busy the machine is; the least of a few times."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def test_help_comes_at_once() -> None:
    assert processor_seconds("-m", "minaction", "--help") - processor_seconds("-c", "pass") < 0.25


@pytest.mark.parametrize("command", ["tasks", "objectives", "doctor"])
def test_catalogues_print(command: str) -> None:
    result = minaction(command)
    assert result.returncode == 0, result.stderr
    assert {"tasks": "cliffwalking", "objectives": "separation_weight", "doctor": "equinox"}[command] in result.stdout


def test_help_lists_every_command_and_each_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out
    for command, (kind, _) in COMMANDS.items():
        assert f"{command} " in listed
        assert str(kind.__doc__).splitlines()[0][:40] in " ".join(listed.split())
        with pytest.raises(SystemExit):
            main([command, "--help"])
        said = capsys.readouterr().out
        if command not in ("tasks", "objectives", "doctor"):  # these take no options
            assert f"  minaction {command} " in said


def test_two_commands_in_one_process(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == main(["doctor"]) == 0
    assert capsys.readouterr().out.count("Python") >= 2


def test_the_shell_completes_commands_and_options(tmp_path: Path) -> None:
    """What README says to install, asked as bash asks it."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    script = minaction("--tyro-print-completion", "bash").stdout
    (tmp_path / "minaction").write_text(script)
    ask = (
        "source ./minaction; by=$(complete -p minaction | sed 's/.*-F \\([^ ]*\\).*/\\1/'); "
        'COMP_WORDS=(minaction "$@"); COMP_CWORD=$#; $by minaction "${@: -1}"; echo "${COMPREPLY[@]}"'
    )

    def completed(*words: str) -> list[str]:
        command = [bash, "-c", ask, "bash", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout.split()

    assert completed("ca") == ["card"]
    assert completed("train", "--obj") == ["--objective"]


def test_a_reader_of_the_output_may_leave_early() -> None:
    asked = [sys.executable, "-c", "from minaction.cli import main; raise SystemExit(main(['train', '--help']))"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as started:
        assert started.stdout is not None
        started.stdout.close()
        assert started.stderr is not None
        assert b"Traceback" not in started.stderr.read()
    assert started.returncode == 141
