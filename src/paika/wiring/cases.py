"""Support cases read from files, packed or not."""

from __future__ import annotations

import gzip
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from paika.adapters.snapshot_json import JsonSnapshotFile
from paika.domain.problem import Kind, Problem
from paika.domain.support_case import SupportCase
from paika.ports.store import Unreadable

PACKED = b"\x1f\x8b"


@dataclass(eq=False)
class UnreadableCase(Problem):
    """The file is no support case and no snapshot of paika, or cannot be read."""

    code: ClassVar[str] = "case.unreadable"
    kind: ClassVar[Kind] = Kind.INVALID
    path: str
    detail: str


def read_case(path: Path) -> SupportCase:
    """The case in the file, or on standard input for '-'. Raises UnreadableCase."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        text = (gzip.decompress(data) if data.startswith(PACKED) else data).decode("utf-8")
        return JsonSnapshotFile().decode_case(text)
    except Unreadable as fault:
        detail = fault.detail
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as fault:
        detail = getattr(fault, "strerror", None) or str(fault)
    raise UnreadableCase(field="file", path=str(path), detail=detail[:200])
