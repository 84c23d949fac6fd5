"""The log within its budget: what is kept, what is counted, and how little memory reading takes."""

from __future__ import annotations

import errno
import os
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paika.adapters.engine_local import logbook
from paika.adapters.engine_local.logbook import SMALLEST_BUDGET, LogWriter

BUDGET = SMALLEST_BUDGET


@pytest.fixture
def folder(tmp_path: Path) -> str:
    logbook.prepare(os.fspath(tmp_path / "log"))
    return os.fspath(tmp_path / "log")


def output(size: int, start: int = 0) -> bytes:
    """Bytes that tell where in the whole output they stand."""
    numbers = b"".join(b"%09d\n" % number for number in range(start // 10, (start + size) // 10 + 2))
    return numbers[start % 10 : start % 10 + size]


def kept(folder: str, step: int = 10_000) -> dict[int, bytes]:
    """All that a reader gets who reads from the beginning to the end; gaps must be announced."""
    found: dict[int, bytes] = {}
    offset = 0
    while True:
        piece = logbook.read(folder, offset, step)
        assert piece.offset == offset + piece.dropped_before
        if not piece.data:
            assert piece.offset == piece.size
            return found
        found[piece.offset] = piece.data
        offset = piece.offset + len(piece.data)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 30_000), max_size=30), st.integers(1, 50_000))
def test_every_byte_is_read_at_its_place_or_counted_as_dropped(sizes: list[int], step: int) -> None:
    with TemporaryDirectory() as place:
        folder = os.path.join(place, "log")
        logbook.prepare(folder)
        writer = LogWriter(folder, BUDGET)
        for size in sizes:
            writer.append(output(size, writer.written))
        writer.close()
        pieces = kept(folder, step)
        assert all(data == output(len(data), offset) for offset, data in pieces.items())
        total = sum(map(len, pieces.values()))
        assert logbook.sums(folder) == (sum(sizes), sum(sizes) - total)
        assert total <= BUDGET
        assert total >= min(sum(sizes), BUDGET * 3 // 4)
        head = logbook.read(folder, 0, BUDGET // 2)
        assert len(head.data) == min(sum(sizes), BUDGET // 2)
        if sizes and sizes[-1]:
            last = logbook.read(folder, -1, 10)
            assert (last.offset, last.data) == (sum(sizes) - 1, output(1, sum(sizes) - 1))


def test_reading_into_the_gap_leads_to_what_comes_after_it(folder: str) -> None:
    writer = LogWriter(folder, BUDGET)
    writer.append(output(10 * BUDGET))
    piece = logbook.read(folder, BUDGET, 100)
    assert piece.dropped_before > 0
    assert piece.offset == BUDGET + piece.dropped_before
    assert piece.data == output(100, piece.offset)


def test_a_read_stops_at_the_gap(folder: str) -> None:
    writer = LogWriter(folder, BUDGET)
    writer.append(output(10 * BUDGET))
    piece = logbook.read(folder, BUDGET // 2 - 5, 100)
    assert (piece.data, piece.dropped_before) == (output(5, BUDGET // 2 - 5), 0)


def test_nothing_is_read_where_nothing_is_asked(folder: str) -> None:
    writer = LogWriter(folder, BUDGET)
    writer.append(b"abc")
    assert logbook.read(folder, 1, 0) == logbook.Piece(1, b"", 3, 0)


def test_the_end_of_a_huge_sparse_log_takes_little_memory(folder: str) -> None:
    size = 2_684_354_560  # 2.5 GiB
    with open(os.path.join(folder, "0" * 20), "wb") as file:
        file.truncate(size)
        file.seek(size - 4)
        file.write(b"end\n")
    tracemalloc.start()
    piece = logbook.read(folder, -65_536, 65_536)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (piece.size, piece.offset, piece.data[-4:]) == (size, size - 65_536, b"end\n")
    assert peak < 1 << 20


class Disk:
    """Stands before os.write: takes `room` bytes, then is full."""

    def __init__(self) -> None:
        self.room = 0
        self._write = os.write

    def write(self, descriptor: int, data: bytes) -> int:
        if self.room == 0:
            raise OSError(errno.ENOSPC, "full")
        taken = self._write(descriptor, bytes(data)[: self.room])
        self.room -= taken
        return taken


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(os, "write", disk.write)
    return disk


def test_a_full_disk_drops_counts_and_goes_on_when_there_is_room_again(folder: str, disk: Disk) -> None:
    writer = LogWriter(folder, BUDGET)
    for room in (1_000, 0, 500, 0, 70_000, 0, 40_000):
        disk.room = room
        writer.append(output(30_000, writer.written))
    pieces = kept(folder)
    assert all(data == output(len(data), offset) for offset, data in pieces.items())
    written, dropped = logbook.sums(folder)
    assert written == 210_000
    assert dropped == written - sum(map(len, pieces.values()))
    assert {0, 60_000} <= set(pieces)


def test_a_disk_that_stays_full_gathers_no_empty_files(folder: str, disk: Disk) -> None:
    writer = LogWriter(folder, BUDGET)
    for _ in range(500):
        writer.append(b"x" * 100)
    assert logbook.sums(folder) == (50_000, 50_000)
    assert os.listdir(folder) == [logbook.COUNT]
    piece = logbook.read(folder, 10, 100)
    assert (piece.offset, piece.data, piece.dropped_before) == (50_000, b"", 49_990)


def test_a_disk_that_is_full_every_other_moment_makes_few_files(folder: str, disk: Disk) -> None:
    writer = LogWriter(folder, BUDGET)
    for _ in range(500):
        disk.room = 50
        writer.append(output(100, writer.written))
    assert len(os.listdir(folder)) <= 2 * logbook.MOST_FILES + 1
    assert all(data == output(len(data), offset) for offset, data in kept(folder).items())
