"""The PyTorch runtime: gradients are those of JAX, and finite where a distance has none."""

from __future__ import annotations

from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from minaction._trees import named_leaves
from minaction.errors import InputError
from minaction.quasimetrics import QUASIMETRICS

from .conftest import CASES, Case, model_of, states_of

torch = pytest.importorskip("torch")


# Every encoder with one quasimetric and every quasimetric with one encoder; the slow tests have all pairs.
PAIRS = [
    pytest.param(
        CASES[case], head, marks=() if case == "selu" or head == "simple" else pytest.mark.slow, id=f"{case}-{head}"
    )
    for case in CASES
    for head in QUASIMETRICS
]


@pytest.mark.parametrize(("case", "quasimetric"), PAIRS)
def test_gradients_are_those_of_jax(case: Case, quasimetric: str, tmp_path: Path) -> None:
    from minaction.runtimes.torch import load

    model = model_of(case, quasimetric)
    model.save(tmp_path / "model.safetensors")
    # Whole numbers have no gradient; as floating-point numbers they are encoded alike.
    states, goals = (states_of(case, 60, seed)[20:].astype(np.float32) for seed in (1, 2))
    expected, of_states = eqx.filter_value_and_grad(lambda both: jnp.sum(both[0](both[1], jnp.asarray(goals))))(
        (model.network, jnp.asarray(states))
    )[1]
    loaded, given = load(tmp_path / "model.safetensors"), torch.tensor(states, requires_grad=True)
    loaded(given, torch.tensor(goals)).sum().backward()
    close(given.grad.numpy(), of_states)
    parameters = dict(loaded.named_parameters())
    for name, gradient in named_leaves(expected).items():
        if name.replace(".", "_") in parameters:
            found = parameters[name.replace(".", "_")].grad
            assert found is not None
            close(found.numpy(), gradient)


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * float(np.abs(expected).max()) + 1e-12)


@pytest.mark.parametrize("quasimetric", list(QUASIMETRICS))
def test_gradients_are_finite_between_equal_states(quasimetric: str, tmp_path: Path) -> None:
    from minaction.runtimes.torch import load

    case = CASES["selu"]
    model_of(case, quasimetric).save(tmp_path / "model.safetensors")
    states = torch.tensor(states_of(case, 60, 1)[20:], requires_grad=True)
    distances = load(tmp_path / "model.safetensors")(states, states)
    assert (distances == 0).all()
    distances.sum().backward()
    assert states.grad is not None
    assert torch.isfinite(states.grad).all()


def test_it_broadcasts_moves_and_refuses(tmp_path: Path) -> None:
    from minaction.runtimes.torch import load

    case = CASES["relu-normed"]
    model_of(case, "iqe").save(tmp_path / "model.safetensors")
    model, states = load(tmp_path / "model.safetensors"), torch.tensor(states_of(case, 30, 1)[20:])
    all_pairs = model(states[:, None], states[None])
    assert all_pairs.shape == (10, 10)
    precise = model.double()(states[:, None], states[None])
    np.testing.assert_allclose(precise.detach().numpy(), all_pairs.detach().numpy(), rtol=1e-4, atol=1e-4)
    restored = load(tmp_path / "model.safetensors")
    restored.load_state_dict(model.state_dict())
    with pytest.raises(InputError, match="states of shape"):
        model(states[:, 0], states)
