"""A run's output within a byte budget; the standard library alone.

The first half of the budget keeps the beginning, the other half a rolling end. Each file is named by the
offset of its first byte in the whole output as written, so what was dropped in between is a visible gap.
`count` holds the sums (written, dropped); it has its place from the start and needs no room later.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

SMALLEST_BUDGET = 64 * 1024
SMALLEST_SEGMENT = 4096
SEGMENTS = 8  # of the rolling half
MOST_FILES = 64  # of either half; a disk that fills and empties again breaks files off early
SUMS = struct.Struct("<QQ")
COUNT = "count"


def prepare(folder: str) -> None:
    """A new, empty log."""
    os.mkdir(folder, 0o700)
    descriptor = os.open(os.path.join(folder, COUNT), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, SUMS.pack(0, 0))
    os.close(descriptor)


def sums(folder: str) -> tuple[int, int]:
    """(bytes written by the run, bytes of them dropped)."""
    try:
        with open(os.path.join(folder, COUNT), "rb") as file:
            written, dropped = SUMS.unpack(file.read(SUMS.size))
    except (FileNotFoundError, NotADirectoryError, struct.error):
        return 0, 0
    return written, dropped


class LogWriter:
    """The one writer of a log. It never raises for a disk that is full or broken: it drops and counts."""

    def __init__(self, folder: str, budget_bytes: int) -> None:
        self._folder = folder
        self._half = max(budget_bytes, SMALLEST_BUDGET) // 2
        self._segment = max(self._half // SEGMENTS, SMALLEST_SEGMENT)
        self._count = os.open(os.path.join(folder, COUNT), os.O_WRONLY)
        self._open: int | None = None
        self._opened_at = 0
        self._room = 0
        self._head = 0
        self._head_files = 0
        self._tail: list[tuple[int, int]] = []  # (offset, size) of each rolling file, oldest first
        self.written = 0
        self.dropped = 0

    def append(self, data: bytes) -> None:
        """Keep or drop the next piece of output."""
        view = memoryview(data)
        while view:
            piece = view[: self._make_room() or len(view)]
            kept = self._write(piece)
            self._account(kept, len(piece) - kept)
            view = view[len(piece) :]
        os.pwrite(self._count, SUMS.pack(self.written, self.dropped), 0)

    def close(self) -> None:
        """No more will come."""
        self._close_segment()
        os.close(self._count)

    def _make_room(self) -> int:
        """Bytes that the open file still takes; 0 if none can be opened."""
        if self._room == 0:
            self._close_segment()
            if not self._rolling:
                self._open_segment(self._half - self._head)
            else:
                self._roll()
                self._open_segment(self._segment)
        return self._room

    @property
    def _rolling(self) -> bool:
        return self._head >= self._half or self._head_files >= MOST_FILES

    def _roll(self) -> None:
        while len(self._tail) >= MOST_FILES or sum(size for _, size in self._tail) + self._segment > self._half:
            offset, size = self._tail.pop(0)
            os.unlink(self._path(offset))
            self.dropped += size

    def _open_segment(self, room: int) -> None:
        try:
            self._open = os.open(self._path(self.written), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            return
        self._room = room
        self._opened_at = self.written
        if self._rolling:
            self._tail.append((self.written, 0))
        else:
            self._head_files += 1

    def _close_segment(self) -> None:
        if self._open is None:
            return
        if os.fstat(self._open).st_size == 0:
            self._forget_empty()
        os.close(self._open)
        self._open, self._room = None, 0

    def _forget_empty(self) -> None:
        os.unlink(self._path(self._opened_at))
        if self._tail:
            self._tail.pop()
        else:
            self._head_files -= 1

    def _write(self, piece: memoryview) -> int:
        kept = 0
        while self._open is not None and kept < len(piece):
            try:
                kept += os.write(self._open, piece[kept:])
            except OSError:
                break
        return kept

    def _account(self, kept: int, dropped: int) -> None:
        self.written += kept + dropped
        self.dropped += dropped
        self._room -= min(kept, self._room)
        if self._tail:
            offset, size = self._tail[-1]
            self._tail[-1] = (offset, size + kept)
        else:
            self._head += kept
        if dropped:  # the next byte has another offset than the open file would give it
            self._close_segment()

    def _path(self, offset: int) -> str:
        return os.path.join(self._folder, f"{offset:020d}")


@dataclass(frozen=True, slots=True)
class Piece:
    """What a reader got; fields as in ports.engine.LogChunk."""

    offset: int
    data: bytes
    size: int
    dropped_before: int


def read(folder: str, offset: int, limit: int) -> Piece:
    """Up to `limit` bytes from `offset`, up to the next gap; a negative offset counts from the end."""
    for _ in range(8):  # a file may roll away between being listed and being opened
        try:
            return _read(folder, offset, limit)
        except FileNotFoundError:
            continue
    written, _ = sums(folder)
    return Piece(written, b"", written, 0)


def _read(folder: str, offset: int, limit: int) -> Piece:
    written, _ = sums(folder)  # before the listing: what it counts and the listing lacks was dropped
    segments = _segments(folder)
    size = max(written, *(first + length for first, length in segments), 0)
    asked = min(max(0, size + offset) if offset < 0 else offset, size)
    start, data = asked, bytearray()
    # A file's listed length may be old by now; it certainly ends where the next one begins.
    ends = [first for first, _ in segments[1:]] + [size]
    for (first, _), end in zip(segments, ends, strict=False):
        if end <= start + len(data):
            continue
        if first > start + len(data):
            if data:
                break
            start = first
        if len(data) >= limit:
            break
        position = start + len(data)
        data += _bytes_of(folder, first, position - first, min(limit - len(data), end - position))
    if not data and limit > 0:
        start = size
    return Piece(start, bytes(data), size, start - asked)


def _bytes_of(folder: str, first: int, skip: int, wanted: int) -> bytes:
    with open(os.path.join(folder, f"{first:020d}"), "rb", buffering=0) as file:
        file.seek(skip)
        return file.read(wanted) or b""


def _segments(folder: str) -> list[tuple[int, int]]:
    with os.scandir(folder) as entries:
        return sorted((int(e.name), e.stat().st_size) for e in entries if e.name.isdigit())
