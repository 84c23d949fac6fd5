"""The cycle of a living house: intents before acts, crashes between steps, silent engines, lost cards."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.lab import T0, draft
from tests.living import Living

from paika.adapters.in_memory.case_shelf import InMemoryCaseShelf
from paika.domain.card import ExternalUse, Health
from paika.domain.dataset import Readiness
from paika.domain.ledger import EntryKind
from paika.domain.plan import ReasonRecord
from paika.domain.quota import Quota
from paika.domain.run import EndCause, RunState
from paika.domain.snapshot import Speed
from paika.planning.check import Violation
from paika.ports.store import LedgerQuery
from paika.services import run_cycle
from paika.services.change_task import edit_task, hold_task
from paika.services.keep_case import CaseKeeper
from paika.services.mark_ready import mark_dataset
from paika.services.replay_snapshot import replay_case
from paika.services.submit_task import submit_tasks

A100 = {"types": "A100-80G"}


@pytest.fixture
def lab() -> Living:
    return Living()


def fill(lab: Living, count: int = 4, *, argv=("sleep", "3600"), **more):
    """Tasks that take all A100s."""
    tasks = [lab.submit(command=list(argv), **A100, **more) for _ in range(count)]
    lab.turn(2)
    return tasks


class TestTheWayOfATask:
    def test_it_starts_runs_and_ends_with_its_account_settled(self, lab):
        task = lab.submit(command=["sleep", "60"], cards=2, **A100)
        lab.turn()
        assert (lab.state(task), lab.records.balances["vision"].held_parts) == ("starting", 200)
        lab.turn()
        assert lab.state(task) == "running"
        lab.turn(seconds=60)
        assert (lab.state(task), lab.cause(task)) == ("done", "done")
        balance = lab.records.balances["vision"]
        assert (balance.held_parts, balance.spent_card_seconds, balance.lost_card_seconds) == (0, 120, 0)
        kinds = [entry.kind for entry in lab.store.ledger(LedgerQuery(task=task.id)).rows]
        assert kinds == [EntryKind.SPEND, EntryKind.RELEASE, EntryKind.HOLD]
        match = lab.store.matches()[0]
        assert (match.run, match.card_type, match.cards, match.seconds) == (lab.runs(task)[0].id, "A100-80G", 2, 60)

    @pytest.mark.parametrize(
        ("argv", "state", "cause"),
        [
            (["exit", "3", "5"], "failed", "exit_code"),
            (["signal", "SEGV", "5"], "failed", "signal"),
            (["oom", "5"], "failed", "out_of_memory"),
            (["sleep", "5000"], "failed", "limit"),
            (["sleep", "5"], "done", "done"),
        ],
    )
    def test_ends_are_told_apart(self, lab, argv, state, cause):
        task = lab.submit(command=argv, limit="10m")
        lab.turn(2)
        lab.turn(seconds=600)
        lab.turn(seconds=60)
        assert (lab.state(task), lab.cause(task)) == (state, cause)
        assert lab.task(task.id).attempts == 1

    def test_in_its_grace_a_run_is_shown_as_stopping(self, lab):
        task = lab.submit(command=["stubborn", "5000"], limit="1m", grace="30s")
        lab.turn(2)
        lab.turn(seconds=70)
        assert (lab.state(task), lab.runs(task)[0].state) == ("stopping", RunState.STOPPING)
        lab.turn(seconds=20)
        assert (lab.state(task), lab.cause(task)) == ("failed", "limit")

    def test_a_child_starts_when_its_parent_is_done_and_is_closed_when_it_failed(self, lab):
        good = lab.submit(command=["sleep", "5"])
        bad = lab.submit(command=["exit", "1", "5"])
        heir = lab.submit(command=["sleep", "5"], after=good.id)
        orphan = lab.submit(command=["sleep", "5"], after=bad.id)
        lab.turn(2)
        assert lab.codes(heir) == lab.codes(orphan) == ["wait.parent"]
        lab.turn(2, seconds=5)
        assert (lab.state(heir), lab.state(orphan)) == ("running", "closed")


class TestIntentBeforeAct:
    """Whatever the point at which the server dies, a run begins once or not at all."""

    def settle(self, lab: Living, task) -> None:
        """After any crash the task runs to its end with one run begun for each attempt."""
        lab.turn(3)
        lab.turn(2, seconds=60)
        assert lab.state(task) == "done"
        assert set(lab.counting.begun.values()) == {1}
        assert {run.id for run in lab.runs(task)} == set(lab.counting.begun)
        assert lab.records.balances["vision"].held_parts == 0

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_death_at_the_writing_of_the_intent(self, lab, when):
        task = lab.submit(command=["sleep", "60"])
        lab.fragile.dies = lambda change: when if change.ledger else ""
        lab.crash()
        assert not lab.counting.begun  # nothing was told to the engine
        assert len(lab.records.runs) == (when == "after")
        self.settle(lab, task)

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_death_at_the_start(self, lab, when):
        task = lab.submit(command=["sleep", "60"])
        lab.counting.dies = lambda launch: when
        lab.crash()
        assert lab.runs(task)[0].state is RunState.INTENDED
        self.settle(lab, task)
        assert lab.task(task.id).attempts == 1

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_death_at_the_writing_of_the_end(self, lab, when):
        task = lab.submit(command=["sleep", "60"])
        lab.turn(2)
        lab.clock.move(seconds=60)
        lab.fragile.dies = lambda change: when if change.ledger else ""
        lab.crash()
        self.settle(lab, task)
        assert lab.records.balances["vision"].spent_card_seconds == 60

    def test_a_new_server_finds_what_runs(self, lab):
        tasks = fill(lab)
        lab.restart()
        lab.turn(2)
        assert [lab.state(task) for task in tasks] == ["running"] * 4
        assert set(lab.counting.begun.values()) == {1}

    def test_cancelled_before_the_engine_heard_of_it_it_never_starts(self, lab):
        task = lab.submit(command=["sleep", "60"])
        lab.counting.dies = lambda launch: "before"
        lab.crash()
        lab.cancel(task)
        lab.turn(2)
        assert (lab.state(task), lab.cause(task)) == ("cancelled", "cancelled")
        assert not lab.counting.begun
        assert lab.records.balances["vision"].held_parts == 0

    def test_cancelled_between_the_intent_and_the_launch_it_never_starts(self, lab):
        task = lab.submit(command=["sleep", "60"])
        write = lab.fragile.update

        def and_then_somebody_cancels(decide):
            after = write(decide)
            if lab.store.runs_of(task.id):
                lab.fragile.update = write
                lab.cancel(task)
            return after

        lab.fragile.update = and_then_somebody_cancels
        lab.turn(2)
        assert (lab.state(task), lab.counting.begun) == ("cancelled", {})

    def test_an_intent_that_nobody_launched_in_time_is_given_up(self, lab):
        task = lab.submit(command=["sleep", "60"])
        lab.fragile.dies = lambda change: "after" if change.ledger else ""
        lab.crash()
        lab.turn(seconds=lab.records.policy.start_timeout_s)
        assert (lab.state(task), lab.cause(task)) == ("waiting", "start_failed")
        assert lab.codes(task) == ["wait.retry"]

    def test_a_task_changed_since_the_plan_was_made_is_left_to_the_next_one(self, lab):
        task, other = lab.submit_all("mia", [{"command": ["sleep", "60"]}] * 2)
        lab.plan_while(lambda: hold_task(lab.memory, lab.clock, lab.admin(), task.id, "wait"))
        assert (lab.state(task), lab.state(other)) == ("held", "starting")
        assert lab.turn() is not None  # the next one comes at once
        assert lab.codes(task) == ["wait.held"]

    def test_who_comes_in_while_a_plan_is_made_is_looked_at_next(self, lab):
        """Also when the plan itself changes nothing, so that the version moves by one only."""
        fill(lab)
        lab.turn()
        lab.clock.move(minutes=10)  # time alone makes it plan
        late = []
        lab.plan_while(lambda: late.append(lab.submit(command=["sleep", "5"], **A100)))
        assert lab.codes(late[0]) == []
        lab.turn()
        assert lab.codes(late[0]) == ["wait.cards", "wait.end_unknown"]


class TestSilentEngine:
    def test_nothing_starts_and_everybody_is_told_why(self, lab):
        lab.engine.answering = False
        task = lab.submit(command=["sleep", "60"])
        unready = lab.submit(command=["sleep", "60"], inputs="coco")
        lab.turn(2, seconds=5)
        assert (lab.state(task), lab.codes(unready)) == ("waiting", ["wait.data"])
        assert "wait.no_engine" in lab.codes(task)
        assert lab.live.engine_down_since == T0.replace(second=5)
        assert not lab.records.runs
        assert lab.live.engines == frozenset()  # so that what is previewed meets the same house

    def test_when_it_answers_again_work_goes_on_at_once(self, lab):
        lab.engine.answering = False
        task = lab.submit(command=["sleep", "60"])
        lab.turn()
        lab.engine.answering = True
        lab.turn(2, seconds=1)
        assert lab.live.engine_down_since is None
        assert lab.live.engines == {"memory"}
        assert lab.state(task) == "running"

    def test_what_is_previewed_meets_the_speeds_of_the_last_plan(self, lab, monkeypatch):
        known = (Speed("train", "RTX4090", 500),)
        monkeypatch.setattr(run_cycle, "speeds", lambda matches: known)
        lab.turn()
        assert lab.live.speeds == known

    def test_it_falls_silent_between_intent_and_start(self, lab):
        class FallsSilent:
            def __call__(self, launch):
                lab.engine.answering = False
                return ""

        task = lab.submit(command=["sleep", "60"])
        lab.counting.dies = FallsSilent()
        lab.turn()
        assert lab.live.engine_down_since == T0
        assert lab.runs(task)[0].state is RunState.INTENDED
        lab.counting.dies = lambda launch: ""
        lab.turn(seconds=30)
        lab.engine.answering = True
        lab.turn(2, seconds=30)
        assert lab.state(task) == "running"
        assert lab.counting.begun == {lab.runs(task)[0].id: 1}

    def test_what_runs_is_believed_to_run_on(self, lab):
        tasks = fill(lab)
        lab.engine.answering = False
        lab.turn(minutes=30)
        assert [lab.state(task) for task in tasks] == ["running"] * 4

    def test_a_run_of_an_engine_that_is_no_longer_set_up_stops_nothing_else(self, lab):
        task = lab.submit(command=["sleep", "60"], **A100)
        lab.run(task, "a0", state=RunState.INTENDED, engine="slurm")
        other = lab.submit(command=["sleep", "60"], **A100)
        lab.turn(2)
        assert (lab.state(task), lab.state(other)) == ("starting", "running")
        assert lab.live.engine_down_since is not None


class TestLostCards:
    def test_the_run_is_stopped_and_the_task_tried_again_so_often_and_no_more(self, lab):
        task = lab.submit(command=["sleep", "3600"], **A100)
        retries = lab.records.policy.retries_not_own_fault
        for attempt in range(1, retries + 2):
            lab.turn(2)
            assert (lab.state(task), lab.task(task.id).attempts) == ("running", attempt)
            card = lab.records.cards[lab.runs(task)[-1].cards[0]]
            lab.put(replace(card, health=Health.LOST, version=card.version + 1))
            lab.turn(2, seconds=10)
            assert lab.cause(task) == "lost_card"
            assert lab.records.balances["vision"].held_parts == 0
            if attempt <= retries:
                assert (lab.state(task), lab.codes(task)) == ("waiting", ["wait.retry"])
                assert lab.task(task.id).retry_at is not None
                card = lab.records.cards[card.id]
                lab.put(replace(card, health=Health.OK, version=card.version + 1))
            lab.clock.move(seconds=lab.records.policy.retry_delay_s)
        assert lab.state(task) == "failed"
        assert lab.records.balances["vision"].lost_card_seconds == 10 * (retries + 1)
        assert lab.records.balances["vision"].spent_card_seconds == 0

    def test_a_card_in_between_is_not_given_again(self, lab):
        lost = [replace(lab.records.cards[f"a{n}"], health=Health.LOST, version=2) for n in range(4)]
        lab.put(*lost)
        task = lab.submit(command=["sleep", "60"], **A100)
        lab.turn(2)
        assert "wait.unfit" in lab.codes(task)

    def test_whoever_was_cancelled_is_not_tried_again(self, lab):
        """The card was lost first; the person's word that the task is not wanted still counts."""
        task = lab.submit(command=["stubborn", "3600"], grace="30s", **A100)
        lab.turn(2)
        card = lab.records.cards[lab.runs(task)[0].cards[0]]
        lab.put(replace(card, health=Health.LOST, version=card.version + 1))
        lab.turn(2, seconds=1)
        lab.cancel(task)
        lab.turn(2, seconds=40)
        assert (lab.state(task), lab.cause(task)) == ("cancelled", "lost_card")

    def test_gone_without_a_trace_is_closed_as_unknown(self, lab):
        task = lab.submit(command=["sleep", "60"])
        lab.turn(2)
        lab.engine.lives.clear()
        lab.turn(seconds=1)
        run = lab.runs(task)[0]
        assert (run.cause, run.detail) == (EndCause.UNKNOWN, "the engine does not know this run")
        assert lab.state(task) == "failed"


