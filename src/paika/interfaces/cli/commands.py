"""Every command, in the order in which help shows them."""

from __future__ import annotations

from paika.interfaces.cli import (
    accuracy,
    bookings,
    books,
    cards,
    cases,
    datasets,
    entrance,
    logs,
    machine,
    moves,
    people,
    policy,
    replay,
    submit,
    tasks,
    top,
    what_if,
)
from paika.interfaces.cli.command import Command

COMMANDS: tuple[Command, ...] = (
    *submit.SHORTCUTS,
    *tasks.SHORTCUTS,
    *moves.SHORTCUTS,
    *logs.SHORTCUTS,
    *top.SHORTCUTS,
    *datasets.SHORTCUTS,
    *books.SHORTCUTS,
    *entrance.SHORTCUTS,
    *machine.SHORTCUTS,
    *replay.SHORTCUTS,
    *cases.SHORTCUTS,
    *submit.COMMANDS,
    *tasks.COMMANDS,
    *moves.COMMANDS,
    *logs.COMMANDS,
    *cards.COMMANDS,
    *datasets.COMMANDS,
    *what_if.COMMANDS,
    *cases.COMMANDS,
    *accuracy.COMMANDS,
    *people.COMMANDS,
    *bookings.COMMANDS,
    *books.COMMANDS,
    *policy.COMMANDS,
    *machine.COMMANDS,
)
