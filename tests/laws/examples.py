"""How many examples a law is tried on."""

from __future__ import annotations

import os


def examples(usual: int, cost: int = 1) -> int:
    """The usual number, or PAIKA_LAW_EXAMPLES divided by what one example costs, if that is more."""
    return max(usual, int(os.environ.get("PAIKA_LAW_EXAMPLES", "0")) // cost)
