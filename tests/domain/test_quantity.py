"""Laws of the readers: nothing but a Problem escapes, and what is written is read back."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paika.domain import instant, quantity, written
from paika.domain.problem import BadValue, Problem, Several
from paika.domain.task_form import FIELDS, form_of, read_form

ZONE = "Asia/Shanghai"
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(10**100), max_value=10**100),
    st.floats(),
    st.text(),
    st.text(alphabet="0123456789.eE+-:：，,％%gGmMibhsd小时分天 \u3000"),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
    st.dates(),
    st.timedeltas(),
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=5
)
READERS = [
    lambda v: quantity.whole("f", v, 0, 100),
    lambda v: quantity.cards("f", v, 1, 4096),
    lambda v: quantity.memory_mib("f", v, 1, 1 << 20),
    lambda v: quantity.memory_mib("f", v, 1, 1 << 20, "gib"),
    lambda v: quantity.duration_s("f", v, 1, 365 * 86400),
    lambda v: quantity.percent("f", v),
    lambda v: quantity.percent("f", v, down=True),
]


def outcome(read, value):
    try:
        return read(value)
    except (BadValue, Several) as problem:
        return problem


@given(anything)
def test_a_number_or_a_bad_value(value):
    for got in (outcome(read, value) for read in READERS):
        if isinstance(got, BadValue):
            assert len(got.value) <= 80
            got.value.encode()
        else:
            assert type(got) is int
            assert not isinstance(value, bool)


@settings(max_examples=300)
@given(st.dictionaries(st.one_of(st.sampled_from([f.key for f in FIELDS]), st.text()), anything, max_size=8))
def test_the_form_never_crashes_and_reads_back_what_it_wrote(raw):
    got = outcome(lambda given_raw: read_form(given_raw, ZONE), raw)
    if isinstance(got, Several):
        assert got.problems
        assert all(isinstance(problem, Problem) for problem in got.problems)
    else:
        assert read_form(form_of(got), "UTC") == got


one_line = st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
filled = st.fixed_dictionaries(
    {"name": one_line, "command": st.lists(one_line, min_size=1, max_size=4)},
    optional={
        "cards": st.integers(1, 16),
        "vram_mib": st.integers(1, 1 << 20),
        "estimate_likely": st.integers(1, 86400 * 300),
        "types": st.lists(one_line, max_size=3),
        "inputs": st.lists(one_line, max_size=3),
        "after": st.lists(one_line, max_size=3),
        "tags": st.lists(one_line, max_size=3),
        "note": st.text(max_size=40),
        "priority": st.integers(0, 100),
        "tier": st.sampled_from(["core", "常规", "idle"]),
        "milestone_at": st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1)),
        "env": st.dictionaries(st.sampled_from(["A", "B_1"]), one_line),
    },
)


@given(filled)
def test_a_good_form_survives_writing(raw):
    try:
        draft = read_form(raw, ZONE)
    except Several:
        return
    assert read_form(form_of(draft), "UTC") == draft


@given(st.integers(1, 365 * 86400))
def test_a_duration_is_read_back(seconds):
    assert quantity.duration_s("f", quantity.duration_text(seconds), 1, 365 * 86400) == seconds


@given(st.integers(1, 1 << 20))
def test_memory_is_read_back(mib):
    assert quantity.memory_mib("f", quantity.memory_text(mib), 1, 1 << 20) == mib


@given(st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC)))
def test_an_instant_is_read_back(at):
    at = at.replace(microsecond=0)
    assert instant.instant("f", at.isoformat(), ZONE) == at


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2h", 7200),
        ("90m", 5400),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2 小时", 7200),
        ("1天", 86400),
        ("1天2小时", 93600),
        ("30 分钟", 1800),
        ("1.5h", 5400),
        ("１．５小时", 5400),
        ("36:00:00", 129600),
        ("1-12:00:00", 129600),
        ("2 Hours", 7200),
        (3600, 3600),
        (3600.0, 3600),
        ("3600", 3600),
        ("0.5", 1),
        (timedelta(hours=2), 7200),
        (time(8), 28800),
    ],
)
def test_durations(value, seconds):
    assert quantity.duration_s("f", value, 1, 365 * 86400) == seconds


@pytest.mark.parametrize("value", ["", "h", "2", "1h1h", "1h x", "08:30", "2h-", "inf", "366d", date(2026, 1, 1)])
def test_no_durations(value):
    with pytest.raises(BadValue):
        quantity.duration_s("f", value, 3, 365 * 86400)


@pytest.mark.parametrize(
    ("value", "utc"),
    [
        ("2026-12-01 09:00", "2026-12-01T01:00:00+00:00"),
        ("2026-12-01T09:00:00Z", "2026-12-01T09:00:00+00:00"),
        ("2026-12-01T09:00:00.5+08:00", "2026-12-01T01:00:00+00:00"),
        ("2026/12/1 9:00", "2026-12-01T01:00:00+00:00"),
        ("２０２６年１２月１日　９：００", "2026-12-01T01:00:00+00:00"),
        ("2026-12-01", "2026-11-30T16:00:00+00:00"),
        (date(2026, 12, 1), "2026-11-30T16:00:00+00:00"),
        (datetime(2026, 12, 1, 9), "2026-12-01T01:00:00+00:00"),
        (datetime(2026, 12, 1, 9, tzinfo=UTC), "2026-12-01T09:00:00+00:00"),
    ],
)
def test_instants(value, utc):
    assert instant.instant("f", value, ZONE).isoformat() == utc


@pytest.mark.parametrize(
    "value", ["2026-02-30", "2026-12-01 25:00", "1999-12-31", "12月1日", "2026-12-01T09:00+99:00", "now", 45000, True]
)
def test_no_instants(value):
    with pytest.raises(BadValue):
        instant.instant("f", value, ZONE)


def test_a_time_that_the_clock_skips_is_refused():
    with pytest.raises(BadValue):
        instant.instant("f", "2026-03-29 02:30", "Europe/Berlin")


def test_a_date_alone_is_the_end_of_the_day_for_deadlines():
    assert instant.instant("f", "2026-12-01", "UTC", day_end=True).isoformat() == "2026-12-01T23:59:59+00:00"


def test_an_unknown_zone_is_refused():
    with pytest.raises(BadValue, match=r"value\.bad"):
        instant.instant("f", "2026-12-01", "Mars/Base")


@pytest.mark.parametrize(
    ("value", "percent"), [("30%", 30), ("30", 30), (30, 30), ("３０％", 30), (0, 0), ("100 %", 100)]
)
def test_percents(value, percent):
    assert quantity.percent("f", value) == percent


@pytest.mark.parametrize("value", ["101", -1, "0.3", 0.3, True, "%", "NaN"])
def test_no_percents(value):
    with pytest.raises(BadValue):
        quantity.percent("f", value)


def test_progress_is_rounded_down():
    assert quantity.percent("f", "99.9%", down=True) == 99
    assert quantity.percent("f", "0.5%", down=True) == 0
    assert quantity.percent("f", 0, down=True) == 0
    with pytest.raises(BadValue):
        quantity.percent("f", 0.3, down=True)  # 30 percent or 0.3 percent?


@pytest.mark.parametrize("value", [True, "true", "YES", "是", "1", 1, 1.0, " on "])
def test_yes(value):
    assert written.flag("f", value) is True


@pytest.mark.parametrize("value", [False, "false", "no", "否", "0", 0])
def test_no(value):
    assert written.flag("f", value) is False


@given(anything)
def test_texts_names_flags_and_commands_never_crash(value):
    for read in (
        lambda v: written.text("f", v, 100),
        lambda v: written.names("f", v, 5, 20),
        lambda v: written.flag("f", v),
        lambda v: written.argv("f", v),
        lambda v: instant.instant("f", v, ZONE),
    ):
        got = outcome(read, value)
        assert not isinstance(got, BadValue) or len(got.value) <= 80
