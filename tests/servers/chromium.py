"""Debian's Chromium and fonts that have Chinese characters, for tests that drive a real browser."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.servers.machine import debian_packages

PROGRAM = Path("/usr/bin/chromium")
FONTS = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")


def chromium_program() -> Path:
    """The browser's program, with the fonts installed. Raises ServerMissing."""
    debian_packages("chromium", "fonts-noto-cjk", present=_present)
    return PROGRAM


def _present() -> bool:
    return shutil.which(str(PROGRAM)) is not None and FONTS.exists()


if __name__ == "__main__":
    print(chromium_program())