class TestFailedStarts:
    def test_tried_again_after_a_while_and_then_given_up(self, lab):
        task = lab.submit(command=["/no/such/program"])
        policy = lab.records.policy
        for attempt in range(1, policy.retries_not_own_fault + 2):
            lab.turn(2)
            assert lab.task(task.id).attempts == attempt
            lab.turn(seconds=policy.retry_delay_s - 1)
            assert lab.task(task.id).attempts == attempt
            lab.clock.move(seconds=1)
        assert (lab.state(task), lab.task(task.id).state_cause) == ("failed", "start_failed")
        assert "command_not_found" in lab.runs(task)[0].detail
        lab.turn(5, minutes=5)
        assert lab.task(task.id).attempts == policy.retries_not_own_fault + 1

    def test_cancelled_while_it_fails_to_start_it_is_cancelled(self, lab):
        task = lab.submit(command=["/no/such/program"])
        lab.turn()
        lab.cancel(task)
        lab.turn(3, minutes=1)
        assert lab.state(task) == "cancelled"
        assert lab.task(task.id).attempts == 1

    def test_a_gang_with_a_dead_agent_holds_nothing(self, lab):
        """C05: node 2's agent is down when the second worker is to be launched."""
        lab.put(*(replace(lab.records.card_types["A100-80G"], id="A100-x", version=1),))
        lab.engine._reachable = lambda node: node != "n2"
        gang = lab.submit(command=["sleep", "60"], cards=4, nodes=2)
        two = [replace(lab.records.cards[f"r{n}"], type="A100-80G", vram_mib=80 * 1024, version=2) for n in range(2)]
        lab.put(*two)
        lab.turn()
        assert lab.state(gang) == "starting"
        assert len(lab.records.runs) == 1
        lab.turn(seconds=1)
        assert (lab.state(gang), lab.cause(gang)) == ("waiting", "start_failed")
        assert "node_unreachable: n2" in lab.runs(gang)[0].detail
        assert lab.codes(gang) == ["wait.retry"]
        assert not lab.records.runs
        assert lab.records.balances["vision"].held_parts == 0
        lab.engine._reachable = lambda node: True
        lab.turn(3, seconds=30)
        assert lab.state(gang) == "running"
        assert {part.node for part in lab.runs(gang)[-1].parts} == {"n1", "n2"}

    def test_two_gangs_in_one_second_do_not_each_hold_half(self, lab):
        """C05: two machines of four cards, two gangs of three cards on each."""
        nodes = (
            replace(lab.records.nodes["n1"], id="m1", version=1),
            replace(lab.records.nodes["n1"], id="m2", version=1),
        )
        card = lab.records.cards["a0"]
        lab.put(
            *nodes, *(replace(card, id=f"{m.id}-{n}", node=m.id, index=n, version=1) for m in nodes for n in range(4))
        )
        lab.put(*(replace(lab.records.cards[f"a{n}"], health=Health.DRAINING, version=2) for n in range(4)))
        x, y = lab.submit_all("mia", [{"cards": 6, "nodes": 2, "command": ["sleep", "60"]}] * 2)
        lab.turn(2)
        assert (lab.state(x), lab.state(y)) == ("running", "waiting")
        assert sorted(len(part.cards) for part in lab.runs(x)[0].parts) == [3, 3]
        reason = lab.live.waits[y.id].reasons[0]
        assert (reason.need, reason.nodes, reason.free, reason.best_free) == (6, 2, 2, 1)


