"""Laws of the living house over random histories: after every event everything is counted again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.interfaces.api.door import Door
from tests.laws import truth
from tests.laws.examples import examples
from tests.living import Crash, Living

from paika.domain.card import ExternalUse, Health
from paika.domain.dataset import Readiness
from paika.domain.problem import Problem
from paika.domain.quota import Quota
from paika.domain.run import EndCause, Run
from paika.services.change_task import edit_task, hold_task, release_task

Form = dict[str, Any]
CARDS = ("a0", "a1", "a2", "a3", "r0", "r1")

programs = st.sampled_from(
    [
        ["sleep", "40"],
        ["sleep", "40"],
        ["sleep", "300"],
        ["forever"],
        ["exit", "2", "30"],
        ["oom", "30"],
        ["signal", "SEGV", "30"],
        ["stubborn", "300"],
        ["/no/such/program"],
    ]
)
demands = st.sampled_from(
    [
        {},
        {},
        {"types": "A100-80G"},
        {"types": "RTX4090"},
        {"cards": 2},
        {"cards": 3, "types": "A100-80G"},
        {"cards": 4},
        {"cards": 2, "nodes": 2},
        {"cards": 5},
        {"vram": "40G"},
        {"vram": "100G"},
        {"share_vram": "8G", "share_bandwidth": 20},
        {"share_vram": "8G", "share_bandwidth": 60},
        {"share_vram": "50G", "share_bandwidth": 60},
    ]
)
forms = st.builds(
    lambda program, demand, tier, limit, inputs, kind: {
        "command": program,
        "tier": tier,
        **demand,
        **limit,
        **inputs,
        **kind,
    },
    programs,
    demands,
    st.sampled_from(["normal", "normal", "idle", "core"]),
    st.sampled_from([{}, {"limit": "1m"}, {"limit": "10m", "grace": "20s"}, {"estimate": "5m"}]),
    st.sampled_from([{}, {}, {}, {"inputs": "imagenet"}, {"inputs": "imagenet, coco"}]),
    st.sampled_from([{}, {}, {"preemptible": True}]),
)
which = st.integers(0, 30)
submits = st.tuples(st.just("submit"), forms, st.sampled_from(["lea", "leo"]), which)
events = st.one_of(
    submits,
    submits,
    st.tuples(st.just("pass"), st.sampled_from([1, 29, 30, 31, 60, 121, 300, 1800])),
    st.tuples(st.just("pass"), st.sampled_from([1, 29, 30, 31, 60, 121, 300, 1800])),
    st.tuples(st.just("cancel"), which),
    st.tuples(st.just("hold"), which),
    st.tuples(st.just("release"), which),
    st.tuples(st.just("priority"), which, st.sampled_from([1, 99])),
    st.tuples(st.just("data"), st.sampled_from(["d-1", "d-2"]), st.sampled_from(list(Readiness))),
    st.tuples(st.just("card"), st.sampled_from(CARDS), st.sampled_from([Health.LOST, Health.OK, Health.DRAINING])),
    st.tuples(st.just("quota"), st.sampled_from(["vision", "text"]), st.sampled_from([None, 0, 1, 2, 4])),
    st.tuples(st.just("end"), which, st.sampled_from([EndCause.DONE, EndCause.EXIT_CODE, EndCause.UNKNOWN])),
    st.tuples(st.just("vanish"), which),
    st.tuples(st.just("outside"), st.sampled_from(CARDS)),
    st.tuples(st.just("restart")),
    st.tuples(st.just("crash"), st.sampled_from(["store", "engine"]), st.sampled_from(["before", "after"])),
    st.tuples(st.just("silent"), st.booleans()),
    st.tuples(st.just("agent"), st.booleans()),
)
histories = st.tuples(st.lists(submits, min_size=2, max_size=6), st.lists(events, min_size=4, max_size=14)).map(
    lambda halves: halves[0] + halves[1]
)


class History:
    """A living lab, and what happens to it."""

    def __init__(self) -> None:
        self.lab = Living()
        self.outside: dict[str, ExternalUse] = {}
        self.seen: set[str] = set()
        self.lab.put(Quota("text", 2))

    def happen(self, what: tuple[Any, ...]) -> None:
        event(what[0])
        getattr(self, f"_{what[0]}")(*what[1:])

    def _pick(self, rows: Any, number: int) -> Any:
        found = sorted(rows, key=lambda row: row.id)
        return found[number % len(found)] if found else None

    def _submit(self, form: Form, person: str, parent: int) -> None:
        known = self._pick(self.lab.records.tasks.values(), parent)
        after = {"after": known.id} if known is not None and parent % 4 == 0 else {}
        self.lab.submit(person, **form, **after)

    def _pass(self, seconds: int) -> None:
        self.lab.clock.move(seconds=seconds)

    def _cancel(self, number: int) -> None:
        if task := self._pick(self.lab.records.tasks.values(), number):
            self.lab.cancel(task)

    def _hold(self, number: int) -> None:
        if task := self._pick(self.lab.records.tasks.values(), number):
            with suppress(Problem):
                hold_task(self.lab.store, self.lab.clock, self.lab.admin(), task.id, "not now")

    def _release(self, number: int) -> None:
        if task := self._pick(self.lab.records.tasks.values(), number):
            with suppress(Problem):
                release_task(self.lab.store, self.lab.clock, self.lab.admin(), task.id)

    def _priority(self, number: int, points: int) -> None:
        if task := self._pick(self.lab.records.tasks.values(), number):
            edit_task(self.lab.store, self.lab.clock, self.lab.admin(), task.id, {"priority": points}, "UTC")

    def _data(self, key: str, readiness: Readiness) -> None:
        old = self.lab.records.datasets[key]
        self.lab.put(replace(old, readiness=readiness, eta=None, version=old.version + 1))

    def _card(self, key: str, health: Health) -> None:
        old = self.lab.records.cards[key]
        self.lab.put(replace(old, health=health, version=old.version + 1))

    def _quota(self, team: str, cards: int | None) -> None:
        old = self.lab.records.quotas.get(team)
        self.lab.put(Quota(team, cards, old.version + 1 if old else 1))

    def _end(self, number: int, cause: EndCause) -> None:
        run: Run | None = self._pick(self.lab.records.runs.values(), number)
        if run is not None and run.id in self.lab.engine.lives and run.started_at is not None:
            self.lab.engine.end(run.id, cause)

    def _vanish(self, number: int) -> None:
        """The engine forgets a run, as after the loss of its disk."""
        run: Run | None = self._pick(self.lab.records.runs.values(), number)
        if run is not None and run.started_at is not None:
            self.lab.engine.lives.pop(run.id, None)

    def _outside(self, card: str) -> None:
        if card in self.outside:
            del self.outside[card]
        elif card not in {card for run in self.lab.records.runs.values() for card in run.cards}:
            self.outside[card] = ExternalUse(card, self.lab.clock.now(), 1000, ("root",), (7,))

    def _restart(self) -> None:
        self.lab.restart()

    def _crash(self, where: str, when: str) -> None:
        """The server will die at its next entry in the ledger, or at its next start."""
        if where == "store":
            self.lab.fragile.dies = lambda change: when if change.ledger else ""
        else:
            self.lab.counting.dies = lambda launch: when

    def _silent(self, silent: bool) -> None:
        self.lab.engine.answering = not silent

    def _agent(self, alive: bool) -> None:
        self.lab.engine._reachable = lambda node: alive or node != "n2"

    # -- what must hold ----------------------------------------------------------------------------

    def turn(self) -> None:
        """The server goes round until it has nothing to do; after each turn the records must be right."""
        for _ in range(8):
            before = self.lab.records.version
            self.lab.box.set(external=dict(self.outside))
            try:
                self.lab.turn()
            except Crash:
                event("died")
                self.lab.restart()
                before = -1
            self.records_hold()
            if self.lab.records.version == before:
                return
        raise AssertionError("the server does not come to rest")

    def records_hold(self) -> None:
        records = self.lab.records
        truth.cards_are_held_once(records)
        truth.tasks_and_runs_agree(records)
        truth.no_new_start_exceeds_a_quota(records, self.seen)
        self.seen |= records.runs.keys()
        truth.the_ledger_is_right(self.lab.store, records, list(self.lab.memory._runs.values()))
        assert max(self.lab.counting.begun.values(), default=1) == 1, "a run was begun twice"
        assert self.lab.live.alarms == ()

    def reasons_hold(self, told: dict[str, list[dict[str, Any]]]) -> None:
        for task in truth.queued(self.lab.records):
            truth.reasons_are_true(
                self.lab.records,
                task,
                told[task.id],
                self.lab.clock.now(),
                outside=set(self.outside),
                silent=not self.lab.engine.answering,
            )

    def told(self) -> dict[str, list[dict[str, Any]]]:
        """Reasons as they are told, in the shape of the API."""
        return {
            key: [{"code": r.code, "facts": {n: getattr(r, n) for n in r.__slots__}} for r in wait.reasons]
            for key, wait in self.lab.live.waits.items()
        }

    def heal(self) -> None:
        """Everything works again and everybody may run."""
        lab = self.lab
        lab.engine.answering = True
        lab.engine._reachable = lambda node: True
        self.outside.clear()
        for card in CARDS:
            self._card(card, Health.OK)
        for key in ("d-1", "d-2"):
            self._data(key, Readiness.READY)
        for team in ("vision", "text"):
            self._quota(team, None)
        for task in list(lab.records.tasks.values()):
            if task.state.value == "held":
                release_task(lab.store, lab.clock, lab.admin(), task.id)


@settings(max_examples=examples(250, 20), deadline=None)
@given(histories)
def test_whatever_happens_the_books_are_right_and_reasons_true(story: list[tuple[Any, ...]]) -> None:
    house = History()
    for what in story:
        house.happen(what)
        house.turn()
        house.reasons_hold(house.told())


@settings(max_examples=examples(100, 40), deadline=None)
@given(histories)
def test_in_the_end_everything_ends_and_nothing_is_held(story: list[tuple[Any, ...]]) -> None:
    house = History()
    for what in story:
        house.happen(what)
        house.turn()
    house.heal()
    for _ in range(12):
        house.turn()
        house.lab.clock.move(minutes=10)
    house.reasons_hold(house.told())
    for run in house.lab.records.runs.values():
        task = house.lab.records.tasks[run.task]
        assert (task.program.argv, task.limit_s) == (("forever",), None), f"{task.id} should have ended"
    for task in list(house.lab.records.tasks.values()):
        if not house.lab.task(task.id).ended:
            house.lab.cancel(task)
    for _ in range(3):
        house.turn()
        house.lab.clock.move(minutes=1)
    assert not house.lab.records.tasks
    assert not house.lab.records.runs
    assert {balance.held_parts for balance in house.lab.records.balances.values()} <= {0}


@settings(max_examples=examples(15, 200), deadline=None)
@given(histories)
def test_why_is_right_at_every_moment(story: list[tuple[Any, ...]]) -> None:
    """The same through the API: what people are told is what can be counted."""
    house = History()
    door = Door(house.lab)
    client = door.client("ann")
    for what in story:
        house.happen(what)
        house.turn()
        object.__setattr__(door.context, "live", house.lab.box)
        told = {}
        for task in truth.queued(house.lab.records):
            answer = client.get(f"/tasks/{task.id}/why", params={"unblock": False}).json()
            assert answer["unseen_since"] is None
            assert answer["state"] == task.state.value
            told[task.id] = answer["reasons"]
        house.reasons_hold(told)
