"""The table that `npu-smi info` prints.

Built from public documents and logs of npu-smi 21 to 24 on 910, 910B and 310P hosts; never tried on the device.
Two lines tell of one chip: the first with name, health, power and temperature, the second with the
bus address, load and memory. The tool prints no UUID, so a card goes by its host and bus address.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from paika.domain.card import CardProcess, CardReading, Health, Vendor
from paika.ports.meter import Look

_FIRST = re.compile(r"(\d+)\s+([A-Za-z0-9][\w.-]*)")
_SECOND = re.compile(r"(\d+)(?:\s+\d+)?")
_BUS = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_OF = re.compile(r"(\d+)\s*/\s*(\d+)")
_PROCESS = re.compile(r"(\d+)\s+(\d+)")
_WHOLE = re.compile(r"\d+")
_HEALTH = {
    "ok": Health.OK,
    "warning": Health.OK,
    "alarm": Health.NEEDS_RESET,
    "critical": Health.NEEDS_RESET,
    "offline": Health.LOST,
    "unknown": Health.UNKNOWN,
}


def read_table(text: str, node: str, now: datetime) -> Look:
    """A look at the chips of one host; each is one card."""
    rows = list(_rows(text))
    if not rows:
        return Look(node, Vendor.ASCEND, now, failed=" ".join(text.split())[:300] or "no output")
    busy, listed = _processes(rows)
    readings: list[CardReading] = []
    oddities: list[str] = []
    first: tuple[str, list[str]] | None = None
    for cells in rows:
        if len(cells) == 3 and _BUS.fullmatch(cells[1]) and first is not None:
            npu, head = first
            readings.append(_reading(node, now, len(readings), npu, head, cells, busy, listed))
            oddities += _odd_health(head)
            first = None
        elif len(cells) == 3 and (found := _FIRST.fullmatch(cells[0])):
            first = (found[1], cells)
    if not readings:
        return Look(node, Vendor.ASCEND, now, failed="no card could be read")
    return Look(node, Vendor.ASCEND, now, tuple(readings), oddities=tuple(oddities))


def _rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.strip().startswith("|"):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def _processes(rows: list[list[str]]) -> tuple[dict[tuple[str, str], list[CardProcess]], bool]:
    """Processes by (npu, chip), and whether the table has that part at all."""
    busy: dict[tuple[str, str], list[CardProcess]] = defaultdict(list)
    listed = any(len(cells) == 4 and "process id" in cells[1].lower() for cells in rows)
    for cells in rows:
        place = _PROCESS.fullmatch(cells[0]) if len(cells) == 4 else None
        if place and _WHOLE.fullmatch(cells[1]):
            process = CardProcess(int(cells[1]), _whole(cells[3]), None, cells[2] or None)
            busy[place[1], place[2]].append(process)
    return busy, listed


def _reading(
    node: str,
    now: datetime,
    index: int,
    npu: str,
    head: list[str],
    tail: list[str],
    busy: dict[tuple[str, str], list[CardProcess]],
    listed: bool,
) -> CardReading:
    chip = _SECOND.match(tail[0])
    health = _HEALTH.get(head[1].lower(), Health.UNKNOWN)
    power, temperature = [*head[2].split(), "", ""][:2]
    used, total = _memory(tail[2])
    load = tail[2].split()[:1]
    lost = health is Health.LOST
    name = _FIRST.fullmatch(head[0])
    return CardReading(
        card=f"{node}-{tail[1].upper()}",
        read_at=now,
        health=health,
        health_cause="" if health is Health.OK else head[1].lower(),
        index=index,
        name=f"Ascend {name[2].removeprefix('Ascend')}" if name else None,
        vram_total_mib=total,
        vram_used_mib=None if lost else used,
        vram_free_mib=None if lost or total is None or used is None else total - used,
        busy_percent=None if lost else _whole(load[0] if load else ""),
        temperature_c=_whole(temperature),
        power_w=_number(power),
        processes=tuple(busy[npu, chip[1] if chip else "0"]) if listed else None,
    )


def _memory(cell: str) -> tuple[int | None, int | None]:
    """Used and total MiB: HBM stands last; a part of size 0 is one that the chip does not have."""
    pairs = [(int(used), int(total)) for used, total in _OF.findall(cell) if int(total) > 0]
    return pairs[-1] if pairs else (None, None)


def _odd_health(head: list[str]) -> list[str]:
    word = head[1].lower()
    return [] if word == "ok" else [f"NPU {head[0].split()[0]}: {head[1]}"]


def _whole(text: str) -> int | None:
    return int(text) if _WHOLE.fullmatch(text.strip()) else None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None