class TestOutsiders:
    def test_a_card_that_others_use_counts_as_taken(self, lab):
        outside = {f"a{n}": ExternalUse(f"a{n}", T0, 1000, ("root",), (7,)) for n in range(4)}
        lab.box.set(external=outside)
        task = lab.submit(command=["sleep", "60"], **A100)
        lab.turn(2)
        assert lab.codes(task)[0] == "wait.cards"
        holders = lab.live.waits[task.id].reasons[0].holders
        assert {holder.run for holder in holders} == {None}
        lab.box.set(external={k: v for k, v in outside.items() if k != "a2"})
        lab.turn(2)
        assert lab.runs(task)[0].cards == ("a2",)


class TestReasons:
    def history(self, lab, task) -> list[ReasonRecord]:
        return list(reversed(lab.store.reasons_of(task.id)))

    def test_they_are_written_when_they_change_and_only_then(self, lab):
        fill(lab)
        task = lab.submit(command=["sleep", "60"], inputs="coco", **A100)
        for _ in range(5):
            lab.turn(minutes=11)
        mark_dataset(lab.store, lab.clock, lab.admin(), "d-2", Readiness.READY)
        for _ in range(3):
            lab.turn(seconds=1)
        told = [[reason.code for reason in record.reasons] for record in self.history(lab, task)]
        assert told == [["wait.data"], ["wait.cards", "wait.end_unknown"]]

    def test_a_new_server_does_not_write_them_again(self, lab):
        fill(lab, limit="2h")
        task = lab.submit(command=["sleep", "60"], **A100)
        lab.turn()
        lab.restart()
        lab.turn(3, minutes=1)
        assert len(self.history(lab, task)) == 1
        assert lab.codes(task) == ["wait.cards"]

    def test_after_another_try_they_are_written_anew(self, lab):
        task = lab.submit(command=["/no/such/program"])
        for _ in range(3):
            lab.turn(2)
            lab.clock.move(seconds=30)
        assert [record.reasons[0].code for record in self.history(lab, task)] == ["wait.retry"] * 3

    def test_what_was_not_written_is_not_taken_as_told(self, lab):
        fill(lab)
        task = lab.submit(command=["sleep", "60"], **A100)
        update = lab.fragile.update

        def disk_full(decide):
            change = decide(lab.records)
            if change.reasons:
                raise OSError("disk full")
            return update(lambda records: change)

        lab.fragile.update = disk_full
        with pytest.raises(OSError, match="disk full"):
            lab.turn()
        lab.fragile.update = update
        lab.turn()
        assert len(self.history(lab, task)) == 1

    def test_parked_and_back(self, lab):
        task = lab.submit(command=["sleep", "60"], cards=5, **A100)
        lab.turn()
        assert (lab.state(task), lab.codes(task)) == ("parked", ["park.node_too_small"])
        edit_task(lab.store, lab.clock, lab.admin(), task.id, {"cards": 2}, "UTC")
        lab.turn(2)
        assert lab.state(task) == "running"

    def test_no_event_no_write(self, lab):
        fill(lab)
        lab.submit(command=["sleep", "60"], **A100)
        lab.turn(3)
        version, live = lab.records.version, lab.live
        for _ in range(20):
            lab.turn(seconds=1)
        assert lab.records.version == version
        assert lab.live is live


