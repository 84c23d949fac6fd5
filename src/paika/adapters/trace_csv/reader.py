"""CSV: job_id, submit_time_s, duration_s and gpus are needed; the other columns may be missing or empty.

Known beside them: user, team, nodes or nodes_hint, gpu_type (names joined with a bar), gpu_milli, tier, limit_s,
estimate_s. What else stands there is left alone; a priority or a deadline of another system is no tier of ours.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite

from paika.domain.task import Tier
from paika.domain.trace import Flaw, FlawKind, Job, Trace, UnreadableTrace, free_id

NEEDED = ("job_id", "submit_time_s", "duration_s", "gpus")
LONGEST_S = 100 * 366 * 86_400
MOST_CARDS = 1_000_000
WHOLE = 1000


class BadCell(ValueError):
    """A cell that cannot be read."""

    def __init__(self, column: str, value: str) -> None:
        super().__init__(column, value)
        self.column, self.value = column, value


class CsvTraceReader:
    """Reads the neutral columns."""

    def read(self, data: bytes, name: str) -> Trace:
        """The trace. Raises UnreadableTrace."""
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UnreadableTrace(None, name, "encoding") from None
        rows = csv.reader(io.StringIO(text, newline=""))
        try:
            heads = [cell.strip() for cell in next(rows, [])]
            if missing := [column for column in NEEDED if column not in heads]:
                raise UnreadableTrace(None, name, "columns", ", ".join(missing))
            return _trace(name, heads, _lines(rows))
        except csv.Error as fault:
            raise UnreadableTrace(None, name, "quotes", str(fault)) from None


def _lines(rows: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the line on which it ends."""
    for row in rows:
        if any(cell.strip() for cell in row):
            yield rows.line_num, row  # type: ignore[attr-defined]


def _trace(name: str, heads: list[str], lines: Iterator[tuple[int, list[str]]]) -> Trace:
    jobs: list[Job] = []
    flaws: list[Flaw] = []
    taken: set[str] = set()
    for line, row in lines:
        cells = {head: cell.strip() for head, cell in zip(heads, row, strict=False)}
        if len(row) != len(heads):
            detail = f"{len(row)} != {len(heads)}"
            flaws.append(Flaw(line, FlawKind.FIELDS, cells.get("job_id", ""), detail=detail))
            continue
        try:
            job = _job(cells, line)
            remarks = list(_remarks(job, cells, jobs))
        except BadCell as bad:
            flaws.append(Flaw(line, FlawKind.VALUE, cells["job_id"], bad.column, bad.value[:80]))
            continue
        flaws += remarks
        if job.id in taken:
            flaws.append(Flaw(line, FlawKind.TWICE, job.id))
            job = replace(job, id=free_id(job.id, taken))
        taken.add(job.id)
        jobs.append(job)
    return Trace(name, tuple(sorted(jobs, key=lambda job: job.submit_s)), tuple(flaws))


def _job(cells: Mapping[str, str], line: int) -> Job:
    """One job. Raises BadCell."""
    if not cells["job_id"]:
        raise BadCell("job_id", "")
    submit = _number(cells, "submit_time_s")
    if submit is None:
        raise BadCell("submit_time_s", "")
    tier = cells.get("tier", "").lower()
    if tier and tier not in set(Tier):
        raise BadCell("tier", tier)
    return Job(
        id=cells["job_id"],
        submit_s=submit,
        duration_s=_number(cells, "duration_s"),
        cards=_whole(cells, "gpus", 0),
        nodes=_whole(cells, "nodes", 1) or _whole(cells, "nodes_hint", 1),
        types=tuple(part.strip() for part in cells.get("gpu_type", "").split("|") if part.strip()),
        team=cells.get("team") or None,
        user=cells.get("user") or None,
        tier=Tier(tier) if tier else None,
        limit_s=_number(cells, "limit_s"),
        estimate_s=_number(cells, "estimate_s"),
        milli=_part(cells),
        line=line,
    )


def _remarks(job: Job, cells: Mapping[str, str], before: list[Job]) -> Iterator[Flaw]:
    """What is odd about a job that is kept."""
    if before and job.submit_s < before[-1].submit_s:
        yield Flaw(job.line, FlawKind.UNSORTED, job.id)
    if job.duration_s is None:
        yield Flaw(job.line, FlawKind.NO_LENGTH, job.id)
    if not job.cards:
        yield Flaw(job.line, FlawKind.NO_CARDS, job.id)
    elif job.milli is not None:
        yield Flaw(job.line, FlawKind.PART, job.id, "gpu_milli", cells["gpu_milli"])
    if job.limit_s is not None and job.duration_s is not None and job.duration_s > job.limit_s:
        yield Flaw(job.line, FlawKind.OVER_LIMIT, job.id, detail=f"{job.duration_s:g} > {job.limit_s:g}")


def _part(cells: Mapping[str, str]) -> int | None:
    """Thousandths of a card; None for whole ones."""
    milli = _whole(cells, "gpu_milli", 0)
    return milli if milli and milli < WHOLE else None


def _number(cells: Mapping[str, str], column: str) -> float | None:
    """Seconds, None for an empty cell. Raises BadCell for what is no finite number from 0 on."""
    text = cells.get(column, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        raise BadCell(column, text) from None
    if not isfinite(value) or not 0 <= value <= LONGEST_S:
        raise BadCell(column, text)
    return value


def _whole(cells: Mapping[str, str], column: str, least: int) -> int | None:
    """A whole number from `least` on. Raises BadCell."""
    value = _number(cells, column)
    if value is None:
        return None
    if value != int(value) or not least <= value <= MOST_CARDS:
        raise BadCell(column, cells[column])
    return int(value)
