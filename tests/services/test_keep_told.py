"""What goes on record of a waiting task: each real change of reasons or promise, once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.lab import T0, Lab
from tests.ports.store_examples import put

from paika.domain.plan import Forecast, PriorityTerms, ReasonRecord, Wait
from paika.domain.promise import Promise, Slip
from paika.domain.reason import CardsBusy, Held
from paika.domain.run import RunPart
from paika.services.change_task import hold_task, release_task
from paika.services.keep_told import Told, recall_told

STEP_S = 300
PARTS = (RunPart("n1", ("a0",)),)
BUSY = CardsBusy(1, 1, 4, 0, 0, ())
PROMISE = Promise("t-1", 1, T0 + timedelta(hours=1), PARTS, 50)
WAIT = Wait("t-1", 1, PriorityTerms(50, 0, 0), (BUSY,), Forecast(PROMISE.start_by, PARTS, True))


def later(seconds: int) -> Promise:
    return replace(PROMISE, start_by=PROMISE.start_by + timedelta(seconds=seconds))


def news(told: Told, promise: Promise | None, wait: Wait = WAIT) -> bool:
    """Whether it is worth a record; it is written if so."""
    record = told.news(wait, promise, T0, STEP_S)
    told.add([record] if record else [])
    return record is not None


def test_the_first_word_is_kept_and_the_same_again_is_not():
    told = Told()
    assert news(told, PROMISE)
    assert not news(told, PROMISE)


def test_a_small_move_is_none_and_small_moves_add_up():
    told = Told()
    assert news(told, PROMISE)
    assert not news(told, later(STEP_S))
    assert news(told, later(STEP_S + 1))
    assert not news(told, later(2 * STEP_S))
    assert news(told, PROMISE)


def test_other_cards_another_version_a_promise_taken_back_and_other_reasons_are_news():
    told = Told()
    assert news(told, PROMISE)
    assert news(told, replace(PROMISE, parts=(RunPart("n1", ("a1",)),)))
    assert news(told, replace(PROMISE, task_version=2))
    assert news(told, None)
    assert not news(told, None)
    assert news(told, None, replace(WAIT, reasons=(Held("ann", "why"),)))
    assert not news(told, None, replace(WAIT, reasons=(Held("leo", "other"),)))


def test_range_and_slip_are_kept_with_the_promise_and_not_without_one():
    slip = Slip(T0, "overrun", "r-7")
    wait = replace(WAIT, forecast=replace(WAIT.forecast, start_from=T0, slip=slip, hit_permille=820))
    record = Told().news(wait, PROMISE, T0, STEP_S)
    assert record == ReasonRecord("t-1", T0, (BUSY,), PROMISE, T0, slip)
    bare = Told().news(wait, None, T0, STEP_S)
    assert bare == ReasonRecord("t-1", T0, (BUSY,))


def test_who_no_longer_waits_is_forgotten():
    told = Told()
    news(told, PROMISE)
    told.keep({"t-2": None}.keys())
    assert "t-1" not in told
    assert news(told, PROMISE)


class TestSlips:
    SLIP = Slip(PROMISE.start_by, "overrun", "r-7")

    def slipped(self) -> Told:
        told = Told()
        news(told, PROMISE)
        assert told.slips == {}
        assert news(told, later(3600), replace(WAIT, forecast=replace(WAIT.forecast, slip=self.SLIP)))
        return told

    def test_a_slip_stays_while_the_start_is_later_than_once_told(self):
        told = self.slipped()
        assert told.slips == {"t-1": self.SLIP}
        assert news(told, later(3600), replace(WAIT, reasons=(Held("ann", "why"),)))
        assert told.slips == {"t-1": self.SLIP}

    def test_it_is_gone_when_the_start_comes_back(self):
        told = self.slipped()
        before = told.slips
        assert news(told, PROMISE)
        assert told.slips == {}
        assert before == {"t-1": self.SLIP}  # whoever reads it keeps what he has

    def test_it_is_gone_with_the_task(self):
        told = self.slipped()
        told.keep(set())
        assert told.slips == {}


class TestRecall:
    def test_words_and_promises_of_tasks_that_wait_as_they_did(self):
        lab = Lab()
        tasks = [lab.submit() for _ in range(4)]
        records = [ReasonRecord(t.id, T0, (BUSY,), replace(PROMISE, task=t.id, task_version=t.version)) for t in tasks]
        put(lab.store, reasons=tuple(records))
        same, edited, queued_again, silent = tasks
        lab.put(replace(edited, note="other", version=2))
        lab.clock.move(hours=1)
        hold_task(lab.store, lab.clock, lab.actor("ann"), queued_again.id, "wait")
        release_task(lab.store, lab.clock, lab.actor("ann"), queued_again.id)
        put(lab.store, reasons=(ReasonRecord(silent.id, T0, (BUSY,)),))
        told, promises = recall_told(lab.store, lab.records)
        assert [promise.task for promise in promises] == [same.id]
        assert [task.id in told for task in tasks] == [True, True, False, True]
