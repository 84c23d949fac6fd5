"""What is written comes back equal; what this version does not know is refused, never dropped."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import REASONS, values

from paika.adapters.codec.nouns import decode, encode
from paika.domain.audit import AuditEntry
from paika.domain.ledger import LedgerEntry
from paika.domain.match import MatchRecord
from paika.domain.plan import Plan, ReasonRecord
from paika.domain.policy import Policy
from paika.domain.promise import Outcome
from paika.domain.reason import Held
from paika.domain.records import SHELVES, Receipt
from paika.domain.snapshot import Snapshot
from paika.domain.task import Program, Task, Tier
from paika.ports.store import Unreadable

WRITTEN = (*SHELVES, Policy, LedgerEntry, MatchRecord, ReasonRecord, AuditEntry, Receipt, Outcome, Snapshot, Plan)
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
TASK = Task("t1", "name", "ann", "vision", NOON, Program(argv=("true",)))


def same(one: Any, other: Any) -> bool:
    """Equal, and of equal types all the way down: 'core' equals Tier.CORE but is no tier."""
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.__name__)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_noun_comes_back_equal(kind: type[Any], data: st.DataObject) -> None:
    value = data.draw(values(kind))
    assert same(decode(kind, encode(value)), value)


@pytest.mark.parametrize("kind", REASONS, ids=lambda kind: kind.code)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_reason_comes_back_by_its_code(kind: type[Any], data: st.DataObject) -> None:
    record = ReasonRecord("t1", NOON, (data.draw(values(kind)),))
    assert json.loads(encode(record))["reasons"][0]["code"] == kind.code
    assert same(decode(ReasonRecord, encode(record)), record)


def _changed(**fields_: Any) -> str:
    return json.dumps({**json.loads(encode(TASK)), **fields_})


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (_changed(of_tomorrow=1), "unknown field: of_tomorrow"),
        (_changed(tier="royal"), "royal"),
        (_changed(attempts="3"), "no int"),
        (_changed(attempts=True), "no int"),
        (_changed(preemptible=1), "no bool"),
        (_changed(name=None), "no str"),
        (_changed(submitted_at="2026-01-05T12:00:00"), "without a zone"),
        (encode(TASK).replace('"owner":"ann",', ""), "missing field: owner"),
        (encode(TASK)[:-3], ""),
        ("[]", ""),
        ("null", ""),
    ],
)
def test_what_is_not_a_task_is_refused(text: str, detail: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        decode(Task, text)
    assert refusal.value.noun == "Task"
    assert detail in refusal.value.detail


def test_an_unknown_reason_is_refused() -> None:
    text = encode(ReasonRecord("t1", NOON, (Held("ann", "later"),))).replace("wait.held", "wait.of_tomorrow")
    with pytest.raises(Unreadable):
        decode(ReasonRecord, text)


def test_a_row_of_an_older_version_takes_the_defaults() -> None:
    older = {key: value for key, value in json.loads(encode(TASK)).items() if key not in ("tier", "tags", "retry_at")}
    assert decode(Task, json.dumps(older)) == TASK
    assert decode(Task, json.dumps(older)).tier is Tier.NORMAL


def test_times_are_written_in_utc_and_never_without_a_zone() -> None:
    beijing = NOON.astimezone(timezone(timedelta(hours=8)))
    assert '"at":"2026-01-05T12:00:00Z"' in encode(ReasonRecord("t1", beijing, ()))
    with pytest.raises(ValueError, match="zone"):
        encode(ReasonRecord("t1", datetime(2026, 1, 5, 12), ()))
