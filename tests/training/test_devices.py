"""Data-parallel training, on four virtual devices in a process of its own: JAX counts its devices once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minaction._devices import Devices
from minaction.errors import InputError

TRAIN = """
import json, sys
from pathlib import Path
import jax, numpy as np
from minaction.objectives import make_objective
from minaction.training import Trainer
from minaction.trajectories import Trajectories

random = np.random.default_rng(0)
walks = random.normal(size=(40, 30, 3)).cumsum(axis=1).astype(np.float32)
data = Trajectories.from_episodes(list(walks))
path = Path(sys.argv[1]) / "walks.safetensors"
data.save(path)
cases = {
    "two seeds": (data, "tdmaddist", [0, 1]),
    "mapped": (Trajectories.load(path, memory_map=True), "maddist", [0]),
}
small = {"encoder.hidden": 16, "encoder.latent": 8, "batch_size": 31, "constraint_batch_size": 64}
found = {}
for name, (states, objective, seeds) in cases.items():
    for devices in (1, 4):
        trainer = Trainer(
            make_objective(objective, small), states, steps=20, seeds=seeds, encode_distinct=False, devices=devices
        )
        losses = [trainer.advance(5)["loss"].tolist() for _ in range(3)]
        used = len(jax.tree.leaves(trainer.state.network)[0].sharding.device_set)
        distance = trainer.models()[0].distance(walks[0, 0], walks[1, 0])
        found.setdefault(name, []).append({"losses": losses, "devices": used, "distance": float(distance)})
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4",
    }
    folder: Path = tmp_path_factory.mktemp("devices")
    command = [sys.executable, "-c", TRAIN, str(folder)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("case", ["two seeds", "mapped"])
def test_four_devices_learn_what_one_learns(found: dict[str, list[dict]], case: str) -> None:
    one, four = found[case]
    assert (one["devices"], four["devices"]) == (1, 4)
    np.testing.assert_allclose(four["losses"], one["losses"], rtol=1e-4)
    assert four["distance"] == pytest.approx(one["distance"], rel=1e-2)


def test_more_devices_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match=r"Cannot train on 999 devices: there (is|are) \d+ here"):
        Devices(999)
