"""Pods: name, num_gpu, creation_time and deletion_time are needed; gpu_milli and gpu_spec are read if they stand.

Machines: sn, gpu, model, or node_id, gpus, gpu_type. Orders: pos and a column of pod numbers for each seed. Pods
without a card are kept and named, as they are no work for cards. A quality of service is no tier of ours.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import replace

from paika.domain.card import CardType, Vendor
from paika.domain.catalogue import CATALOGUE
from paika.domain.trace import Flaw, FlawKind, Job, Trace, UnreadableTrace, free_id

PODS = ("name", "num_gpu", "creation_time", "deletion_time")
MACHINES = (("sn", "gpu", "model"), ("node_id", "gpus", "gpu_type"))
KNOWN = {"V100M16": "V100-16G", "V100M32": "V100-32G", "P100": "P100", "T4": "T4", "A10": "A10"}
WHOLE = 1000
LARGEST = 10**10
DIGITS = 4

Rows = list[tuple[int, dict[str, str]]]


class OpenbTraceReader:
    """Reads a list of pods. Second 0 is the trace's own."""

    def read(self, data: bytes, name: str) -> Trace:
        """The trace. Raises UnreadableTrace."""
        heads, rows, flaws = _rows(data, name)
        if missing := [column for column in PODS if column not in heads]:
            raise UnreadableTrace(None, name, "columns", ", ".join(missing))
        jobs: list[Job] = []
        taken: set[str] = set()
        for line, cells in rows:
            made = _pod(cells, line)
            if isinstance(made, Flaw):
                flaws.append(made)
                continue
            if made.id in taken:
                flaws.append(Flaw(line, FlawKind.TWICE, made.id))
                made = replace(made, id=free_id(made.id, taken))
            taken.add(made.id)
            jobs.append(made)
            if not made.cards:
                flaws.append(Flaw(line, FlawKind.NO_CARDS, made.id))
            elif made.milli is not None:
                flaws.append(Flaw(line, FlawKind.PART, made.id, "gpu_milli", str(made.milli)))
            if made.duration_s is None:
                flaws.append(Flaw(line, FlawKind.NO_LENGTH, made.id))
        return Trace(name, tuple(sorted(jobs, key=lambda job: job.submit_s)), tuple(flaws))


def _pod(cells: Mapping[str, str], line: int) -> Job | Flaw:
    """One pod, or what costs its line."""
    numbers: dict[str, int | None] = {}
    for column in ("num_gpu", "gpu_milli", "creation_time", "deletion_time"):
        text = cells.get(column, "")
        if text and not (text.isascii() and text.isdigit() and int(text) <= LARGEST):
            return Flaw(line, FlawKind.VALUE, cells["name"][:80], column, text[:80])
        numbers[column] = int(text) if text else None
    created, deleted = numbers["creation_time"], numbers["deletion_time"]
    for column, bad in (("name", not cells["name"]), ("creation_time", created is None)):
        if bad:
            return Flaw(line, FlawKind.VALUE, cells["name"][:80], column)
    assert created is not None
    milli = numbers["gpu_milli"]
    return Job(
        id=cells["name"],
        submit_s=created,
        duration_s=None if deleted is None or deleted <= created else deleted - created,
        cards=numbers["num_gpu"],
        types=tuple(part for part in cells.get("gpu_spec", "").split("|") if part),
        milli=milli if numbers["num_gpu"] == 1 and milli and milli < WHOLE else None,
        line=line,
    )


def read_machines(data: bytes, name: str) -> tuple[tuple[int, CardType], ...]:
    """Cards and card type of each machine that has cards. Raises UnreadableTrace, for one bad line too.

    A type keeps the trace's name. VRAM is the catalogue's; nobody tells what G2 and G3 have, which counts as none.
    """
    heads, rows, flaws = _rows(data, name)
    columns = next((names for names in MACHINES if set(names) <= set(heads)), None)
    if columns is None:
        raise UnreadableTrace(None, name, "columns", ", ".join(MACHINES[0]))
    _, count, model = columns
    bad = [flaw.line for flaw in flaws]
    bad += [line for line, cells in rows if not (cells[count].isascii() and cells[count].isdigit())]
    if bad:
        raise UnreadableTrace(None, name, "machines", str(bad[0]))
    return tuple((int(cells[count]), _type(cells[model])) for _, cells in rows if int(cells[count]))


def _type(model: str) -> CardType:
    known = next((kind for kind in CATALOGUE if kind.id == KNOWN.get(model)), None)
    if known is None:
        return CardType(model, model, Vendor.VIRTUAL, 0, None, WHOLE)
    return replace(known, id=model, aliases=())


def ordered(trace: Trace, data: bytes, name: str, column: str) -> Trace:
    """The pods as an order of arrival submits them, one a second; a pod that comes again is another one.

    An order names a pod by the last four digits of its id. Raises UnreadableTrace for a column or a pod not there.
    """
    heads, rows, _ = _rows(data, name)
    if column not in heads:
        raise UnreadableTrace(None, name, "columns", column)
    by_number = {job.id[-DIGITS:].lstrip("0") or "0": job for job in trace.jobs}
    numbers = [cells[column] for _, cells in rows if cells[column]]
    if unknown := [number for number in numbers if number not in by_number]:
        raise UnreadableTrace(None, name, "pods", ", ".join(unknown[:5]))
    return replace(trace, jobs=tuple(_named(by_number[number] for number in numbers)))


def _named(jobs: Iterable[Job]) -> Iterable[Job]:
    taken: set[str] = set()
    for second, job in enumerate(jobs):
        new = job.id if job.id not in taken else free_id(job.id, taken)
        taken.add(new)
        yield replace(job, id=new, submit_s=second)


def _rows(data: bytes, name: str) -> tuple[list[str], Rows, list[Flaw]]:
    """Column names, rows with their lines, and rows of another length. Raises UnreadableTrace."""
    try:
        rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        heads = [cell.strip() for cell in next(rows, [])]
        found: Rows = []
        flaws: list[Flaw] = []
        for row in rows:
            if len(row) == len(heads):
                found.append((rows.line_num, dict(zip(heads, (cell.strip() for cell in row), strict=True))))
            elif row:
                flaws.append(Flaw(rows.line_num, FlawKind.FIELDS, row[0][:80], detail=f"{len(row)} != {len(heads)}"))
    except UnicodeDecodeError:
        raise UnreadableTrace(None, name, "encoding") from None
    except csv.Error as fault:
        raise UnreadableTrace(None, name, "quotes", str(fault)) from None
    return heads, found, flaws
