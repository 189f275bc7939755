"""Figures are read back: pixels have the colours of their values, curves are mean, minimum and maximum."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread

from minaction.errors import InputError
from minaction.reports import _figures as figures
from minaction.reports._figures import Field, Panel, landscape, learning_curves
from minaction.tasks import Layout


def room(rows: int = 10, columns: int = 10) -> Layout:
    """Free cells, two rows of wall below; 100 are too many for numbers and too few for lines."""
    pixels = np.stack(np.divmod(np.arange(rows * columns), columns), axis=1)
    return Layout((rows + 2, columns), pixels.astype(np.float32), pixels)


def share_of(picture: np.ndarray, colour: tuple[float, ...]) -> float:
    """How much of the picture has this colour."""
    return float((np.abs(picture[..., :3] - np.array(colour[:3])) < 0.006).all(axis=-1).mean())


def drawn_panel(panel: Panel, steps: np.ndarray) -> Axes:
    axes = Figure().add_subplot()
    figures._draw_panel(axes, steps, panel, dict.fromkeys(panel.series, "#0072B2"))
    return axes


def test_a_curve_is_the_mean_and_its_band_spans_minimum_to_maximum() -> None:
    steps = np.arange(1, 21) * 100
    values = np.random.default_rng(0).uniform(0.5, 0.9, (5, 20))
    axes = drawn_panel(Panel("Pearson", {"true": values}, best=1.0), steps)
    np.testing.assert_array_equal(np.asarray(axes.lines[0].get_xdata()), steps)
    np.testing.assert_allclose(np.asarray(axes.lines[0].get_ydata()), values.mean(axis=0))
    band = np.asarray(axes.collections[0].get_paths()[0].vertices)
    for step, low, high in zip(steps, values.min(axis=0), values.max(axis=0), strict=True):
        here = band[np.isclose(band[:, 0], step), 1]
        assert here.min() == pytest.approx(low)
        assert here.max() == pytest.approx(high)
    assert axes.get_ylim()[1] == 1.0


def test_early_values_leave_the_axis_so_that_late_ones_can_be_told_apart() -> None:
    steps = np.arange(1, 101) * 100
    axes = drawn_panel(Panel("Pearson", {"true": 1 - np.exp(-steps / 500)[None]}, best=1.0), steps)
    low, high = axes.get_ylim()
    assert 0.8 < low < 1 - np.exp(-2)
    assert high == 1.0


def test_one_seed_has_no_band_and_a_published_value_is_a_dotted_line() -> None:
    steps = np.array([1, 2, 3])
    axes = drawn_panel(Panel("Ratio CV", {"true": np.array([[0.3, 0.2, 0.1]])}, 0.0, {"true": 0.078}), steps)
    assert not axes.collections
    (dotted,) = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert set(np.asarray(dotted.get_ydata()).tolist()) == {0.078}


def test_a_curve_of_nothing_but_nan_is_drawn_empty(tmp_path: Path) -> None:
    panel = Panel("Pearson", {"true": np.full((2, 3), np.nan)})
    learning_curves(tmp_path / "curves.png", [1, 2, 3], [panel])
    assert imread(tmp_path / "curves.png").shape[2] == 4


@pytest.mark.parametrize(("published", "named"), [({}, False), ({"true": 0.99}, True)])
def test_the_legend_names_the_published_value_only_where_there_is_one(
    tmp_path: Path, published: dict[str, float], named: bool
) -> None:
    path = tmp_path / "curves.svg"
    curves = {"true": np.array([[0.8, 0.9]]), "observed": np.array([[0.85, 0.95]])}
    learning_curves(path, [10, 20], [Panel("Pearson", curves, 1.0, published)], title="a title")
    text = path.read_text()
    assert all(f"<!-- {word} -->" in text for word in ("Pearson", "true", "observed", "a title"))
    assert ("<!-- published -->" in text) is named


def test_a_landscape_has_the_colours_of_its_values_walls_and_unreachable_states(tmp_path: Path) -> None:
    layout = room()
    values = np.full(100, 3.0)
    values[50:] = 6.0
    values[-1] = 12.0
    landscape(tmp_path / "all.png", layout, [[Field("to", values)]], 0)
    picture = imread(tmp_path / "all.png")
    quarter, half = colormaps["viridis_r"](0.25), colormaps["viridis_r"](0.5)
    assert share_of(picture, quarter) == pytest.approx(share_of(picture, half), rel=0.15)
    assert share_of(picture, half) > 0.05
    assert share_of(picture, to_rgb(figures._WALL)) > 0.05
    assert share_of(picture, to_rgb(figures._UNREACHABLE)) < 0.001
    values[50:99] = np.inf
    landscape(tmp_path / "some.png", layout, [[Field("to", values)]], 0)
    assert share_of(imread(tmp_path / "some.png"), to_rgb(figures._UNREACHABLE)) > 0.05


def test_equal_units_share_a_scale_and_others_do_not(tmp_path: Path) -> None:
    layout = room()
    half, whole = np.full(100, 5.0), np.full(100, 10.0)
    middle = colormaps["viridis_r"](0.5)
    landscape(tmp_path / "same.png", layout, [[Field("a", half, "steps"), Field("b", whole, "steps")]], 0)
    landscape(tmp_path / "other.png", layout, [[Field("a", half, "steps"), Field("b", whole, "cells")]], 0)
    assert share_of(imread(tmp_path / "same.png"), middle) > 0.05
    assert share_of(imread(tmp_path / "other.png"), middle) < 0.01


def test_what_is_predicted_for_unreachable_states_does_not_flatten_the_others(tmp_path: Path) -> None:
    layout = room()
    true = np.full(100, 10.0)
    true[:50], true[50:75] = 5.0, np.inf
    learned = np.where(np.isinf(true), 5000.0, true)
    landscape(tmp_path / "pair.png", layout, [[Field("learned", learned), Field("true", true)]], 0)
    assert share_of(imread(tmp_path / "pair.png"), colormaps["viridis_r"](0.5)) > 0.05


@pytest.mark.parametrize("count", [20, 100, 700])
def test_small_landscapes_have_numbers_and_large_ones_lines(tmp_path: Path, count: int) -> None:
    layout = room(count // 20, 20)
    values = np.abs(layout.pixels - [0, 3]).sum(axis=1) + 0.25
    path = tmp_path / "world.svg"
    landscape(path, layout, [[Field("to the star", values)]], 3)
    text = path.read_text()
    assert ("<!-- 2.2 -->" in text) is (count == 20)
    assert ("stroke: #ffffff; stroke-opacity: 0.6" in text) is (count == 700)


def test_bad_input_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    layout, values = room(1, 5), np.arange(5.0)
    with pytest.raises(InputError, match=r"must end in one of \.png, \.svg, \.pdf"):
        landscape(tmp_path / "a.bmp", layout, [[Field("to", values)]], 0)
    with pytest.raises(InputError, match="no state 5"):
        landscape(tmp_path / "a.png", layout, [[Field("to", values)]], 5)
    with pytest.raises(InputError, match=r"shape \(4,\) for 5 states"):
        landscape(tmp_path / "a.png", layout, [[Field("to", values[:4])]], 0)
    with pytest.raises(InputError, match="3 points for 2 steps"):
        learning_curves(tmp_path / "a.png", [1, 2], [Panel("r", {"true": np.zeros((1, 3))})])
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="Cannot write"):
        landscape(tmp_path / "file" / "a.png", layout, [[Field("to", values)]], 0)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_matplotlib_is_loaded_only_to_draw_and_its_global_state_never(tmp_path: Path) -> None:
    script = f"""
import sys
from minaction.reports._figures import Panel, learning_curves
assert "matplotlib" not in sys.modules
learning_curves({str(tmp_path / "curves.pdf")!r}, [1, 2], [Panel("r", {{"true": [[0.1, 0.2]]}})])
assert "matplotlib.pyplot" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "curves.pdf").read_bytes().startswith(b"%PDF")


def test_a_title_is_never_wider_than_its_figure(tmp_path: Path) -> None:
    for width, title in ((3.0, "ogbench-antmaze-medium-explore: learned minimum action distances"), (8.0, "short")):
        figure = Figure(figsize=(width, 2))
        figures.finish_figure(figure, tmp_path / "figure.png", "png", title)
        extent = figure._suptitle.get_window_extent(FigureCanvasAgg(figure).get_renderer())  # type: ignore[attr-defined]
        assert extent.x1 <= figure.bbox.x1
