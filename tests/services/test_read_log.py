"""Logs read piece by piece."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab import Lab

from paika.domain.access import Forbidden
from paika.domain.problem import NotFound
from paika.ports.engine import LogChunk
from paika.services.read_log import read_log, stream_log


class Written:
    """An engine that has nothing but one log."""

    def __init__(self, data: bytes, ended: bool = True) -> None:
        self.data, self.ended = data, ended

    def read_log(self, run: str, token: str, offset: int, limit: int, rank: int = 0) -> LogChunk | None:
        start = max(0, len(self.data) + offset) if offset < 0 else min(offset, len(self.data))
        return LogChunk(start, self.data[start : start + limit], len(self.data), 0, self.ended)


@pytest.fixture(scope="module")
def lab() -> Lab:
    lab = Lab()
    lab.run(lab.submit("mia"), "a0")
    lab.submit("mia")
    return lab


@given(st.text(alphabet="aé中😀\n", max_size=60), st.integers(4, 9))
def test_pieces_put_together_are_the_text_whatever_the_cut(lab, text, limit):
    engine, offset, read = Written(text.encode()), 0, ""
    while True:
        view = read_log(lab.store, engine, lab.actor("mia"), "t-1", offset=offset, limit=limit)
        read += view.text
        if view.next_offset >= view.size:
            break
        assert view.next_offset > offset
        offset = view.next_offset
    assert read == text
    assert b"".join(stream_log(lab.store, engine, lab.actor("mia"), "t-1")) == text.encode()


@given(st.text(alphabet="aé中😀", min_size=1, max_size=30), st.integers(1, 40))
def test_a_tail_begins_with_a_whole_character(lab, text, tail):
    view = read_log(lab.store, Written(text.encode()), lab.actor("mia"), "t-1", tail_bytes=tail)
    assert "\ufffd" not in view.text
    assert text.endswith(view.text)


@given(st.binary(max_size=60), st.integers(4, 9))
def test_bytes_that_are_no_text_are_passed_over_too(lab, data, limit):
    offset, engine, pieces = 0, Written(data), 0
    while offset < len(data):
        offset = read_log(lab.store, engine, lab.actor("mia"), "t-1", offset=offset, limit=limit).next_offset
        pieces += 1
        assert pieces <= len(data)


def test_logs_are_for_the_team_and_for_admins(lab):
    seen = {}
    for person in ("mia", "max", "lea", "vic", "ann", "tim", "lone"):
        try:
            read_log(lab.store, Written(b"x"), lab.actor(person), "t-1")
            seen[person] = True
        except Forbidden:
            seen[person] = False
    assert seen == {"mia": True, "max": True, "lea": True, "vic": True, "ann": True, "tim": False, "lone": False}


def test_before_the_first_run_there_is_nothing_and_unknown_runs_are_named(lab):
    view = read_log(lab.store, Written(b"x"), lab.actor("mia"), "t-2")
    assert (view.run, view.text, view.kept) == (None, "", False)
    with pytest.raises(NotFound):
        read_log(lab.store, Written(b"x"), lab.actor("mia"), "t-1", run_id="r-9")
    with pytest.raises(NotFound):
        read_log(lab.store, Written(b"x"), lab.actor("mia"), "t-9")
