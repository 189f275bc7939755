"""What each command does; one module per command, imported only when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .. import cli


def train(options: cli.Train) -> int:
    """`minaction train`"""
    from .train import train as command

    return command(options)


def evaluate(options: cli.Evaluate) -> int:
    """`minaction evaluate`"""
    from .inspect import evaluate as command

    return command(options)


def distance(options: cli.Distance) -> int:
    """`minaction distance`"""
    from .inspect import distance as command

    return command(options)


def plan(options: cli.Plan) -> int:
    """`minaction plan`"""
    from .plan import plan as command

    return command(options)


def data(options: cli.Data) -> int:
    """`minaction data`"""
    from .data import data as command

    return command(options)


def tasks() -> int:
    """`minaction tasks`"""
    from .catalogue import tasks as command

    return command()


def objectives() -> int:
    """`minaction objectives`"""
    from .catalogue import objectives as command

    return command()


def doctor() -> int:
    """`minaction doctor`"""
    from .doctor import doctor as command

    return command()
