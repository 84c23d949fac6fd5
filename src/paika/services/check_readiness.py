"""Probes look at datasets, off the scheduling path; what they find opens or shuts gates."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from paika.domain.access import SERVER
from paika.domain.audit import AuditEntry
from paika.domain.dataset import Dataset, ProbeKind, ProbeResult, ProbeSpec, Readiness
from paika.domain.records import Change, Records
from paika.ports.clock import Clock
from paika.ports.probe import Probe
from paika.ports.store import Store
from paika.services.keep_audit import entry

UNKNOWN_LOOKS = 2  # so many looks in a row must tell nothing before a known state is given up


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a dataset: what was asked, when it ended, what was found."""

    spec: ProbeSpec
    at: datetime
    result: ProbeResult


class ReadinessWatch:
    """Keeps looks going in `pool`, one per dataset at a time, and writes what changed.

    Last looks are kept in memory: a look that finds what is known already writes nothing. Not for use by
    several threads at once; the pool belongs to the caller.
    """

    def __init__(self, store: Store, clock: Clock, probes: Iterable[Probe], pool: Executor) -> None:
        self._store, self._clock, self._pool = store, clock, pool
        self._probes: dict[ProbeKind, Probe] = {kind: probe for probe in probes for kind in probe.kinds}
        self._looks: dict[str, Look] = {}
        self._blind: dict[str, int] = {}
        self._running: dict[str, tuple[ProbeSpec, Future[ProbeResult]]] = {}

    def last_look(self, dataset_id: str) -> Look | None:
        """The last look that ended, or None."""
        return self._looks.get(dataset_id)

    def due(self, now: datetime) -> tuple[Dataset, ...]:
        """Datasets to look at: those whose probe is new, has changed, or looked long enough ago."""
        return tuple(dataset for dataset in self._store.read().datasets.values() if self._is_due(dataset, now))

    def _is_due(self, dataset: Dataset, now: datetime) -> bool:
        if dataset.probe is None or dataset.id in self._running:
            return False
        last = self._looks.get(dataset.id)
        if last is None or last.spec != dataset.probe:
            return True
        return now - last.at >= timedelta(seconds=dataset.probe.every_s)

    def tick(self, wait_s: float = 0) -> tuple[str, ...]:
        """Begin the looks that are due, wait up to `wait_s` for those that run, write those that ended.

        Returns the ids of the datasets that changed.
        """
        for dataset in self.due(self._clock.now()):
            self._begin(dataset)
        if wait_s > 0:
            wait([future for _, future in self._running.values()], wait_s)
        return self._write(self._ended())

    def _begin(self, dataset: Dataset) -> None:
        assert dataset.probe is not None
        probe = self._probes.get(dataset.probe.kind)
        if probe is None:
            future: Future[ProbeResult] = Future()
            future.set_result(ProbeResult(Readiness.UNKNOWN, None, f"no probe for {dataset.probe.kind} is set up"))
        else:
            future = self._pool.submit(probe.check, dataset.probe)
        self._running[dataset.id] = (dataset.probe, future)

    def _ended(self) -> dict[str, Look]:
        now = self._clock.now()
        ended = {key: (spec, future) for key, (spec, future) in self._running.items() if future.done()}
        for key in ended:
            del self._running[key]
        looks = {key: Look(spec, now, _result(future)) for key, (spec, future) in ended.items()}
        for key, look in looks.items():
            blind = self._blind.get(key, 0) + 1 if look.result.readiness is Readiness.UNKNOWN else 0
            self._blind[key] = blind
        self._looks |= looks
        self._forget_removed()
        return looks

    def _forget_removed(self) -> None:
        known = self._store.read().datasets
        self._looks = {key: look for key, look in self._looks.items() if key in known}
        self._blind = {key: count for key, count in self._blind.items() if key in known}

    def _write(self, looks: dict[str, Look]) -> tuple[str, ...]:
        if not looks:
            return ()
        changed: list[str] = []

        def decide(records: Records) -> Change:
            pairs = [pair for key, look in looks.items() if (pair := self._change(records, key, look))]
            changed[:] = [new.id for new, _ in pairs]
            return Change(puts=tuple(new for new, _ in pairs), audit=tuple(line for _, line in pairs))

        self._store.update(decide)
        return tuple(changed)

    def _change(self, records: Records, key: str, look: Look) -> tuple[Dataset, AuditEntry] | None:
        """The dataset as it is now known and the line that tells of it; None where nothing has changed.

        What was found for a probe that the dataset no longer has counts for nothing.
        """
        old = records.datasets.get(key)
        if old is None or old.probe != look.spec:
            return None
        found = look.result
        blind = found.readiness is Readiness.UNKNOWN
        if blind and old.readiness is not Readiness.UNKNOWN and self._blind[key] < UNKNOWN_LOOKS:
            return None
        eta = old.eta if found.readiness is Readiness.PREPARING else None
        if (old.readiness, old.percent, old.eta) == (found.readiness, found.percent, eta) and not _new_detail(
            old, found
        ):
            return None
        new = replace(
            old,
            readiness=found.readiness,
            percent=found.percent,
            eta=eta,
            detail=found.detail,
            set_by="probe",
            changed_at=look.at,
            checked_at=look.at,
            version=old.version + 1,
        )
        return new, entry(SERVER, look.at, "probe_dataset", "dataset", old.id, old=old, new=new)


def _new_detail(old: Dataset, found: ProbeResult) -> bool:
    """Whether somebody should learn why the data is still not there."""
    return found.readiness in {Readiness.UNKNOWN, Readiness.BLOCKED} and found.detail != old.detail


def _result(future: Future[ProbeResult]) -> ProbeResult:
    """What a look found. A probe that raises breaks its promise; that costs its own look only."""
    fault = future.exception()
    if fault is not None:
        return ProbeResult(Readiness.UNKNOWN, None, f"the probe failed: {type(fault).__name__}")
    return future.result()
