"""Probes look at datasets: when, how often, and what is written of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from paika.adapters.in_memory.store import InMemoryStore
from paika.domain.dataset import Dataset, ProbeKind, ProbeResult, ProbeSpec, Readiness
from paika.domain.records import Change, Records
from paika.ports.store import AuditQuery
from paika.services.check_readiness import ReadinessWatch

T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
SPEC = ProbeSpec(ProbeKind.MARKER, "/data/DONE", every_s=60)
READY = ProbeResult(Readiness.READY, 100, "found")
UNKNOWN = ProbeResult(Readiness.UNKNOWN, None, "no answer")
PATIENCE_S = 30


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = T0

    def now(self) -> datetime:
        return self.at

    def move(self, seconds: int) -> None:
        self.at += timedelta(seconds=seconds)


class Scripted:
    """A probe that tells what it is told to."""

    kinds = (ProbeKind.MARKER,)

    def __init__(self) -> None:
        self.answer: ProbeResult | Exception = READY
        self.asked: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def check(self, spec: ProbeSpec) -> ProbeResult:
        self.asked.append(spec.target)
        self.gate.wait(PATIENCE_S)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def pool() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as made:
        yield made


@pytest.fixture
def store() -> InMemoryStore:
    preparing = Dataset("a", "coco", Readiness.PREPARING, 40, eta=T0 + timedelta(hours=1), owner="li", probe=SPEC)
    return InMemoryStore(Records(datasets={"a": preparing, "b": Dataset("b", "by hand")}))


@pytest.fixture
def probe() -> Scripted:
    return Scripted()


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def watch(store, clock, probe, pool) -> ReadinessWatch:
    return ReadinessWatch(store, clock, [probe], pool)


def test_a_change_is_written_once_by_the_server_with_its_line(watch, store, clock):
    assert watch.tick(PATIENCE_S) == ("a",)
    dataset = store.read().datasets["a"]
    assert (dataset.readiness, dataset.percent, dataset.eta, dataset.owner) == (Readiness.READY, 100, None, "li")
    assert (dataset.set_by, dataset.changed_at, dataset.version) == ("probe", T0, 2)
    (line,) = store.audit(AuditQuery(subject="a")).rows
    assert (line.person, line.door, line.old["readiness"], line.new["readiness"]) == (
        *("server", "server"),
        *("preparing", "ready"),
    )
    version = store.read().version
    clock.move(60)
    assert watch.tick(PATIENCE_S) == ()
    assert store.read().version == version
    look = watch.last_look("a")
    assert look is not None
    assert look.at == clock.at


def test_it_looks_again_only_when_it_is_time_or_the_probe_is_another(watch, store, probe, clock):
    watch.tick(PATIENCE_S)
    clock.move(59)
    watch.tick(PATIENCE_S)
    assert len(probe.asked) == 1
    clock.move(1)
    watch.tick(PATIENCE_S)
    assert len(probe.asked) == 2
    old = store.read().datasets["a"]
    other = replace(old, probe=replace(SPEC, target="/data/OTHER"), version=old.version + 1)
    store.update(lambda _: Change(puts=(other,)))
    watch.tick(PATIENCE_S)
    assert probe.asked[-1] == "/data/OTHER"


def test_an_eta_stays_while_it_is_being_prepared(watch, store, probe):
    probe.answer = ProbeResult(Readiness.PREPARING, 70, "70 of 100")
    assert watch.tick(PATIENCE_S) == ("a",)
    assert store.read().datasets["a"].eta == T0 + timedelta(hours=1)
    assert store.read().datasets["a"].percent == 70


def test_one_blind_look_does_not_shut_the_gate_two_do(watch, store, probe, clock):
    watch.tick(PATIENCE_S)
    probe.answer = UNKNOWN
    clock.move(60)
    assert watch.tick(PATIENCE_S) == ()
    probe.answer = READY
    clock.move(60)
    assert watch.tick(PATIENCE_S) == ()
    probe.answer = UNKNOWN
    for changed in ((), ("a",)):
        clock.move(60)
        assert watch.tick(PATIENCE_S) == changed
    assert store.read().datasets["a"].readiness is Readiness.UNKNOWN


def test_a_false_look_shuts_the_gate_at_once(watch, store, probe, clock):
    watch.tick(PATIENCE_S)
    probe.answer = ProbeResult(Readiness.BLOCKED, None, "gone")
    clock.move(60)
    assert watch.tick(PATIENCE_S) == ("a",)
    assert store.read().datasets["a"].detail == "gone"


def test_a_slow_look_holds_nobody_up_and_is_not_begun_twice(watch, store, probe, clock):
    probe.gate.clear()
    assert watch.tick() == ()
    clock.move(600)
    assert watch.tick() == ()
    probe.gate.set()
    assert watch.tick(PATIENCE_S) == ("a",)
    assert len(probe.asked) == 1


def test_what_was_found_for_a_probe_that_is_gone_counts_for_nothing(watch, store, probe):
    probe.gate.clear()
    watch.tick()
    old = store.read().datasets["a"]
    store.update(lambda _: Change(puts=(replace(old, probe=None, version=old.version + 1),)))
    probe.gate.set()
    assert watch.tick(PATIENCE_S) == ()
    assert store.read().datasets["a"].readiness is Readiness.PREPARING


def test_a_probe_that_raises_costs_its_own_look_only(watch, store, probe, clock):
    probe.answer = RuntimeError("bug")
    watch.tick(PATIENCE_S)
    clock.move(60)
    watch.tick(PATIENCE_S)
    assert store.read().datasets["a"].detail == "the probe failed: RuntimeError"


def test_a_kind_without_a_probe_is_unknown(store, clock, pool):
    watch = ReadinessWatch(store, clock, [], pool)
    watch.tick(PATIENCE_S)
    clock.move(60)
    assert watch.tick(PATIENCE_S) == ("a",)
    assert store.read().datasets["a"].readiness is Readiness.UNKNOWN
