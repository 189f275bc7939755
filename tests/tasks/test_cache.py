"""The cache: hit only by what is whole and of the same recipe; never in the way."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from minaction.tasks._cache import cache_folder, cache_path, cached
from minaction.trajectories import Trajectories


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


class Recipe:
    """Makes a data set and counts how often it had to."""

    def __init__(self, seed: int = 0) -> None:
        self.calls = 0
        self.seed = seed

    def __call__(self) -> Trajectories:
        self.calls += 1
        generator = np.random.default_rng(self.seed)
        states, actions = generator.normal(size=(50, 3)), generator.normal(size=(50, 2))
        return Trajectories.from_flat(states, [0, 20, 50], np.arange(50.0), actions)


def same(one: Trajectories, other: Trajectories) -> bool:
    names = ("states", "offsets", "times", "actions")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("memory_map", [False, True])
def test_the_second_time_it_is_read(memory_map):
    recipe = Recipe()
    first = cached("maze", 0, 10, recipe, 1, memory_map=memory_map)
    second = cached("maze", 0, 10, recipe, 1, memory_map=memory_map)
    assert recipe.calls == 1
    assert first.is_mapped is second.is_mapped is memory_map
    assert same(first, Recipe()())
    assert same(second, first)


def test_task_seed_and_size_have_files_of_their_own(home):
    recipes: dict[tuple[str, int, int | None], Recipe] = {}
    for k, key in enumerate([("a", 0, 10), ("b", 0, 10), ("a", 1, 10), ("a", 0, 11), ("a", 0, None)]):
        recipes[key] = Recipe(k)
        cached(*key, recipes[key], 1)
    for key, recipe in recipes.items():
        assert same(cached(*key, recipe, 1), Recipe(recipe.seed)())
        assert recipe.calls == 1
    assert len(list(cache_folder().iterdir())) == len(recipes)
    assert str(cache_folder()).startswith(str(home))


def test_another_recipe_version_makes_it_anew_and_replaces_it():
    old, new = Recipe(0), Recipe(1)
    cached("maze", 0, 10, old, 1)
    assert same(cached("maze", 0, 10, new, "2, simulator 4.0"), Recipe(1)())
    assert same(cached("maze", 0, 10, new, "2, simulator 4.0"), Recipe(1)())
    assert (old.calls, new.calls) == (1, 1)
    cached("maze", 0, 10, old, 1)
    assert old.calls == 2


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


def change_a_number(path: Path) -> None:
    content = path.read_bytes()
    assert content.count(b"[50, 3]") == 1
    path.write_bytes(content.replace(b"[50, 3]", b"[75, 2]"))


def change_the_checksum(path: Path) -> None:
    content = path.read_bytes()
    place = content.index(b"checksum", content.index(b"made")) + 15  # the recipe's own, inside what it says of itself
    path.write_bytes(content[:place] + b"zzzz" + content[place + 4 :])


def put_another_there(path: Path) -> None:
    cached("other", 0, 10, Recipe(5), 1)
    cache_path("other", 0, 10).replace(path)


def save_without_checksum(path: Path) -> None:
    Recipe(5)().save(path)


DAMAGES: list[Callable[[Path], object]] = [
    flip_a_bit,
    change_a_number,
    change_the_checksum,
    put_another_there,
    save_without_checksum,
    lambda path: os.truncate(path, path.stat().st_size - 1),
    lambda path: os.truncate(path, 3),
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(os.urandom(1000)),
]


@pytest.mark.parametrize("memory_map", [False, True])
@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_is_damaged_is_made_anew(damage, memory_map):
    recipe = Recipe()
    cached("maze", 0, 10, recipe, 1)
    damage(cache_path("maze", 0, 10))
    assert same(cached("maze", 0, 10, recipe, 1, memory_map=memory_map), Recipe()())
    assert recipe.calls == 2
    assert same(cached("maze", 0, 10, recipe, 1), Recipe()())
    assert recipe.calls == 2


def test_a_damaged_action_is_noticed_although_training_does_not_see_it():
    recipe = Recipe()
    cached("maze", 0, 10, recipe, 1)
    path = cache_path("maze", 0, 10)
    actions = Recipe()().actions
    assert actions is not None
    content = path.read_bytes()
    place = content.index(actions.tobytes())
    path.write_bytes(content[:place] + b"\x01" + content[place + 1 :])
    cached("maze", 0, 10, recipe, 1)
    assert recipe.calls == 2


def test_where_nothing_can_be_written_it_is_made_each_time(home, monkeypatch, caplog):
    (home / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))
    recipe = Recipe()
    for memory_map in (False, True):
        assert same(cached("maze", 0, 10, recipe, 1, memory_map=memory_map), Recipe()())
    assert recipe.calls == 2
    assert "could not be cached" in caplog.text


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write everywhere")
def test_a_read_only_cache_still_serves_what_it_holds():
    recipe = Recipe()
    cached("maze", 0, 10, recipe, 1)
    cache_folder().chmod(0o555)
    try:
        cached("maze", 0, 10, recipe, 1)
        assert recipe.calls == 1
        assert same(cached("maze", 1, 10, recipe, 1), Recipe()())
    finally:
        cache_folder().chmod(0o755)


def test_a_recipe_that_fails_leaves_nothing():
    def fails() -> Trajectories:
        raise RuntimeError("no simulator")

    with pytest.raises(RuntimeError, match="no simulator"):
        cached("maze", 0, 10, fails, 1)
    assert not cache_path("maze", 0, 10).exists()


def test_odd_task_names_stay_inside_the_folder():
    for name in ("../../etc/x", "a/b", "C:\\x", "a b"):
        assert cache_path(name, 0, None).parent == cache_folder()
