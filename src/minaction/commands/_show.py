"""Output that several commands share."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from .._health import Health
from ..evaluation import Evaluation
from ..reports import agreement_table, rows_by_range, rows_by_truth

STOPPING = "stopping once the present steps are kept; Ctrl-C once more stops at once"


def make_console() -> Console:
    """A console for tables: as wide as the terminal, or wide enough for them if there is none."""
    console = Console()
    return console if console.is_terminal else Console(width=max(120, console.width))


def print_agreement(console: Console, seeds: Sequence[Sequence[Evaluation]]) -> None:
    """Print the agreement with every truth over all seeds; a sentence if no truth is known."""
    if not any(seeds):
        console.print("No truth is known for this data, so there is nothing to compare with.", highlight=False)
        return
    console.print(agreement_table(rows_by_truth(seeds), title="Agreement with the truth"))


def print_agreement_by_range(console: Console, seeds: Sequence[Sequence[Evaluation]]) -> None:
    """Print a table per truth, by range of true distance."""
    for truth in dict.fromkeys(one.truth for one in seeds[0]):
        own = [[one for one in seed if one.truth == truth] for seed in seeds]
        console.print(agreement_table(rows_by_range(own), title=f"By true distance: {truth}", heading="true distance"))


def print_health(console: Console, seeds: Sequence[Health]) -> None:
    """Print the result of validation in a few lines: means over seeds, and every verdict."""
    if not seeds:
        return
    numbers = {
        "single steps measure": ([one.single_step for one in seeds], "{:.2f} where they take 1"),
        "random pairs measure": ([one.random_pairs for one in seeds], "{:.1f} steps"),
        "too long on held-out pairs by": ([one.excess for one in seeds], "{:.1%}"),
        "on pairs that are new by": ([one.novel_excess for one in seeds], "{:.1%}"),
        "correlation with shortest paths of the recording": ([one.agreement for one in seeds], "{:.3f}"),
        "seeds differ by": ([one.disagreement for one in seeds], "{:.1%}"),
        "states known from training": ([one.recorded_share for one in seeds], "{:.0%}"),
    }
    console.print(f"judged by {seeds[0].episodes} episodes that were held out:", highlight=False)
    for name, (values, form) in numbers.items():
        known = [value for value in values if value is not None]
        if known:
            console.print(f"  {name} {form.format(sum(known) / len(known))}", highlight=False)
    for sentence in dict.fromkeys(sentence for one in seeds for sentence in one.verdict):
        console.print(f"  {sentence}", highlight=False, markup=False, soft_wrap=True, style="bold")