class TestRulesHold:
    def broken(self, monkeypatch, *rules: Violation) -> None:
        monkeypatch.setattr("paika.services.run_cycle.check", lambda *_: list(rules))

    def test_a_plan_that_breaks_a_rule_starts_nothing_and_raises_an_alarm(self, lab, monkeypatch):
        self.broken(monkeypatch, Violation("a whole card is given once", "a0"))
        fill(lab, 3)
        task = lab.submit(command=["sleep", "60"])
        held = lab.submit(command=["sleep", "60"], inputs="coco")
        lab.turn()
        assert not lab.records.runs
        assert lab.live.alarms == ("a whole card is given once: a0",)
        assert (lab.codes(task), lab.codes(held)) == (["wait.plan_refused"], ["wait.data"])
        assert [wait.rank for wait in lab.live.plan.waits] == [1, 2, 3, 4, 5]
        monkeypatch.undo()
        lab.turn(2, seconds=30)
        assert (lab.state(task), lab.live.alarms) == ("running", ())

    def test_a_plan_that_breaks_a_rule_promises_nothing_and_takes_no_promise_back(self, lab, monkeypatch):
        fill(lab, 3)
        old = lab.submit(command=["sleep", "3600"], limit="2h")
        busy = [lab.submit(command=["sleep", "3600"], limit="2h") for _ in range(3)]
        lab.turn(2, seconds=40)
        before = lab.live.promises
        assert before
        self.broken(monkeypatch, Violation("a whole card is given once", "a0"))
        new = lab.submit(command=["sleep", "3600"], limit="2h")
        lab.turn(seconds=40)
        assert lab.live.promises == before
        assert all(wait.forecast is None for wait in lab.live.plan.waits)
        assert {old.id, new.id, *(task.id for task in busy)} >= {wait.task for wait in lab.live.plan.waits}
        monkeypatch.undo()
        lab.turn(seconds=40)
        assert {one.task for one in lab.live.promises} == {one.task for one in before} | {new.id}

    def test_a_plan_that_breaks_a_rule_is_kept_and_can_be_planned_anew(self, lab, monkeypatch):
        shelf = InMemoryCaseShelf()
        lab.cycle.keep_case = CaseKeeper(shelf, "1.2").keep
        self.broken(monkeypatch, Violation("a whole card is given once", "a0"))
        task = lab.submit(command=["run", "--token=s3cret"], env={"KEY": "s3cret"})
        lab.turn(3, seconds=40)
        (name,) = shelf.names()
        assert lab.live.case == name
        case = shelf.read(name)
        assert [fault.rule for fault in case.faults] == ["a whole card is given once"]
        assert (case.at, case.paika, [one.id for one in case.snapshot.tasks]) == (
            case.snapshot.taken_at,
            "1.2",
            [task.id],
        )
        assert "s3cret" not in repr(case)
        assert replay_case(case).faults == case.faults
        monkeypatch.undo()
        again = replay_case(case)
        assert (again.sound, [start.task for start in again.made.starts]) == (True, [task.id])

    def test_a_shelf_that_is_full_stops_nothing(self, lab, monkeypatch):
        shelf = InMemoryCaseShelf()
        shelf.fails = True
        lab.cycle.keep_case = CaseKeeper(shelf).keep
        self.broken(monkeypatch, Violation("a wait has a reason", "t-1", blocks=False))
        task = lab.submit(command=["sleep", "60"])
        lab.turn(2)
        assert (lab.state(task), lab.live.case) == ("running", "")

    def test_a_lesser_fault_is_an_alarm_and_work_goes_on(self, lab, monkeypatch):
        self.broken(monkeypatch, Violation("a wait has a reason", "t-1", blocks=False))
        task = lab.submit(command=["sleep", "60"])
        lab.turn(2)
        assert lab.live.alarms == ("a wait has a reason: t-1",)
        assert lab.state(task) == "running"

    def test_a_cut_quota_stops_nobody_and_lets_nobody_new_start(self, lab):
        lab.put(Quota("vision", 2))
        running = fill(lab, 2)
        lab.put(Quota("vision", 1, version=2))
        late = lab.submit(command=["sleep", "60"], **A100)
        lab.turn(2)
        assert [lab.state(task) for task in running] == ["running", "running"]
        reason = lab.live.waits[late.id].reasons[0]
        assert (reason.code, reason.held_parts, reason.max_cards) == ("wait.quota", 200, 1)

    def test_a_flood_is_told_why_to_the_last(self, lab):
        drafts = [draft(command=["sleep", "60"], **A100) for _ in range(2_000)]
        tasks = submit_tasks(lab.store, lab.clock, lab.actor("mia"), drafts)
        lab.turn()
        assert sum(bool(lab.codes(task)) for task in tasks) == 2_000 - 4
