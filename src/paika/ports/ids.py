"""Ids that must not be guessed: run tokens and token secrets. Other ids are numbers from the records."""

from __future__ import annotations

from typing import Protocol


class Ids(Protocol):
    """Chance is an argument, and this is where it comes from."""

    def token(self, size_bytes: int = 16) -> str:
        """Fresh lower-case hex text of 2 * size_bytes characters."""
        ...
