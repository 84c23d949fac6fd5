"""Exit codes of the command line."""

from __future__ import annotations

from enum import IntEnum

from paika.domain.problem import Kind


class ExitCode(IntEnum):
    """What a script can tell apart."""

    OK = 0
    OTHER = 1  # a fault of paika's own, or an examination that found something broken
    USAGE = 2  # the command line itself cannot be read
    CANCELLED = 3  # the person said no, or pressed Ctrl-C
    REFUSED = 4  # the server understood and refused
    SYSTEM = 5  # the server cannot be reached, or failed


def of_status(status: int | None) -> ExitCode:
    """For an answer of the server; None: there was none."""
    return ExitCode.REFUSED if status is not None and 400 <= status < 500 else ExitCode.SYSTEM


def of_kind(kind: Kind) -> ExitCode:
    """For a refusal on this side of the line."""
    if kind is Kind.INVALID:
        return ExitCode.USAGE
    return ExitCode.SYSTEM if kind is Kind.SYSTEM else ExitCode.REFUSED
