"""Support cases in a folder, and in memory: the same promises; what a full or foreign folder does."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path

import pytest
from tests.ports.case_promises import CasePromises, case

from paika.adapters.case_folder import CaseFolder
from paika.adapters.in_memory.case_shelf import InMemoryCaseShelf
from paika.adapters.snapshot_json import JsonSnapshotFile
from paika.ports.case_shelf import CaseShelf

FILES = JsonSnapshotFile()


def folder(path: Path, most: int = 5) -> CaseFolder:
    return CaseFolder(path, FILES.encode_case, FILES.decode_case, most)


class TestFolder(CasePromises):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.path = tmp_path / "cases"

    def make(self, most: int) -> CaseShelf:
        return folder(self.path, most)


class TestMemory(CasePromises):
    def make(self, most: int) -> CaseShelf:
        return InMemoryCaseShelf(most)

    def test_as_a_full_disk(self):
        shelf = InMemoryCaseShelf()
        shelf.fails = True
        assert (shelf.put(case(0)), shelf.names()) == (None, ())


def test_only_its_owner_reads_it(tmp_path):
    where = folder(tmp_path / "cases").put(case(0))
    path = Path(where)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert gzip.decompress(path.read_bytes()).startswith(b'{"paika":"case"')
    assert path.name == "20261201T090000Z-a-card-is-given-once.json.gz"


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path):
    (tmp_path / "cases").write_text("a file", encoding="utf-8")
    shelf = folder(tmp_path / "cases")
    assert (shelf.put(case(0)), shelf.names()) == (None, ())


def test_files_of_others_are_left_alone(tmp_path):
    shelf = folder(tmp_path, 1)
    other = tmp_path / "notes.json.gz"
    other.write_bytes(b"x")
    for number in range(3):
        shelf.put(case(number))
    assert other.exists()
    assert (len(shelf.names()), shelf.read("notes.json.gz")) == (1, None)
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []
