"""Whose process it is, as this host knows it."""

from __future__ import annotations


def process_owner(pid: int) -> tuple[str | None, str | None]:
    """User and command name of a process of this host; None where it is gone, hidden or in another namespace."""
    import psutil

    try:
        process = psutil.Process(pid)
    except (psutil.Error, ValueError, OverflowError):
        return None, None
    user: str | None = None
    command: str | None = None
    try:
        user = process.username()
        command = process.name()
    except (psutil.Error, KeyError):
        pass
    return user, command
