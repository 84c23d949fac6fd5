"""What every store keeps. Inherit StorePromises and give it a `store`; what lasts inherits OutlivesProcess too."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paika.domain.ledger import Balance, hold, settle
from paika.domain.plan import ReasonRecord
from paika.domain.policy import Policy
from paika.domain.problem import BadValue, KeyReused, VersionConflict
from paika.domain.promise import Outcome, Promise
from paika.domain.quota import Quota
from paika.domain.reason import Held
from paika.domain.records import SHELVES, Change, Receipt, Records
from paika.domain.run import EndCause, Run
from paika.domain.task import Task
from paika.ports.store import AuditQuery, LedgerQuery, Store, StoreTaken, TaskQuery, UsageRow
from tests.ports.store_examples import PATIENCE_S, T0, VISION, after_run, ended, note, put, run, task
from tests.ports.store_listings import ListingPromises
from tests.strategies import values


def _numbered(noun: Any, number: int) -> Any:
    """The noun with an id that no other example has."""
    key = "team" if isinstance(noun, Quota) else "id"
    return replace(noun, **{key: f"{number} {noun.id}"})


class StorePromises(ListingPromises):
    """Promises that need no disk."""

    def test_an_empty_store_is_at_version_0(self, store: Store) -> None:
        assert store.read() == Records()

    def test_an_update_is_seen_by_the_next_read(self, store: Store) -> None:
        wrote = put(store, VISION, task(1), run(1, "t1"), policy=Policy(version=2), counters={"task": 1})
        assert store.read() is wrote
        assert wrote == Records(
            version=1,
            policy=Policy(version=2),
            teams={"vision": VISION},
            tasks={"t1": task(1)},
            runs={"r1": run(1, "t1")},
            counters={"task": 1},
        )

    def test_an_empty_change_writes_nothing(self, store: Store) -> None:
        before = put(store, VISION)
        assert store.update(lambda records: Change()) is before
        assert store.read().version == 1

    def test_what_decide_raises_leaves_everything_as_it_was(self, store: Store) -> None:
        before = put(store, VISION)

        def refuse(records: Records) -> Change:
            raise BadValue(field="cards", value="0", allowed="1..8")

        with pytest.raises(BadValue):
            store.update(refuse)
        assert store.read() is before
        assert put(store, task(1)).version == 2

    @pytest.mark.parametrize("version", [1, 3, 4, 0])
    def test_a_put_that_does_not_follow_is_refused_with_all_beside_it(self, store: Store, version: int) -> None:
        before = put(store, VISION)
        stale = replace(VISION, name="stale", version=version)
        with pytest.raises(VersionConflict) as refusal:
            put(store, task(1), stale, ledger=(hold(run(1, "t1"), "A100", T0),), audit=(note(1),))
        facts = refusal.value
        assert (facts.noun, facts.id, facts.read, facts.current) == ("team", "vision", version - 1, 1)
        assert store.read() is before
        assert store.task("t1") is None
        assert store.ledger(LedgerQuery()).total == store.audit(AuditQuery()).total == 0

    def test_a_new_noun_begins_at_version_1(self, store: Store) -> None:
        with pytest.raises(VersionConflict) as refusal:
            put(store, task(1, version=2))
        assert (refusal.value.read, refusal.value.current) == (1, 0)

    def test_an_ended_task_is_still_guarded_by_its_version(self, store: Store) -> None:
        put(store, task(1))
        done = ended(task(1))
        put(store, done)
        for stale in (task(1), ended(task(1)), replace(done, version=4)):
            with pytest.raises(VersionConflict) as refusal:
                put(store, stale)
            assert refusal.value.current == 2
        put(store, replace(done, note="good", version=3))
        assert store.task("t1") == replace(done, note="good", version=3)
        assert store.read().tasks == {}

    def test_several_puts_of_one_noun_in_a_change_follow_each_other(self, store: Store) -> None:
        put(store, task(1), replace(task(1), note="again", version=2), ended(task(1, version=2)))
        assert store.read().tasks == {}
        assert store.task("t1") == ended(task(1, version=2))

    def test_removed_nouns_leave_and_may_come_again(self, store: Store) -> None:
        quota = Quota("vision", 4)
        put(store, quota, VISION)
        with pytest.raises(VersionConflict):
            store.update(lambda records: Change(removed=(replace(quota, version=2),)))
        after = store.update(lambda records: Change(removed=(records.quotas["vision"],)))
        assert (after.quotas, after.teams) == ({}, {"vision": VISION})
        assert put(store, Quota("vision", 8)).quotas == {"vision": Quota("vision", 8)}

    def test_counters_never_go_back(self, store: Store) -> None:
        for last, want in ((3, 3), (2, 3), (5, 5)):
            assert store.update(lambda records, n=last: Change(counters={"task": n})).counters == {"task": want}

    def test_a_reader_keeps_a_frozen_view(self, store: Store) -> None:
        before = put(store, VISION, task(1))
        kept = replace(before, tasks=dict(before.tasks), teams=dict(before.teams), balances=dict(before.balances))
        put(
            store,
            ended(task(1)),
            task(2),
            replace(VISION, name="new", version=2),
            ledger=(hold(run(1, "t1"), "A", T0),),
        )
        assert before == kept
        assert store.read() != kept

    def test_eight_writers_lose_nothing(self, store: Store) -> None:
        put(store, VISION)

        def grow(records: Records) -> Change:
            old = records.teams["vision"]
            return Change(puts=(replace(old, note=old.note + "x", version=old.version + 1),), audit=(note(1),))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: [store.update(grow) for _ in range(12)], range(8)))
        assert store.read().teams["vision"].note == "x" * 96
        assert store.read().version == 97
        assert store.audit(AuditQuery()).total == 96

    def test_readers_do_not_wait_for_a_writer(self, store: Store) -> None:
        put(store, ended(task(1, version=0)))
        inside, go_on = threading.Event(), threading.Event()

        def slow(records: Records) -> Change:
            inside.set()
            assert go_on.wait(PATIENCE_S)
            return Change(puts=(task(2),))

        with ThreadPoolExecutor(2) as pool:
            writer = pool.submit(store.update, slow)
            assert inside.wait(PATIENCE_S)
            reads = pool.submit(lambda: (store.read().version, store.task("t1"), store.ended_tasks(TaskQuery()).total))
            assert reads.result(PATIENCE_S) == (1, ended(task(1, version=0)), 1)
            go_on.set()
            assert writer.result(PATIENCE_S).version == 2

    def test_waiting_for_a_change_ends_with_it(self, store: Store) -> None:
        assert store.wait_change(0, 0.0) == 0
        with ThreadPoolExecutor(1) as pool:
            waiter = pool.submit(store.wait_change, 0, PATIENCE_S)
            time.sleep(0.2)  # so that it does wait
            put(store, VISION)
            assert waiter.result(PATIENCE_S / 2) == 1
        assert store.wait_change(0, PATIENCE_S) == 1

    def test_balances_are_the_sums_of_the_ledger(self, store: Store) -> None:
        first, second = run(1, "t1"), run(2, "t2", team="speech", owner="bo", parts_held=30)
        put(store, first, second, ledger=(hold(first, "A100", T0), hold(second, "H100", T0)))
        gone = after_run(first, 50)
        lost = after_run(second, 10, EndCause.NODE_LOST)
        put(store, gone, lost, ledger=(*settle(gone, "A100", T0), *settle(lost, "H100", T0)))
        third = run(3, "t3", owner="cy")
        after = put(store, third, ledger=(hold(third, "A100", T0 + timedelta(hours=1)),))
        assert after.balances == {"vision": Balance(100, 50, 0), "speech": Balance(0, 0, 3)}
        assert store.usage() == (
            UsageRow("speech", "bo", "H100", 0, 0, 3),
            UsageRow("vision", "ann", "A100", 0, 50, 0),
            UsageRow("vision", "cy", "A100", 100, 0, 0),
        )
        later = T0 + timedelta(hours=1)
        assert store.usage(since=later) == (UsageRow("vision", "cy", "A100", 100, 0, 0),)
        assert [row.person for row in store.usage(until=later)] == ["bo", "ann"]

    def test_fifty_threads_with_one_key_get_one_receipt(self, store: Store) -> None:
        def submit(number: int) -> tuple[str, ...]:
            def decide(records: Records) -> Change:
                if store.receipt("ann", "key") is not None:
                    return Change()
                told = Receipt("ann", "key", "0" * 64, (f"t{number}",), T0)
                return Change(puts=(task(number),), receipt=told)

            store.update(decide)
            found = store.receipt("ann", "key")
            assert found is not None
            return found.tasks

        with ThreadPoolExecutor(50) as pool:
            answers = set(pool.map(submit, range(50)))
        assert len(answers) == 1
        assert tuple(store.read().tasks) in answers
        assert store.receipt("bo", "key") is None

    def test_a_second_receipt_for_a_key_is_refused(self, store: Store) -> None:
        told = Receipt("ann", "key", "0" * 64, ("t1",), T0)
        put(store, task(1), receipt=told)
        with pytest.raises(KeyReused):
            put(store, task(2), receipt=replace(told, tasks=("t2",)))
        assert store.receipt("ann", "key") == told
        assert list(store.read().tasks) == ["t1"]
        put(store, task(3), receipt=replace(told, person="bo"))

    def test_an_update_inside_decide_is_a_bug_and_says_so(self, store: Store) -> None:
        with pytest.raises(AssertionError):
            store.update(lambda records: Change(puts=tuple(put(store, VISION).teams.values())))
        assert put(store, VISION).version == 1


class OutlivesProcess(StorePromises):
    """Promises of a store that can be opened again."""

    @pytest.fixture
    def place(self) -> str:
        """Where an empty store is."""
        raise NotImplementedError

    def open(self, place: str) -> Store:
        """The store at the place."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, place: str) -> Iterable[Store]:
        """An empty store, closed afterwards."""
        store = self.open(place)
        yield store
        store.close()

    def test_nothing_is_lost_over_a_restart(self, place: str) -> None:
        store = self.open(place)
        held, gone = run(1, "t1"), after_run(run(2, "t2", version=0), 50)
        told = Receipt("ann", "key", "0" * 64, ("t1",), T0)
        put(
            store,
            *(VISION, task(1), ended(task(2, version=0)), held, gone),
            policy=Policy(version=2, step_s=60),
            ledger=(hold(held, "A100", T0), hold(gone, "A100", T0), *settle(gone, "A100", T0)),
            reasons=(told_reasons := ReasonRecord("t1", T0, (Held("bo", "why"),), Promise("t1", 1, T0, (), 5)),),
            outcomes=(outcome := Outcome("t0", T0, 60, -5, True),),
            receipt=told,
            counters={"task": 2, "run": 2},
            audit=(note(1),),
        )
        before, ledger = store.read(), store.ledger(LedgerQuery()).rows
        store.close()
        again = self.open(place)
        assert again.read() == before
        assert again.read().balances == {"vision": Balance(100, 50, 0)}
        assert again.ledger(LedgerQuery()).rows == ledger
        assert (again.task("t2"), again.run("r2"), again.receipt("ann", "key")) == (
            ended(task(2, version=0)),
            gone,
            told,
        )
        assert again.last_reasons(["t1"]) == {"t1": told_reasons}
        assert again.outcomes() == (outcome,)
        lent = run(3, "t3", borrowed=True)
        put(again, lent, ledger=(hold(lent, "A100", T0),))
        assert again.read().balances == {"vision": Balance(100, 50, 0, 100)}
        assert again.usage() == (UsageRow("vision", "ann", "A100", 100, 50, 0),)
        again.close()
        again = self.open(place)
        assert again.read().balances == {"vision": Balance(100, 50, 0, 100)}
        put(again, audit=(note(2),), counters={"task": 3})
        assert [entry.subject for entry in again.audit(AuditQuery()).rows] == ["t2", "t1"]
        again.close()

    @settings(  # one suite for several stores is meant
        max_examples=12,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(data=st.data())
    def test_any_noun_reads_back_equal_after_a_restart(self, place: str, data: st.DataObject) -> None:
        drawn = [data.draw(values(kind, version=st.just(1))) for kind in SHELVES for _ in range(2)]
        policy = data.draw(values(Policy))
        with closing(self.open(place)) as store:
            first = store.read().counters.get("any", 0)
            puts = [_numbered(noun, first + n) for n, noun in enumerate(drawn)]
            wrote = put(store, *puts, policy=policy, counters={"any": first + len(puts)})
        with closing(self.open(place)) as again:
            assert again.read() == wrote
            tasks = [noun for noun in puts if isinstance(noun, Task)]
            runs = [noun for noun in puts if isinstance(noun, Run)]
            assert [again.task(noun.id) for noun in tasks] == tasks
            assert [again.run(noun.id) for noun in runs] == runs

    def test_a_second_server_is_refused_until_the_first_has_gone(self, place: str) -> None:
        first = self.open(place)
        with pytest.raises(StoreTaken):
            self.open(place)
        put(first, VISION)
        first.close()
        first.close()
        second = self.open(place)
        assert second.read().teams == {"vision": VISION}
        second.close()
