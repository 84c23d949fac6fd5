"""Whether paika can do its work on this machine: findings, worst or best, with facts and no words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from paika.domain.card import CardReading, Health, Vendor
from paika.domain.inventory import Inventory
from paika.domain.problem import Problem, Several
from paika.ports.machine import Machine
from paika.ports.meter import Look, Meter

OLDEST_PYTHON = (3, 11)
LEAST_FREE_BYTES = 1 * 1024**3
FEW_FREE_BYTES = 10 * 1024**3
SANE_YEARS = range(2025, 2100)
OVER_THE_NETWORK = ("nfs", "cifs", "smb", "9p", "ceph", "gluster", "lustre", "beegfs", "gpfs", "afs", "fuse.sshfs")
LOST_ON_REBOOT = ("tmpfs", "ramfs")
_MISMATCH = ("version mismatch", "driver/library")
_NOT_INSTALLED = ("is not installed", "shared library not found", "not found")
_NO_CARDS = ("no devices were found",)


class Level(StrEnum):
    """OK works; WARN works with a limit that the finding names; FAIL does not work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. Words stand in the wording module `doctor` under the same code."""

    code: str
    level: Level
    facts: Mapping[str, object] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def examine_machine(
    machine: Machine,
    meters: Iterable[Meter],
    now: datetime,
    data_folder: str,
    port: int,
    inventory: Callable[[], Inventory | None],
) -> tuple[Finding, ...]:
    """All findings, in the order in which somebody would mend them.

    `inventory` reads the inventory file and raises its Problems, or gives None where there is no file.
    """
    looks = tuple(look for meter in meters for look in meter.look(now))
    declared, read = _inventory(inventory)
    return (
        python_finding(machine.python()),
        *folder_findings(machine, data_folder),
        *nvidia_findings([look for look in looks if look.vendor is Vendor.NVIDIA]),
        ascend_finding([look for look in looks if look.vendor is Vendor.ASCEND]),
        cgroup_finding(machine),
        boot_finding(machine.boot_id()),
        clock_finding(machine.clock_synced(), now),
        Finding("doctor.port_free", Level.OK, {"port": port})
        if machine.port_free(port)
        else Finding("doctor.port_taken", Level.FAIL, {"port": port}),
        read,
        *unseen_findings(declared, looks),
    )


def worst(findings: Sequence[Finding]) -> Level:
    """The level of the whole."""
    levels = {finding.level for finding in findings}
    return next((level for level in (Level.FAIL, Level.WARN) if level in levels), Level.OK)


def python_finding(version: tuple[int, int, int]) -> Finding:
    """Python is new enough."""
    facts = {"version": ".".join(map(str, version)), "oldest": ".".join(map(str, OLDEST_PYTHON))}
    if version[:2] >= OLDEST_PYTHON:
        return Finding("doctor.python", Level.OK, facts)
    return Finding("doctor.python_old", Level.FAIL, facts)


def folder_findings(machine: Machine, path: str) -> tuple[Finding, ...]:
    """The data folder can be written, lies on a disk of this host, and has room."""
    found = machine.folder(path)
    facts = {"path": path, "filesystem": found.filesystem}
    if not found.writable:
        return (Finding("doctor.folder_not_writable", Level.FAIL, facts),)
    kind = (found.filesystem or "").lower()
    if kind.startswith(OVER_THE_NETWORK):
        place = Finding("doctor.folder_network", Level.WARN, facts)
    elif kind in LOST_ON_REBOOT:
        place = Finding("doctor.folder_volatile", Level.WARN, facts)
    else:
        place = Finding("doctor.folder" if found.exists else "doctor.folder_new", Level.OK, facts)
    return (place, _room(path, found.free_bytes))


def _room(path: str, free_bytes: int | None) -> Finding:
    facts = {"path": path, "free_mib": None if free_bytes is None else free_bytes // 1024**2}
    if free_bytes is None:
        return Finding("doctor.disk_unknown", Level.WARN, facts)
    if free_bytes < LEAST_FREE_BYTES:
        return Finding("doctor.disk_full", Level.FAIL, facts)
    return Finding("doctor.disk", Level.OK if free_bytes >= FEW_FREE_BYTES else Level.WARN, facts)


def nvidia_findings(looks: Sequence[Look]) -> tuple[Finding, ...]:
    """The driver answers, and which cards it shows. A host without NVIDIA cards is no fault."""
    findings: list[Finding] = []
    for look in looks:
        said = (look.failed or "").lower()
        if look.failed is None:
            findings += _cards_finding(look)
        elif any(words in said for words in _MISMATCH):
            findings.append(Finding("doctor.nvidia_mismatch", Level.FAIL, {"cause": look.failed}))
        elif any(words in said for words in _NO_CARDS):
            findings.append(Finding("doctor.nvidia_no_cards", Level.WARN, {"cause": look.failed}))
        elif any(words in said for words in _NOT_INSTALLED):
            findings.append(Finding("doctor.nvidia_absent", Level.OK, {"cause": look.failed}))
        else:
            findings.append(Finding("doctor.nvidia_fails", Level.FAIL, {"cause": look.failed}))
    return tuple(findings) or (Finding("doctor.nvidia_absent", Level.OK, {"cause": ""}),)


def _cards_finding(look: Look) -> list[Finding]:
    """Cards by model, those that are not well, and those cut into slices."""
    names = sorted({reading.name or "?" for reading in look.readings})
    findings = [
        Finding("doctor.cards", Level.OK, {"node": look.node, "cards": len(look.readings), "models": tuple(names)})
    ]
    unwell = [reading for reading in look.readings if reading.health is not Health.OK]
    if unwell:
        findings.append(Finding("doctor.cards_unwell", Level.WARN, _named(look, unwell)))
    cut = [reading for reading in look.readings if reading.partitioned]
    if cut:
        findings.append(Finding("doctor.cards_cut", Level.WARN, _named(look, cut)))
    if look.oddities:
        findings.append(Finding("doctor.cards_odd", Level.WARN, {"node": look.node, "oddities": look.oddities[:5]}))
    return findings


def _named(look: Look, readings: Sequence[CardReading]) -> dict[str, object]:
    return {"node": look.node, "cards": len(readings), "ids": tuple(reading.card for reading in readings)}


def ascend_finding(looks: Sequence[Look]) -> Finding:
    """npu-smi, where it is installed."""
    if not looks:
        return Finding("doctor.ascend_absent", Level.OK)
    failed = next((look.failed for look in looks if look.failed is not None), None)
    if failed is not None:
        return Finding("doctor.ascend_fails", Level.FAIL, {"cause": failed})
    readings = [reading for look in looks for reading in look.readings]
    names = tuple(sorted({reading.name or "?" for reading in readings}))
    return Finding("doctor.cards", Level.OK, {"node": looks[0].node, "cards": len(readings), "models": names})


def cgroup_finding(machine: Machine) -> Finding:
    """Control groups, by which a run's memory is watched and its whole tree is ended."""
    found = machine.cgroup()
    if found.unified and found.writable and "memory" in found.controllers:
        return Finding("doctor.cgroup", Level.OK, {"controllers": found.controllers})
    return Finding("doctor.cgroup_missing", Level.WARN, {"unified": found.unified, "writable": found.writable})


