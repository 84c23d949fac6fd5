"""Chance from the operating system."""

from __future__ import annotations

from secrets import token_hex


class SystemIds:
    """Tokens that cannot be guessed."""

    def token(self, size_bytes: int = 16) -> str:
        """Fresh hex text of 2 * size_bytes characters."""
        return token_hex(size_bytes)
