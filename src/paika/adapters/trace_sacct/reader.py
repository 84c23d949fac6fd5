"""`sacct --parsable2` (or --parsable): columns by their header, fields joined with a bar, empty and Unknown not known.

Needed: JobID, Submit, Start, End, and AllocTRES or ReqTRES. Known beside them: User, Account (the team), TimelimitRaw
(minutes) or Timelimit ([days-]hh:mm:ss), State, NNodes. Steps (12.batch, 12.0) are parts of their job and say nothing
new. Cards are what `gres/gpu=` counts; typed counts (`gres/gpu:a100=`) name the type and count only where no plain
one stands. Times are read in the zone given, as sacct prints no zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo

from paika.domain.trace import Flaw, FlawKind, Job, Trace, UnreadableTrace, free_id

NEEDED = ("JobID", "Submit", "Start", "End")
UNKNOWN = frozenset({"", "unknown", "none", "n/a", "invalid"})
ENDLESS = frozenset({"unlimited", "infinite", "partition_limit"})
_LIMIT = re.compile(r"(?:(\d{1,5})-)?(?:(\d{1,4}):)?(\d{1,6}):(\d{1,2})(?:\.\d+)?")
_GPUS = re.compile(r"gres/gpu(?::([^=,:]+))?=(\d{1,7})")
MOST_MINUTES = 100 * 366 * 1440
SECONDS = (86_400, 3600, 60, 1)


class BadField(ValueError):
    """A field that cannot be read."""

    def __init__(self, column: str, value: str) -> None:
        super().__init__(column, value)
        self.column, self.value = column, value


class SacctTraceReader:
    """Reads exports of sacct; second 0 of the trace is the first submit."""

    def __init__(self, zone: tzinfo = UTC) -> None:
        self._zone = zone

    def read(self, data: bytes, name: str) -> Trace:
        """The trace. Raises UnreadableTrace when the header lacks what is needed."""
        lines = data.decode("utf-8", "replace").splitlines()
        at, heads = next(((n, text) for n, text in enumerate(lines, start=1) if text.strip()), (0, ""))
        columns = _split(heads)
        missing = [column for column in NEEDED if column not in columns]
        if "AllocTRES" not in columns and "ReqTRES" not in columns:
            missing.append("AllocTRES")
        if missing:
            raise UnreadableTrace(None, name, "columns", ", ".join(missing))
        flaws: list[Flaw] = []
        jobs: list[Job] = []
        taken: set[str] = set()
        for line, text in enumerate(lines[at:], start=at + 1):
            if text.strip() and (job := self._line(line, _split(text), columns, flaws)) is not None:
                if job.id in taken:
                    flaws.append(Flaw(line, FlawKind.TWICE, job.id))
                    job = replace(job, id=free_id(job.id, taken))
                taken.add(job.id)
                flaws += _remarks(job, jobs)
                jobs.append(job)
        return _from_first(name, jobs, flaws)

    def _line(self, line: int, fields: list[str], columns: list[str], flaws: list[Flaw]) -> Job | None:
        """The job of a line; None for a step, or for a line that is lost, which `flaws` then name."""
        cells = dict(zip(columns, fields, strict=False))
        job = cells.get("JobID", "")
        if len(fields) != len(columns):
            flaws.append(Flaw(line, FlawKind.FIELDS, job[:80], detail=f"{len(fields)} != {len(columns)}"))
            return None
        if "." in job:
            return None
        try:
            return self._job(cells, line)
        except BadField as bad:
            flaws.append(Flaw(line, FlawKind.VALUE, job[:80], bad.column, bad.value[:80]))
            return None

    def _job(self, cells: Mapping[str, str], line: int) -> Job:
        if not cells["JobID"]:
            raise BadField("JobID", "")
        submit, start, end = (self._time(cells, column) for column in ("Submit", "Start", "End"))
        if submit is None:
            raise BadField("Submit", cells["Submit"])
        if start is not None and end is not None and end < start:
            raise BadField("End", cells["End"])
        cards, types = _cards(cells)
        nodes = cells.get("NNodes", "")
        if nodes and not (nodes.isascii() and nodes.isdigit()):
            raise BadField("NNodes", nodes)
        return Job(
            id=cells["JobID"],
            submit_s=submit,
            duration_s=None if start is None or end is None else end - start,
            cards=cards,
            nodes=int(nodes or 0) or None,
            types=types,
            team=cells.get("Account") or None,
            user=cells.get("User") or None,
            limit_s=_limit(cells),
            wait_s=None if start is None or start < submit else start - submit,
            started=start is not None or not cells.get("State", "").startswith("CANCELLED"),
            line=line,
        )

    def _time(self, cells: Mapping[str, str], column: str) -> float | None:
        """Seconds since 1970; None if unknown. Raises BadField."""
        text = cells[column].strip()
        if text.lower() in UNKNOWN:
            return None
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            raise BadField(column, text) from None
        return (at if at.tzinfo else at.replace(tzinfo=self._zone)).timestamp()


def _split(text: str) -> list[str]:
    """Fields between bars; --parsable ends its lines with one more."""
    return [field.strip() for field in text.rstrip("\r\n").removesuffix("|").split("|")]


def _cards(cells: Mapping[str, str]) -> tuple[int | None, tuple[str, ...]]:
    """Cards of the job and the types named; None where nothing is said of resources at all."""
    said = next((cells[column] for column in ("AllocTRES", "ReqTRES") if cells.get(column)), "")
    if not said:
        return None, ()
    found = _GPUS.findall(said)
    plain = [int(count) for kind, count in found if not kind]
    typed = {kind: int(count) for kind, count in found if kind}
    return plain[0] if plain else sum(typed.values()), tuple(sorted(typed))


def _limit(cells: Mapping[str, str]) -> float | None:
    """The time limit in seconds; None for none or unknown. Raises BadField."""
    raw = cells.get("TimelimitRaw", "")
    if raw and raw.lower() not in UNKNOWN | ENDLESS:
        if not (raw.isascii() and raw.isdigit() and int(raw) <= MOST_MINUTES):
            raise BadField("TimelimitRaw", raw)
        return float(raw) * 60
    text = cells.get("Timelimit", "")
    if text.lower() in UNKNOWN | ENDLESS:
        return None
    found = _LIMIT.fullmatch(text)
    if found is None:
        raise BadField("Timelimit", text)
    return float(sum(int(part or 0) * each for part, each in zip(found.groups(), SECONDS, strict=True)))


def _remarks(job: Job, before: list[Job]) -> Iterator[Flaw]:
    """What is odd about a job that is kept."""
    if before and job.submit_s < before[-1].submit_s:
        yield Flaw(job.line, FlawKind.UNSORTED, job.id)
    if not job.started:
        yield Flaw(job.line, FlawKind.NEVER_RAN, job.id)
        return
    if job.duration_s is None:
        yield Flaw(job.line, FlawKind.NO_LENGTH, job.id)
    if not job.cards:
        yield Flaw(job.line, FlawKind.NO_CARDS, job.id)
    if job.limit_s is not None and job.duration_s is not None and job.duration_s > job.limit_s:
        yield Flaw(job.line, FlawKind.OVER_LIMIT, job.id, detail=f"{job.duration_s:g} > {job.limit_s:g}")


def _from_first(name: str, jobs: list[Job], flaws: list[Flaw]) -> Trace:
    if not jobs:
        raise UnreadableTrace(None, name, "empty")
    first = min(job.submit_s for job in jobs)
    moved = (replace(job, submit_s=job.submit_s - first) for job in jobs)
    origin = datetime.fromtimestamp(0, UTC) + timedelta(seconds=first)
    return Trace(name, tuple(sorted(moved, key=lambda job: job.submit_s)), tuple(flaws), origin)