def boot_finding(boot_id: str | None) -> Finding:
    """The boot id, by which a run is recognised after a restart."""
    if boot_id is None:
        return Finding("doctor.boot_id_missing", Level.FAIL)
    return Finding("doctor.boot_id", Level.OK, {"boot_id": boot_id})


def clock_finding(synced: bool | None, now: datetime) -> Finding:
    """The clock is sane, and kept in step where that can be told."""
    if now.year not in SANE_YEARS:
        return Finding("doctor.clock_wrong", Level.FAIL, {"now": now})
    if synced is None:
        return Finding("doctor.clock_unknown", Level.OK, {"now": now})
    return (
        Finding("doctor.clock", Level.OK, {"now": now})
        if synced
        else Finding("doctor.clock_free", Level.WARN, {"now": now})
    )


def _inventory(read: Callable[[], Inventory | None]) -> tuple[Inventory | None, Finding]:
    try:
        found = read()
    except Several as several:
        facts: dict[str, object] = {"problems": len(several.problems)}
        return None, Finding("doctor.inventory_bad", Level.FAIL, facts, several.problems)
    except Problem as problem:
        return None, Finding("doctor.inventory_bad", Level.FAIL, {"problems": 1}, (problem,))
    if found is None:
        return None, Finding("doctor.inventory_absent", Level.WARN)
    return found, Finding("doctor.inventory", Level.OK, {"nodes": len(found.nodes), "cards": len(found.cards)})


def unseen_findings(declared: Inventory | None, looks: Sequence[Look]) -> tuple[Finding, ...]:
    """Machines of ours on which fewer cards answer than the inventory declares."""
    if declared is None:
        return ()
    seen: dict[str, int] = {}
    for look in looks:
        seen[look.node] = seen.get(look.node, 0) + len(look.readings)
    findings = []
    for node in declared.nodes:
        wanted = sum(card.node == node.id for card in declared.cards)
        if node.engine == "local" and not node.virtual and seen.get(node.id, 0) < wanted:
            facts = {"node": node.id, "declared": wanted, "seen": seen.get(node.id, 0)}
            findings.append(Finding("doctor.cards_unseen", Level.WARN, facts))
    return tuple(findings)
