"""Figures: learning curves with a band over seeds, and maps of the distance to and from a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._files import atomic_write
from ..errors import InputError
from ..tasks import Layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

# Okabe and Ito's palette: its colours stay distinct under every common colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_INK, _FAINT = "#333333", "#DDDDDD"
_WALL, _WALL_LINES, _UNREACHABLE = "#4A4A4A", "#5E5E5E", "#F4F1EA"
_FORMATS = (".png", ".svg", ".pdf")
_MOST_NUMBERS = 80  # up to so many states, a landscape writes every distance into its pixel
_FEWEST_LINES = 600  # from so many states on, it draws contour lines


@dataclass(frozen=True)
class Panel:
    """One measure over training: an array (seeds, points) for each label."""

    title: str
    series: Mapping[str, np.ndarray]
    best: float | None = None  # the value of a perfect model, where the axis ends
    published: Mapping[str, float] = field(default_factory=dict)  # by label: drawn as a dotted line
    steps: Mapping[str, np.ndarray] = field(default_factory=dict)  # by label, for curves with steps of their own
    axis: str = "gradient steps"


@dataclass(frozen=True)
class Field:
    """Values to colour a layout's states with, infinite where unreachable."""

    title: str
    values: np.ndarray  # (n,)
    unit: str = "steps"


def learning_curves(
    path: str | Path, steps: Sequence[int] | np.ndarray, panels: Sequence[Panel], title: str | None = None
) -> None:
    """Draw the panels side by side: the mean over seeds as a line, minimum to maximum as a band.

    `steps` are those of every curve that has no steps of its own.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    suffix = checked_suffix(path)
    steps = np.asarray(steps, dtype=np.float64)
    labels = list(dict.fromkeys(label for panel in panels for label in panel.series))
    colours = {label: COLOURS[k % len(COLOURS)] for k, label in enumerate(labels)}
    figure = Figure(figsize=(4.6 * len(panels), 3.7), layout="constrained", facecolor="white")
    for axes, panel in zip(np.ravel(figure.subplots(1, len(panels), squeeze=False)), panels, strict=True):
        _draw_panel(axes, steps, panel, colours)
    handles = [Line2D([], [], color=colours[label], linewidth=2, label=label) for label in labels]
    if any(panel.published for panel in panels):
        handles.append(Line2D([], [], color=_INK, linewidth=1.3, linestyle=":", label="published"))
    if len(handles) > 1:
        legend = figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4), frameon=False)
        for text in legend.get_texts():
            text.set(color=_INK, fontsize=9.5)
    finish_figure(figure, path, suffix, title)


def _draw_panel(axes: Axes, steps: np.ndarray, panel: Panel, colours: Mapping[str, str]) -> None:
    from matplotlib.ticker import EngFormatter

    shown: list[float] = list(panel.published.values())
    for label, values in panel.series.items():
        values = np.atleast_2d(np.asarray(values, dtype=np.float64))
        own = np.asarray(panel.steps.get(label, steps), dtype=np.float64)
        if values.shape[1] != len(own):
            raise InputError(
                f"The curve {label!r} of {panel.title!r} has {values.shape[1]} points for {len(own)} steps."
            )
        # A seed that stopped early, or a measure without a value, leaves a gap and nothing worse.
        points = np.ma.masked_invalid(values)
        (line,) = axes.plot(own, points.mean(axis=0), color=colours[label], linewidth=2, zorder=3)
        line.set(solid_capstyle="round", marker="o" if len(own) <= 10 else "", markersize=4)
        if len(values) > 1:
            low, high = points.min(axis=0), points.max(axis=0)
            axes.fill_between(own, low, high, color=colours[label], alpha=0.18, linewidth=0, zorder=2)
        # Values early in training are far off and would squeeze everything else into a corner.
        settled = values[:, own >= 0.1 * own.max()]
        shown.extend(settled[np.isfinite(settled)].tolist())
    for label, value in panel.published.items():
        axes.axhline(value, color=colours.get(label, _INK), linewidth=1.3, linestyle=":", zorder=1.5)
    _set_limits(axes, shown, panel.best)
    axes.set_xlim(0, max((np.max(panel.steps.get(label, steps)) for label in panel.series), default=1.0))
    axes.set_title(panel.title, color=_INK, fontsize=11, loc="left")
    axes.set_xlabel(panel.axis, color=_INK, fontsize=9.5)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.grid(color=_FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK, labelsize=9, length=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_FAINT)


def _set_limits(axes: Axes, shown: Sequence[float], best: float | None) -> None:
    """Room around what is shown, except beyond the best possible value."""
    within = [*shown] if best is None else [*shown, best]
    if not within:
        return
    low, high = min(within), max(within)
    margin = 0.06 * (high - low if high > low else 1.0)
    axes.set_ylim(low if low == best else low - margin, high if high == best else high + margin)


def landscape(
    path: str | Path,
    layout: Layout,
    rows: Sequence[Sequence[Field]],
    chosen_index: int,
    title: str | None = None,
) -> None:
    """Draw a heat map per field, as many rows as given, with the state `layout.states[chosen_index]` marked.

    A row usually shows the learned distance beside the true one. Fields of the same unit share one scale, so that equal
    colours are equal distances. Small layouts show every distance as a number, too; large ones show contour lines.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    suffix = checked_suffix(path)
    _check_landscape(layout, rows, chosen_index)
    columns = max(len(row) for row in rows)
    width, height = panel_size(layout.shape)
    bars = max(len({one.unit for one in row}) for row in rows)
    size = (columns * (width + 0.1) + 0.85 * bars, len(rows) * (height + 0.4) + (0.4 if title else 0.1))
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    for axes_row, row in zip(figure.subplots(len(rows), columns, squeeze=False), rows, strict=True):
        for axes in axes_row[len(row) :]:
            axes.set_axis_off()
        for unit in dict.fromkeys(one.unit for one in row):
            group = [(axes, one) for axes, one in zip(axes_row, row, strict=False) if one.unit == unit]
            _draw_group(figure, layout, group, chosen_index)
    if any(np.isinf(one.values).any() for row in rows for one in row):
        patch = Patch(facecolor=_UNREACHABLE, edgecolor="#BBBBBB", label="unreachable")
        figure.legend(handles=[patch], loc="outside lower left", frameon=False, labelcolor=_INK, fontsize=9)
    finish_figure(figure, path, suffix, title)


