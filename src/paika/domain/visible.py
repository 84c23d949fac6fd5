"""Text as data: signs that cannot be seen are shown by name, so that no two names look alike."""

from __future__ import annotations

import unicodedata

_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


def shown(text: str) -> str:
    """The text with control, format and other invisible signs written as ⟦U+202E⟧; newlines and tabs too."""
    if text.isprintable():  # nearly always, and found out at once
        return text
    return "".join(f"⟦U+{ord(c):04X}⟧" if unicodedata.category(c) in _INVISIBLE else c for c in text)
