"""The running server: parts wired together, and the threads that keep them going."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from zoneinfo import ZoneInfo

import structlog
from fastapi import FastAPI

from paika import __version__
from paika.adapters.case_folder import CaseFolder
from paika.adapters.clock_system import SystemClock
from paika.adapters.engine_local.accounts import AccountOf, MappedAccounts, as_the_server
from paika.adapters.engine_local.engine import LocalEngine
from paika.adapters.ids_system import SystemIds
from paika.adapters.meter_npu.meter import NpuSmiMeter
from paika.adapters.meter_nvml.nvml import NvmlMeter
from paika.adapters.meter_virtual.meter import CardUse, VirtualMeter
from paika.adapters.probe_command.probe import CommandProbe
from paika.adapters.probe_file.probe import FileProbe
from paika.adapters.probe_s3.probe import S3Probe
from paika.adapters.probe_url.probe import UrlProbe
from paika.adapters.snapshot_json import JsonSnapshotFile
from paika.adapters.store_sql.store import SqlStore
from paika.adapters.table_reader.reader import FileTableReader
from paika.adapters.task_yaml.reader import read_task_list_yaml
from paika.domain.card import Card
from paika.domain.observed import Observed
from paika.interfaces.api.app import build_api
from paika.interfaces.api.context import Context
from paika.interfaces.board.mount import mount_board
from paika.interfaces.wording.catalogue import Lang
from paika.ports.meter import Meter
from paika.ports.store import Store
from paika.services.check_readiness import ReadinessWatch
from paika.services.follow_runs import Peak
from paika.services.keep_case import CaseKeeper
from paika.services.live import LiveBox
from paika.services.observe_cards import observe_cards
from paika.services.plan_twice import TwoPlans
from paika.services.preview_edits import WhatIfs
from paika.services.preview_move import MovePreviews
from paika.services.run_cycle import Cycle
from paika.wiring.planner_process import PlannerProcess
from paika.wiring.settings import BadSettings, Settings

LOCAL = "local"
MERGED_S = 0.1  # what happens within this time is looked at together
log = structlog.get_logger("paika.server")


class LocalNodes(Collection[str]):
    """Ids of the nodes that mean this host, as the records say at the moment."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __contains__(self, node: object) -> bool:
        found = self._store.read().nodes.get(str(node))
        return found is not None and found.engine == LOCAL

    def __iter__(self) -> Iterator[str]:
        return (node.id for node in self._store.read().nodes.values() if node.engine == LOCAL)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(slots=True)
class Server:
    """Everything of one server. `start` begins its work; `close` ends it and leaves running tasks alone."""

    settings: Settings
    store: SqlStore
    engine: LocalEngine
    clock: SystemClock
    ids: SystemIds
    live: LiveBox
    cycle: Cycle
    planners: tuple[PlannerProcess, ...]
    meters: tuple[Meter, ...]
    readiness: ReadinessWatch
    context: Context
    app: FastAPI
    closing: Event
    pool: ThreadPoolExecutor
    threads: list[Thread] = field(default_factory=list)
    observed: Observed = field(default_factory=Observed)

    def start(self) -> None:
        """Begin to watch cards, probe data and plan."""
        self._watch_cards()
        for name, work, pause_s in (
            ("cycle", self._cycle, 0.0),
            ("cards", self._watch_cards, float(self.settings.meter_every_s)),
            ("readiness", self._probe, 1.0),
        ):
            thread = Thread(target=self._keep_going, args=(name, work, pause_s), name=f"paika-{name}", daemon=True)
            self.threads.append(thread)
            thread.start()

    def close(self) -> None:
        """End the work. What runs goes on and is found again at the next start."""
        self.closing.set()
        for thread in self.threads:
            thread.join(timeout=10)
        for planner in self.planners:
            planner.close()
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.store.close()

    def _keep_going(self, name: str, work: Callable[[], None], pause_s: float) -> None:
        """Repeat the work until the server closes; a fault costs one turn, and is logged."""
        while not self.closing.is_set():
            if pause_s and self.closing.wait(pause_s):
                return
            try:
                work()
            except Exception as fault:
                if self.closing.is_set():
                    return
                log.exception("turn_failed", work=name)
                self.live.set(alarms=(f"{name} fails: {type(fault).__name__}",))
                self.closing.wait(1.0)

    def _cycle(self) -> None:
        self.cycle.run()
        records = self.store.read()
        self.closing.wait(MERGED_S)
        self.store.wait_change(records.version, 0.3 if records.runs else 1.0)

    def _probe(self) -> None:
        self.readiness.tick(wait_s=0.2)

    def _watch_cards(self) -> None:
        before = frozenset(pid for pids in self.live.read().pids.values() for pid in pids)
        self.observed = observe_cards(
            self.store, self.meters, self.observed, lambda: before | self._our_pids(), self.clock.now()
        )
        failures = {f"{node} {vendor.value}": look.cause for (node, vendor), look in self.observed.failed.items()}
        found = {"readings": self.observed.readings, "external": self.observed.external, "meter_failures": failures}
        live = self.live.read()
        self.live.set(**{name: value for name, value in found.items() if value != getattr(live, name)})
        self._note_peaks()

    def _our_pids(self) -> frozenset[int]:
        """Processes of all our runs, asked anew so that a run that has just begun counts as ours.

        With those known before the look, a run that ended in between is no outsider either.
        """
        asked = {run.id: run.token for run in self.store.read().runs.values() if run.engine == LOCAL}
        reports = self.engine.observe(asked) if asked else ()
        return frozenset(pid for report in reports for pid in report.pids)

    def _note_peaks(self) -> None:
        """Peak VRAM of each run, by its own processes; runs that no meter sees keep none."""
        pids = self.live.read().pids
        for run in self.store.read().runs.values():
            seen = [self._used_by(card, frozenset(pids.get(run.id, ()))) for card in run.cards]
            known = [mib for mib in seen if mib is not None]
            if known:
                before = self.cycle.peaks.get(run.id, Peak())
                self.cycle.peaks[run.id] = Peak(max(*known, before.vram_mib or 0), before.busy_percent)

    def _used_by(self, card: str, pids: frozenset[int]) -> int | None:
        reading = self.observed.readings.get(card)
        used = [p.vram_mib for p in (reading.processes or ()) if p.pid in pids] if reading else []
        known = [mib for mib in used if mib is not None]
        return sum(known) if known else None


