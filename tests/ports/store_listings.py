"""What every store keeps of its listings: order, pages, filters, history."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from paika.domain.dataset import Dataset, Readiness
from paika.domain.ledger import Balance, EntryKind, LedgerEntry
from paika.domain.match import MatchRecord
from paika.domain.plan import ReasonRecord
from paika.domain.problem import BadValue
from paika.domain.promise import Outcome, Promise, Slip
from paika.domain.reason import Held, TeamInactive
from paika.domain.run import EndCause, RunPart
from paika.domain.task import TaskState
from paika.domain.team import Team
from paika.ports.store import OUTCOMES_KEPT, AuditQuery, HourUsage, LedgerQuery, Store, TaskQuery
from tests.ports.store_examples import T0, after_run, ended, note, put, run, task
from tests.strategies import AWKWARD


def walk(ask: Callable[[str | None], Any]) -> list[Any]:
    """All rows of a listing, page by page; the total must not change on the way."""
    page = ask(None)
    rows, total = list(page.rows), page.total
    while page.cursor is not None:
        page = ask(page.cursor)
        assert page.total == total
        rows += page.rows
    return rows


class ListingPromises:
    """Promises of what is no longer open."""

    @pytest.fixture
    def store(self) -> Iterable[Store]:
        """An empty store."""
        raise NotImplementedError

    def test_runs_of_a_task_come_oldest_first_ended_or_not(self, store: Store) -> None:
        late, early = run(1, "t1", attempt=2), run(2, "t1", attempt=1)
        put(store, late, early, run(3, "t2"))
        gone = after_run(early, 5)
        put(store, gone)
        assert store.runs_of("t1") == (gone, late)
        assert (store.run("r2"), store.run("r1"), store.run("r9")) == (gone, late, None)
        assert set(store.read().runs) == {"r1", "r3"}

    def test_ended_tasks_come_newest_end_first_page_by_page(self, store: Store) -> None:
        same_end = [ended(task(f"a{n}", version=0), T0) for n in range(5)]
        other_ends = [ended(task(f"b{n}", version=0), T0 + timedelta(microseconds=n + 1)) for n in range(6)]
        put(store, *same_end, *other_ends, task("open"))
        want = [f"tb{n}" for n in range(5, -1, -1)] + [f"ta{n}" for n in range(4, -1, -1)]
        for limit in (1, 2, 3, 11, 50):
            rows = walk(lambda cursor, n=limit: store.ended_tasks(TaskQuery(cursor=cursor, limit=n)))
            assert [row.id for row in rows] == want

    def test_a_page_goes_on_where_it_was_though_newer_tasks_end(self, store: Store) -> None:
        put(store, *(ended(task(n, version=0), T0 + timedelta(hours=n)) for n in range(6)))
        first = store.ended_tasks(TaskQuery(limit=3))
        put(store, *(ended(task(n, version=0), T0 + timedelta(hours=n)) for n in range(6, 9)))
        second = store.ended_tasks(TaskQuery(limit=3, cursor=first.cursor))
        assert [row.id for row in (*first.rows, *second.rows)] == ["t5", "t4", "t3", "t2", "t1", "t0"]
        assert (second.cursor, second.total) == (None, 9)

    @pytest.mark.parametrize(
        ("query", "want"),
        [
            (TaskQuery(states=(TaskState.FAILED,)), ["t2"]),
            (TaskQuery(states=(TaskState.FAILED, TaskState.DONE)), ["t3", "t2", "t1"]),
            (TaskQuery(owner="bo"), ["t3"]),
            (TaskQuery(team="speech"), ["t3", "t2"]),
            (TaskQuery(team="speech", owner="ann"), ["t2"]),
            (TaskQuery(text="TRAIN"), ["t1"]),
            (TaskQuery(text="STRASSE"), ["t1"]),
            (TaskQuery(text="训练"), ["t3"]),
            (TaskQuery(text="t2"), ["t2"]),
            (TaskQuery(text="sweep-7"), ["t2"]),
            (TaskQuery(text="100%_"), ["t3"]),
            (TaskQuery(text="%"), ["t3"]),
            (TaskQuery(text="\\"), []),
            (TaskQuery(text="nothing"), []),
        ],
    )
    def test_ended_tasks_are_found_by(self, store: Store, query: TaskQuery, want: list[str]) -> None:
        failed = {"team": "speech", "kind": "sweep-7", "state": TaskState.FAILED}
        put(store, ended(task(1, name="Train it", kind="Straße", version=0), T0))
        put(store, replace(ended(task(2, version=0), T0 + timedelta(1)), **failed))
        put(store, ended(task(3, name="训练 100%_", team="speech", owner="bo", version=0), T0 + timedelta(2)))
        put(store, task(4, name="Train it, open"))
        page = store.ended_tasks(query)
        assert [row.id for row in page.rows] == want
        assert page.total == len(want)

    def test_the_ledger_is_listed_newest_first_and_filtered(self, store: Store) -> None:
        entries = [
            LedgerEntry(kind, T0 + timedelta(hours=n), f"r{n}", f"t{n % 2}", team, who, "A100", 0, n, "done")
            for n, (kind, team, who) in enumerate(
                [
                    (EntryKind.SPEND, "vision", "ann"),
                    (EntryKind.LOST, "vision", "bo"),
                    (EntryKind.SPEND, "speech", "ann"),
                    (EntryKind.HOLD, "vision", "ann"),
                ]
            )
        ]
        put(store, ledger=tuple(entries[:2]))
        put(store, ledger=tuple(entries[2:]))
        assert walk(lambda cursor: store.ledger(LedgerQuery(cursor=cursor, limit=3))) == entries[::-1]
        for query, want in (
            (LedgerQuery(team="vision"), [3, 1, 0]),
            (LedgerQuery(person="ann"), [3, 2, 0]),
            (LedgerQuery(task="t1"), [3, 1]),
            (LedgerQuery(kinds=(EntryKind.SPEND, EntryKind.LOST)), [2, 1, 0]),
            (LedgerQuery(since=T0 + timedelta(hours=1), until=T0 + timedelta(hours=3)), [2, 1]),
            (LedgerQuery(team="vision", person="ann", since=T0 + timedelta(hours=1)), [3]),
        ):
            assert list(store.ledger(query).rows) == [entries[n] for n in want], query

    def test_the_audit_is_listed_newest_first_and_filtered(self, store: Store) -> None:
        entries = [
            note(1),
            note(2, person="bo"),
            note(3, noun="team", subject="vision", old={"名": "\0"}, new={"a": "b"}),
        ]
        put(store, audit=tuple(entries))
        assert walk(lambda cursor: store.audit(AuditQuery(cursor=cursor, limit=1))) == entries[::-1]
        for query, want in (
            (AuditQuery(noun="task"), [1, 0]),
            (AuditQuery(subject="vision"), [2]),
            (AuditQuery(person="bo"), [1]),
            (AuditQuery(since=entries[1].at), [2, 1]),
            (AuditQuery(until=entries[1].at), [0]),
        ):
            assert list(store.audit(query).rows) == [entries[n] for n in want], query

    def test_usage_by_full_hours_is_of_what_was_spent(self, store: Store) -> None:
        def line(kind: EntryKind, minutes: int, amount: int, team: str = "vision") -> LedgerEntry:
            return LedgerEntry(kind, T0 + timedelta(minutes=minutes), "r1", "t1", team, "ann", "A100", 0, amount)

        spend, lost = EntryKind.SPEND, EntryKind.LOST
        lines = [line(spend, -1, 1), line(spend, 0, 10), line(spend, 59, 5), line(lost, 30, 100), line(spend, 60, 7)]
        put(store, ledger=(*lines, line(spend, 30, 3, "speech"), line(spend, 30, 0, "idle")))
        hour = timedelta(hours=1)
        whole = (
            HourUsage("vision", T0 - hour, 1),
            HourUsage("speech", T0, 3),
            HourUsage("vision", T0, 15),
            HourUsage("vision", T0 + hour, 7),
        )
        assert store.usage_by_hour(T0 - hour) == whole
        assert store.usage_by_hour(T0 + hour / 2) == whole[1:]
        assert store.usage_by_hour(T0 + 2 * hour) == ()

    def test_the_last_reasons_of_many_tasks_at_once(self, store: Store) -> None:
        promise = Promise("t1", 3, T0 + timedelta(hours=2), (RunPart("n1", ("c1", "c2")),), 70)
        slip = Slip(T0 + timedelta(hours=1), "overrun", "r1")
        first = ReasonRecord("t1", T0, (Held("bo", "why"),))
        last = ReasonRecord("t1", T0, (TeamInactive("vision"),), promise, T0 + timedelta(hours=1), slip)
        others = [ReasonRecord(f"t{n}", T0, (Held("bo", f"{n}"),)) for n in range(2, 1200)]
        put(store, reasons=(first, *others, last))
        asked = ["t0", "t1", *(record.task for record in others)]
        assert store.last_reasons(asked) == {"t1": last} | {record.task: record for record in others}
        assert store.last_reasons([]) == {}

    def test_outcomes_come_newest_first_and_the_oldest_are_dropped(self, store: Store) -> None:
        def outcome(number: int) -> Outcome:
            return Outcome(f"t{number}", T0, 3600, number - 5, None if number % 3 else number % 2 == 0)

        assert store.outcomes() == ()
        few = tuple(map(outcome, range(7)))
        put(store, outcomes=few)
        assert store.outcomes() == few[::-1]
        assert store.outcomes(limit=2) == (few[6], few[5])
        put(store, outcomes=tuple(map(outcome, range(7, OUTCOMES_KEPT))))
        put(store, outcomes=(outcome(OUTCOMES_KEPT), outcome(OUTCOMES_KEPT + 1)))
        kept = store.outcomes(limit=OUTCOMES_KEPT + 10)
        assert (len(kept), kept[0], kept[-1]) == (OUTCOMES_KEPT, outcome(OUTCOMES_KEPT + 1), outcome(2))

    def test_reasons_of_a_task_come_newest_first(self, store: Store) -> None:
        told = [ReasonRecord("t1", T0 + timedelta(minutes=n), (Held("bo", f"{n}"),)) for n in range(4)]
        put(store, reasons=(*told[:3], ReasonRecord("t2", T0, (TeamInactive("vision"),))))
        put(store, reasons=(told[3],))
        assert store.reasons_of("t1") == tuple(reversed(told))
        assert store.reasons_of("t1", limit=2) == (told[3], told[2])
        assert store.reasons_of("t9") == ()

    def test_a_dataset_keeps_its_history(self, store: Store) -> None:
        first = Dataset("d1", "data")
        second = replace(first, readiness=Readiness.PREPARING, percent=40, eta=T0, version=2)
        for state in (first, Dataset("d2", "other"), second):
            put(store, state)
        assert store.dataset_history("d1") == (second, first)
        assert store.dataset_history("d1", limit=1) == (second,)
        assert store.read().datasets["d1"] == second

    def test_matches_come_newest_first_by_kind(self, store: Store) -> None:
        base = MatchRecord("r1", "llm", "A100", 8, 60, EndCause.DONE, None, None, False, T0)
        other = replace(base, run="r2", task_kind="asr", peak_vram_mib=3, mean_busy_percent=4, oversized=True)
        put(store, matches=(base, other))
        assert store.matches() == (other, base)
        assert (store.matches("llm"), store.matches(limit=1), store.matches("x")) == ((base,), (other,), ())

    @pytest.mark.parametrize("cursor", ["x", "!", "名", "AAAA", "bnVsbA"])
    def test_a_cursor_that_was_not_given_out_is_refused(self, store: Store, cursor: str) -> None:
        for ask in (
            lambda: store.ended_tasks(TaskQuery(cursor=cursor)),
            lambda: store.ledger(LedgerQuery(cursor=cursor)),
            lambda: store.audit(AuditQuery(cursor=cursor)),
        ):
            with pytest.raises(BadValue):
                ask()

    def test_a_cursor_of_another_listing_is_refused(self, store: Store) -> None:
        put(store, audit=(note(1), note(2)))
        with pytest.raises(BadValue):
            store.ledger(LedgerQuery(cursor=store.audit(AuditQuery(limit=1)).cursor))

    def test_names_that_bite_come_back_unchanged(self, store: Store) -> None:
        names = [name for name in AWKWARD if name]
        tasks = [
            ended(task(n, name=name, owner=name, team=name, tags=(name,), version=0)) for n, name in enumerate(names)
        ]
        teams = [Team(name, name, note=name) for name in names]
        entries = [LedgerEntry(EntryKind.SPEND, T0, name, name, name, name, name, 0, 1, name) for name in names]
        put(
            store,
            *tasks,
            *teams,
            ledger=tuple(entries),
            audit=tuple(note(1, person=name, subject=name) for name in names),
        )
        for number, name in enumerate(names):
            assert store.task(f"t{number}") == tasks[number]
            assert store.ended_tasks(TaskQuery(owner=name, team=name)).rows == (tasks[number],)
            assert tasks[number] in store.ended_tasks(TaskQuery(text=name)).rows
            assert store.read().teams[name].note == name
            assert store.ledger(LedgerQuery(person=name)).rows == (entries[number],)
            assert store.audit(AuditQuery(subject=name)).rows == (note(1, person=name, subject=name),)
            assert store.read().balances[name] == Balance(0, 1, 0)
        assert [row.team for row in store.usage()] == sorted(names)
