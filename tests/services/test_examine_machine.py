"""The examination: every finding can come out, and says in two languages what it found."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from paika.adapters.inventory_yaml.reader import read_inventory
from paika.domain.card import CardReading, Health, Vendor
from paika.domain.inventory import Inventory
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import Speaker
from paika.ports.machine import CgroupFacts, FolderFacts
from paika.ports.meter import Look
from paika.services import examine_machine as module
from paika.services.examine_machine import Finding, Level, examine_machine, worst

T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
GIB = 1024**3
LAB = """
nodes:
  - {id: n1, engine: local, cards: {type: L40S, count: 2}}
  - {id: v1, virtual: true, cards: {type: L4, count: 5}}
"""


@dataclass(frozen=True)
class Host:
    """A machine in good order."""

    version: tuple[int, int, int] = (3, 11, 9)
    place: FolderFacts = FolderFacts(True, True, "ext4", 500 * GIB)
    groups: CgroupFacts = CgroupFacts(True, True, ("cpu", "memory"))
    boot: str | None = "b00t"
    synced: bool | None = True
    free: bool = True

    def python(self) -> tuple[int, int, int]:
        return self.version

    def folder(self, path: str) -> FolderFacts:
        return self.place

    def cgroup(self) -> CgroupFacts:
        return self.groups

    def boot_id(self) -> str | None:
        return self.boot

    def clock_synced(self) -> bool | None:
        return self.synced

    def port_free(self, port: int) -> bool:
        return self.free


@dataclass(frozen=True)
class Showing:
    """A meter that shows one look."""

    seen: Look

    def look(self, now: datetime) -> tuple[Look, ...]:
        return (self.seen,)


def card(n: int, health: Health = Health.OK, *, partitioned: bool = False) -> CardReading:
    return CardReading(f"GPU-{n}", T0, health, name="NVIDIA L40S", partitioned=partitioned)


WELL = Look("n1", Vendor.NVIDIA, T0, (card(0), card(1)))


def found(host: Host | None = None, *looks: Look, text: str | None = LAB, now: datetime = T0) -> dict[str, Finding]:
    def read() -> Inventory | None:
        return None if text is None else read_inventory(text)

    meters = [Showing(look) for look in looks or (WELL,)]
    findings = examine_machine(host or Host(), meters, now, "/data", 8000, read)
    return {finding.code: finding for finding in findings}


def failing(words: str, vendor: Vendor = Vendor.NVIDIA) -> Look:
    return Look("n1", vendor, T0, failed=words)


def test_a_machine_in_good_order_has_only_good_findings() -> None:
    findings = found()
    assert {f.level for f in findings.values()} == {Level.OK}
    assert set(findings) == {
        "doctor.python",
        "doctor.folder",
        "doctor.disk",
        "doctor.cards",
        "doctor.ascend_absent",
        "doctor.cgroup",
        "doctor.boot_id",
        "doctor.clock",
        "doctor.port_free",
        "doctor.inventory",
    }
    assert findings["doctor.cards"].facts["cards"] == 2


CUT = replace(WELL, readings=(card(0), card(1, Health.NEEDS_RESET, partitioned=True)), oddities=("line 3: ?",))
CASES: list[tuple[dict[str, Level], dict[str, Finding]]] = [
    ({"doctor.python_old": Level.FAIL}, found(Host(version=(3, 10, 1)))),
    ({"doctor.folder_not_writable": Level.FAIL}, found(Host(place=FolderFacts(True, False, "ext4", GIB)))),
    ({"doctor.folder_network": Level.WARN}, found(Host(place=FolderFacts(True, True, "nfs4", 99 * GIB)))),
    ({"doctor.folder_volatile": Level.WARN}, found(Host(place=FolderFacts(True, True, "tmpfs", 99 * GIB)))),
    ({"doctor.folder_new": Level.OK}, found(Host(place=FolderFacts(False, True, None, 99 * GIB)))),
    ({"doctor.disk": Level.WARN}, found(Host(place=FolderFacts(True, True, "xfs", 5 * GIB)))),
    ({"doctor.disk_full": Level.FAIL}, found(Host(place=FolderFacts(True, True, "xfs", GIB - 1)))),
    ({"doctor.disk_unknown": Level.WARN}, found(Host(place=FolderFacts(True, True, "xfs", None)))),
    ({"doctor.nvidia_mismatch": Level.FAIL}, found(None, failing("Driver/library version mismatch"))),
    ({"doctor.nvidia_no_cards": Level.WARN}, found(None, failing("No devices were found"))),
    ({"doctor.nvidia_absent": Level.OK}, found(None, failing("NVML Shared Library Not Found"))),
    ({"doctor.nvidia_fails": Level.FAIL}, found(None, failing("Unknown Error"))),
    ({"doctor.cards_unseen": Level.WARN}, found(None, failing("NVML Shared Library Not Found"))),
    ({"doctor.ascend_fails": Level.FAIL}, found(None, WELL, failing("dcmi", Vendor.ASCEND))),
    (
        {"doctor.cards_unwell": Level.WARN, "doctor.cards_cut": Level.WARN, "doctor.cards_odd": Level.WARN},
        found(None, CUT),
    ),
    ({"doctor.cgroup_missing": Level.WARN}, found(Host(groups=CgroupFacts(True, True, ("cpu",))))),
    ({"doctor.boot_id_missing": Level.FAIL}, found(Host(boot=None))),
    ({"doctor.clock_free": Level.WARN}, found(Host(synced=False))),
    ({"doctor.clock_unknown": Level.OK}, found(Host(synced=None))),
    ({"doctor.clock_wrong": Level.FAIL}, found(now=T0 - timedelta(days=366 * 40))),
    ({"doctor.port_taken": Level.FAIL}, found(Host(free=False))),
    ({"doctor.inventory_absent": Level.WARN}, found(text=None)),
    ({"doctor.inventory_bad": Level.FAIL}, found(text="nodes: [{id: n1, cards: {type: H10}, lease: 1}]")),
]


@pytest.mark.parametrize(("expected", "findings"), CASES, ids=lambda one: next(iter(one)))
def test_what_is_wrong_is_found(expected: dict[str, Level], findings: dict[str, Finding]) -> None:
    assert {code: findings[code].level for code in expected} == expected
    assert worst(tuple(findings.values())) is max(
        (f.level for f in findings.values()), key=[Level.OK, Level.WARN, Level.FAIL].index
    )


def test_faults_of_the_inventory_come_along() -> None:
    bad = found(text="nodes: [{id: n1, cards: {type: H10}, lease: 1}]")["doctor.inventory_bad"]
    assert bad.facts["problems"] == len(bad.problems) == 2


def test_fewer_cards_than_declared_names_the_machine() -> None:
    finding = found(None, replace(WELL, readings=(card(0),)))["doctor.cards_unseen"]
    assert finding.facts == {"node": "n1", "declared": 2, "seen": 1}


def test_every_finding_can_come_out_and_has_words() -> None:
    """The codes of the source, of the cases above and of both languages are the same set."""
    source = set(re.findall(r'"(doctor\.[a-z_]+)"', Path(module.__file__).read_text()))
    come_out = set(found()) | {code for expected, _ in CASES for code in expected}
    assert come_out == source
    told = {finding.code: finding for _, findings in CASES for finding in findings.values()} | found()
    for lang in Lang:
        speaker = Speaker(lang, UTC)
        for code, finding in told.items():
            message, hint = speaker.say(code, dict(finding.facts))
            assert message
            assert hint
