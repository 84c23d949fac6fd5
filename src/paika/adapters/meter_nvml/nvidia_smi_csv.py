"""`nvidia-smi --query-gpu=... --format=csv`, with or without header and units.

Columns are found by name. Cells are parted by a comma and a blank, as the tool writes them, so that a
decimal comma ("44,1 MiB") stays inside its cell. A row with too few cells has unknown figures; one with too
many is refused, because nobody can tell what moved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from paika.adapters.meter_nvml.figure import figure, health_said, says_nothing, whole
from paika.adapters.meter_nvml.whole_tool import failure
from paika.domain.card import CardReading, Health, Vendor
from paika.ports.meter import Look

COLUMNS = (
    "index",
    "uuid",
    "pci.bus_id",
    "name",
    "memory.total",
    "memory.reserved",
    "memory.used",
    "memory.free",
    "utilization.gpu",
    "temperature.gpu",
    "power.draw",
    "mig.mode.current",
)
_UNIT = re.compile(r"\s*\[[^\]]*\]\s*$")
_OLD_NAMES = {"gpu_uuid": "uuid", "gpu_name": "name", "gpu_bus_id": "pci.bus_id", "power.draw.instant": "power.draw"}
_TEXTS = frozenset({"index", "uuid", "pci.bus_id", "name", "mig.mode.current", "driver_version", "pstate", "timestamp"})


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one card by column name; `line` counts from 1. Cells that are not there are left out."""

    line: int
    cells: Mapping[str, str]

    def figure(self, column: str) -> float | None:
        """The number of a column; None when it is unknown."""
        return figure(self.cells.get(column))

    def text(self, column: str) -> str | None:
        """The words of a column; None when they are unknown."""
        cell = self.cells.get(column, "")
        return None if says_nothing(cell) or cell.startswith("[") else cell


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows that could be read, and what could not."""

    rows: tuple[Row, ...]
    oddities: tuple[str, ...]


def read_rows(text: str, columns: Sequence[str] | None = None) -> Rows:
    """Rows of the text. `columns` names them where the text has no header."""
    lines = [(n, line.strip()) for n, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1) if line.strip()]
    if columns is None and lines:
        columns, lines = _cells(lines[0][1]), lines[1:]
    names = [_column(name) for name in columns or ()]
    rows: list[Row] = []
    oddities: list[str] = []
    for number, line in lines:
        cells = _cells(line)
        if len(cells) > len(names):
            oddities.append(f"line {number}: {len(cells)} values for {len(names)} columns")
            continue
        row = Row(number, dict(zip(names, cells, strict=False)))
        oddities += _odd_values(row)
        rows.append(row)
    return Rows(tuple(rows), tuple(oddities))


def read_query(text: str, node: str, now: datetime, columns: Sequence[str] | None = None) -> Look:
    """A look at the cards of one host. Cards go by their UUID, or by host and index where it was not asked for."""
    cause = failure(text)
    if cause is not None:
        return Look(node, Vendor.NVIDIA, now, failed=cause)
    rows = read_rows(text, columns)
    readings = tuple(_reading(row, n, node, now) for n, row in enumerate(rows.rows))
    if not readings:
        return Look(node, Vendor.NVIDIA, now, failed="no card could be read", oddities=rows.oddities)
    return Look(node, Vendor.NVIDIA, now, readings, oddities=rows.oddities)


def _cells(line: str) -> list[str]:
    """Cells of a line; an empty one at the end has lost its blank."""
    return [cell.strip() for cell in f"{line} ".split(", " if ", " in line else ",")]


def _column(name: str) -> str:
    plain = _UNIT.sub("", name).strip().lower()
    return _OLD_NAMES.get(plain, plain)


def _odd_values(row: Row) -> list[str]:
    """Cells of number columns that are neither a number nor a way of saying nothing."""
    return [
        f"line {row.line}: {column}: {cell[:60]}"
        for column, cell in row.cells.items()
        if column not in _TEXTS and not cell.startswith("[") and not says_nothing(cell) and figure(cell) is None
    ]


def _reading(row: Row, position: int, node: str, now: datetime) -> CardReading:
    health, cause = health_said(list(row.cells.values()))
    index = whole(row.cells.get("index"))
    return CardReading(
        card=row.text("uuid") or f"{node}-{position if index is None else index}",
        read_at=now,
        health=health,
        health_cause=cause,
        index=index,
        name=row.text("name"),
        vram_total_mib=whole(row.cells.get("memory.total")) or None,
        vram_reserved_mib=whole(row.cells.get("memory.reserved")),
        vram_used_mib=None if health is Health.LOST else whole(row.cells.get("memory.used")),
        vram_free_mib=None if health is Health.LOST else whole(row.cells.get("memory.free")),
        busy_percent=whole(row.cells.get("utilization.gpu")),
        temperature_c=whole(row.cells.get("temperature.gpu")),
        power_w=row.figure("power.draw"),
        partitioned=(row.text("mig.mode.current") or "").lower() == "enabled",
    )
