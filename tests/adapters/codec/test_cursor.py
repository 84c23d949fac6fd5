"""A cursor comes back as it was given out, or is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paika.adapters.codec.cursor import decode_cursor, encode_cursor
from paika.domain.problem import BadValue


@given(st.integers(0, 2**60), st.text(max_size=20))
def test_a_cursor_comes_back(end: int, task: str) -> None:
    assert decode_cursor("tasks", encode_cursor("tasks", end, task), int, str) == (end, task)


@given(st.data())
def test_a_cursor_with_one_letter_changed_is_refused(data: st.DataObject) -> None:
    cursor = encode_cursor("tasks", 17, "t1")
    place = data.draw(st.integers(0, len(cursor) - 1))
    letter = data.draw(st.sampled_from("abcXYZ019-_=\n").filter(lambda it: it != cursor[place]))
    with pytest.raises(BadValue):
        decode_cursor("tasks", cursor[:place] + letter + cursor[place + 1 :], int, str)


@pytest.mark.parametrize(
    "cursor", ["", "x", "名字", "0" * 5000, encode_cursor("ledger", 17, "t1"), encode_cursor("tasks", "17", "t1")]
)
def test_what_this_listing_did_not_give_out_is_refused(cursor: str) -> None:
    with pytest.raises(BadValue) as refusal:
        decode_cursor("tasks", cursor, int, str)
    assert refusal.value.field == "cursor"
    assert len(refusal.value.value) <= 80
