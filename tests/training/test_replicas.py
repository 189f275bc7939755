"""Seeds that are trained in threads of a CPU: at the same time, and yet as if alone."""

from __future__ import annotations

import threading

import jax.numpy as jnp
import numpy as np
import pytest

from minaction._devices import Devices
from minaction._trees import named_leaves
from minaction.encoders import MLP
from minaction.objectives import MadDist
from minaction.training import Trainer, _replicas
from minaction.training._replicas import Threaded
from minaction.trajectories import Trajectories

SMALL = MadDist(encoder=MLP(hidden=(32,), latent=16), batch_size=32, constraint_batch_size=64)


def test_as_many_seeds_at_a_time_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_replicas, "core_count", lambda: 2)
    replicas, both = Threaded(Devices()), threading.Barrier(2)
    together = list[str]()

    def train(state: jnp.ndarray, data: np.ndarray) -> tuple[jnp.ndarray]:
        if int(state[0]) > 0:
            both.wait(timeout=60)  # breaks unless another seed comes to this point before this one goes on
            together.append(threading.current_thread().name)
        return (state + data,)

    data = replicas.put([np.array(10), np.array(20)], [0, 1, 1])
    (found,) = replicas.train(train, jnp.array([0, 1, 2]), data, steps=5)
    assert found.tolist() == [10, 21, 22]
    assert len(set(together)) == 2


def test_the_first_seed_of_a_new_program_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_replicas, "core_count", lambda: 2)
    replicas, at_work, most = Threaded(Devices()), list[int](), list[int]()
    lock = threading.Lock()

    def train(state: jnp.ndarray, data: np.ndarray) -> tuple[jnp.ndarray]:
        with lock:
            at_work.append(int(state[0]))
            most.append(len(at_work))
        threading.Event().wait(0.05)
        with lock:
            at_work.remove(int(state[0]))
        return (state,)

    for steps in (5, 7):  # programs of different lengths are compiled apart
        most.clear()
        replicas.train(train, jnp.arange(3), replicas.put([np.array(1)], [0, 0, 0]), steps)
        assert most[0] == 1
        assert max(most[1:]) == 2


def test_weights_do_not_depend_on_the_number_of_cores(
    line_walks: Trajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    def weights(at_a_time: int, seed_numbers: list[int]) -> dict[str, np.ndarray]:
        monkeypatch.setattr(_replicas, "core_count", lambda: at_a_time)
        trainer = Trainer(SMALL, line_walks, steps=20, seeds=seed_numbers)
        for _ in range(4):
            trainer.advance(5)
        return {name: values[-3:] for name, values in named_leaves(trainer.state.network).items()}

    expected = weights(1, [3, 4, 5])
    for cores in (2, 5):
        found = weights(cores, [1, 2, 3, 4, 5])
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_a_seed_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_replicas, "core_count", lambda: 2)
    replicas = Threaded(Devices())

    def train(state: jnp.ndarray, data: np.ndarray) -> tuple[jnp.ndarray]:
        if int(state[0]) == 2:
            raise MemoryError("seed 2")
        return (state,)

    with pytest.raises(MemoryError, match="seed 2"):
        replicas.train(train, jnp.arange(3), replicas.put([np.array(1)], [0, 0, 0]), steps=5)
