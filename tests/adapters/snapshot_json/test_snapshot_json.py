"""A snapshot file reads back to an equal snapshot; another file is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.strategies import values

from paika.adapters.snapshot_json import JsonSnapshotFile
from paika.domain.plan import Plan
from paika.domain.snapshot import Snapshot
from paika.ports.snapshot_file import SnapshotFile
from paika.ports.store import Unreadable

FILES: SnapshotFile = JsonSnapshotFile()


@settings(max_examples=10, deadline=None)
@given(values(Snapshot))
def test_a_snapshot_comes_back(snapshot: Snapshot) -> None:
    assert FILES.decode_snapshot(FILES.encode_snapshot(snapshot)) == snapshot


@settings(max_examples=10, deadline=None)
@given(values(Plan))
def test_a_plan_comes_back_and_is_no_snapshot(plan: Plan) -> None:
    text = FILES.encode_plan(plan)
    assert FILES.decode_plan(text) == plan
    with pytest.raises(Unreadable):
        FILES.decode_snapshot(text)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"paika":"snapshot","format":2,"snapshot":{}}', "[" * 100_000])
def test_what_is_no_snapshot_file_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        FILES.decode_snapshot(text)