def _check_landscape(layout: Layout, rows: Sequence[Sequence[Field]], chosen_index: int) -> None:
    if not 0 <= chosen_index < len(layout.states):
        raise InputError(f"There is no state {chosen_index} to mark among {len(layout.states)}.")
    for one in (one for row in rows for one in row):
        if np.shape(one.values) != (len(layout.pixels),):
            raise InputError(
                f"{one.title!r} has values of shape {np.shape(one.values)} for {len(layout.pixels)} states."
            )


def panel_size(shape: tuple[int, int]) -> tuple[float, float]:
    """Width and height in inches of a picture with these rows and columns of pixels, about equal in area."""
    rows, columns = shape
    width = float(np.clip(np.sqrt(13.0 * columns / rows), 2.6, 5.2))
    return width, float(np.clip(width * rows / columns, 0.8, 7.0))


def _draw_group(figure: Figure, layout: Layout, group: Sequence[tuple[Axes, Field]], chosen_index: int) -> None:
    """Fields of one unit with one scale and one colour bar."""
    values = np.stack([np.asarray(one.values, dtype=np.float64) for _, one in group])
    # What a model predicts for unreachable pairs is large; it must not flatten the other colours.
    comparable = values[:, np.isfinite(values).all(axis=0)]
    longest = float(comparable.max()) if comparable.size and comparable.max() > 0 else 1.0
    beyond = bool((values[np.isfinite(values)] > longest).any())
    images = [draw_field(axes, layout, one, longest, chosen_index) for axes, one in group]
    bar = figure.colorbar(
        images[0],
        ax=[axes for axes, _ in group],
        fraction=0.04,
        pad=0.015,
        aspect=16,
        extend="max" if beyond else "neither",
    )
    bar.set_label(group[0][1].unit, color=_INK, fontsize=9)
    bar.ax.tick_params(colors=_INK, labelsize=8, length=0)
    bar.outline.set_visible(False)  # type: ignore[operator]


def draw_field(axes: Axes, layout: Layout, one: Field, longest: float, chosen_index: int) -> AxesImage:
    """Colour a layout's states by one field and mark the chosen state."""
    from matplotlib.colors import ListedColormap

    picture = np.full(layout.shape, np.nan)
    picture[tuple(layout.pixels.T)] = one.values
    finite = np.ma.masked_invalid(picture)
    # Where there is no state, the background shows: dark and hatched.
    axes.patch.set(facecolor=_WALL, edgecolor=_WALL_LINES, hatch="////", linewidth=0)
    if np.isinf(picture).any():
        axes.imshow(np.where(np.isinf(picture), 0.0, np.nan), cmap=ListedColormap([_UNREACHABLE]))
    image = axes.imshow(finite, cmap="viridis_r", vmin=0.0, vmax=longest)
    if len(layout.pixels) <= _MOST_NUMBERS:
        _write_numbers(axes, image, layout, one.values, chosen_index)
    elif len(layout.pixels) >= _FEWEST_LINES and finite.count():
        levels = longest * np.arange(1, 12) / 12
        axes.contour(finite, levels=levels, colors="white", linewidths=0.6, alpha=0.6)
    row, column = layout.pixels[chosen_index]
    axes.scatter(column, row, marker="*", s=170, color=COLOURS[1], edgecolors="black", linewidths=0.9, zorder=4)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_title(one.title, color=_INK, fontsize=10.5, loc="left")
    return image


def _write_numbers(axes: Axes, image: AxesImage, layout: Layout, values: np.ndarray, chosen_index: int) -> None:
    finite = values[np.isfinite(values)]
    decimals = 0 if np.array_equal(finite, np.round(finite)) else 1
    for k, ((row, column), value) in enumerate(zip(layout.pixels, values, strict=True)):
        if k == chosen_index:
            continue  # the mark covers it
        text = "∞" if np.isinf(value) else f"{value:.{decimals}f}"
        red, green, blue, _ = image.cmap(image.norm(value))
        dark = np.isfinite(value) and 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        axes.text(column, row, text, ha="center", va="center", fontsize=7.5, color="white" if dark else _INK)


def checked_suffix(path: str | Path) -> str:
    """The suffix of a figure's name, without its dot, if it can be drawn."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise InputError(f"Cannot draw {path}: the name of a figure must end in one of {', '.join(_FORMATS)}.")
    return suffix[1:]


def finish_figure(figure: Figure, path: str | Path, suffix: str, title: str | None) -> None:
    """Add the title and write the file."""
    if title:
        # A bold letter is about two thirds as wide as high; a title wider than the figure gets a smaller font.
        widest = 72 * figure.get_figwidth() / (0.66 * len(title))
        figure.suptitle(title, color=_INK, fontsize=min(12.5, widest), fontweight="bold", x=0.01, ha="left")
    for text in figure.findobj(lambda artist: hasattr(artist, "set_parse_math")):
        text.set_parse_math(False)  # type: ignore[attr-defined]  # a name may have dollar signs
    with atomic_write(path) as file:
        figure.savefig(file, format=suffix, dpi=150)
