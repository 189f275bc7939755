"""Every example runs, as a newcomer would run it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(path: Path, *options: str) -> str:
    result = subprocess.run([sys.executable, str(path), *options], capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_the_one_way_flap_is_learned() -> None:
    printed = run(EXAMPLES / "own_data.py")
    there, back = (float(number) for number in re.findall(r": ([0-9.]+) actions", printed))
    assert there == pytest.approx(1, abs=0.3)
    assert back == pytest.approx(7, abs=1.0)


def test_a_model_is_saved_loaded_and_searched() -> None:
    printed = run(EXAMPLES / "save_and_search.py")
    nearest = [float(number) for number in re.findall(r"is ([0-9.]+) actions away", printed)]
    assert len(nearest) == 5
    assert nearest == sorted(nearest)
    assert nearest[0] == 0


@pytest.mark.slow
def test_a_learned_heuristic_saves_nodes() -> None:
    found = dict(re.findall(r"(\w+): (\d+) nodes", run(EXAMPLES / "heuristic_search.py")))
    assert int(found["learned"]) < int(found["Manhattan"]) < int(found["nothing"])


@pytest.mark.slow
def test_a_learner_is_guided_by_the_distance(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    out, most = tmp_path / "numbers.json", 10_000
    run(EXAMPLES / "reward_shaping.py", "--seeds", "2", "--most-steps", str(most), "--out", str(out))
    needed = json.loads(out.read_text())["steps until solved"]
    guided, alone = (
        sum(steps or most for steps in needed[f"with the {name}"]) for name in ("learned distance", "reward alone")
    )
    assert guided < 0.7 * alone


@pytest.mark.slow
def test_an_agent_reaches_its_goal() -> None:
    assert "the door opened" in run(EXAMPLES / "agent.py")


@pytest.mark.slow
def test_subgoals_save_actions() -> None:
    found = re.findall(r"(\d+) actions tried for a way of (\d+)", run(EXAMPLES / "subgoals.py"))
    (at_once, least), (by_subgoals, way) = ((int(tried), int(way)) for tried, way in found)
    assert by_subgoals < 0.7 * at_once
    assert way <= 1.2 * least


@pytest.mark.slow
def test_a_learner_practises_on_landmarks() -> None:
    pytest.importorskip("stable_baselines3")
    [reached] = re.findall(r"reached (\d) of 8 landmarks", run(EXAMPLES / "landmarks.py"))
    assert int(reached) >= 3


def test_no_example_is_forgotten() -> None:
    searching = {"save_and_search.py", "heuristic_search.py", "subgoals.py"}
    learning = {"agent.py", "own_data.py", "reward_shaping.py", "landmarks.py"}
    assert {path.name for path in EXAMPLES.glob("*.py")} == searching | learning