def build_server(settings: Settings) -> Server:
    """Open the store and wire the parts. Raises the store's problems; starts nothing."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = SqlStore(settings.database_url)
    clock, ids, live = SystemClock(), SystemIds(), LiveBox()
    engine = LocalEngine(settings.data, LocalNodes(store), account_of=_accounts(settings))
    planner, previewer = PlannerProcess(), PlannerProcess()
    previews = TwoPlans(previewer)
    files = JsonSnapshotFile()
    cases = CaseKeeper(CaseFolder(settings.data / "cases", files.encode_case, files.decode_case), __version__)
    cycle = Cycle(store, {LOCAL: engine}, clock, ids, live, decide=planner, keep_case=cases.keep)
    pool = ThreadPoolExecutor(8, thread_name_prefix="paika-probe")
    probes = (
        FileProbe((*settings.probe_roots, settings.data)),
        UrlProbe(settings.probe_private_urls),
        S3Probe(settings.s3),
        CommandProbe(),
    )
    closing = Event()
    context = Context(
        store=store,
        live=live,
        clock=clock,
        ids=ids,
        engine=engine,
        session_key=_session_key(settings.data, ids),
        zone=ZoneInfo(settings.zone),
        lang=Lang(settings.lang),
        site=settings.site,
        version=__version__,
        https=settings.https,
        tables=FileTableReader(),
        task_lists=read_task_list_yaml,
        closing=closing.is_set,
        moves=MovePreviews(previews),
        what_ifs=WhatIfs(previews),
        snapshots=files,
    )
    app = build_api(context)
    mount_board(app, context)
    return Server(
        settings=settings,
        store=store,
        engine=engine,
        clock=clock,
        ids=ids,
        live=live,
        cycle=cycle,
        planners=(planner, previewer),
        meters=_meters(settings, store, live),
        readiness=ReadinessWatch(store, clock, probes, pool),
        context=context,
        app=app,
        closing=closing,
        pool=pool,
    )


def _accounts(settings: Settings) -> AccountOf:
    """Whose rights tasks have: only root can change to another account."""
    if os.geteuid() != 0:
        if settings.accounts:
            raise BadSettings(field="accounts", detail="only a server that runs as root can change accounts")
        return as_the_server
    return as_the_server if settings.run_as_root else MappedAccounts(settings.accounts)


def _meters(settings: Settings, store: Store, live: LiveBox) -> tuple[Meter, ...]:
    """The meters of this host, under its node id, and the one of virtual cards."""

    def virtual_cards() -> list[Card]:
        records = store.read()
        return [card for card in records.cards.values() if records.nodes[card.node].virtual]

    def use() -> Mapping[str, CardUse]:
        pids = live.read().pids
        return _virtual_use(store, {run: pids.get(run, ()) for run in pids})

    node = settings.node
    return (NvmlMeter(node), NpuSmiMeter(node), VirtualMeter(virtual_cards, use, settings.data))


def _virtual_use(store: Store, pids: Mapping[str, tuple[int, ...]]) -> dict[str, CardUse]:
    """What runs say they need, played as what they use; a run that says nothing uses nothing."""
    records = store.read()
    found: dict[str, CardUse] = {}
    for run in records.runs.values():
        task = records.tasks.get(run.task)
        if task is None or run.id not in pids:
            continue
        mib = run.share.vram_mib if run.share else task.demand.vram_mib
        for card in run.cards:
            before = found.get(card, CardUse(0))
            found[card] = CardUse(before.used_mib + mib, before.pids + _first(pids[run.id]))
    return found


def _first(pids: tuple[int, ...]) -> tuple[int, ...]:
    return pids[:1]


def _session_key(data: Path, ids: SystemIds) -> str:
    """The key that signs cookies, made once and kept with the data, readable by its owner alone."""
    path = data / "session.key"
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key := ids.token(32))
        return key
