"""SWF: 18 numbers a line, −1 for what is not known, header comments behind semicolons.

Two fields of one kind are read as they are meant: processors are those allocated, else those asked for; lines of
status 2, 3 and 4 are pieces of one job. A start time that the header does not know is not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import isfinite

from paika.domain.trace import Flaw, FlawKind, Job, Segment, Trace, UnreadableTrace, free_id
from paika.domain.units import EPOCH

FIELDS = (
    *("number", "submit", "wait", "run", "allocated", "cpu", "memory", "asked", "limit"),
    *("asked_memory", "status", "user", "group", "program", "queue", "partition", "parent", "think"),
)
PIECES = frozenset({2, 3, 4})
CANCELLED = 5
LARGEST = 1e12
LATEST_START_S = 4_102_444_800  # 2100-01-01: a header beyond it holds something else


@dataclass(frozen=True, slots=True)
class Line:
    """One line's numbers by field, None where it says −1."""

    at: int
    values: dict[str, float | None]

    def whole(self, field: str) -> int | None:
        """A field that counts or names something."""
        value = self.values[field]
        return None if value is None else int(value)

    @property
    def number(self) -> str:
        """The job's number as text."""
        return str(self.whole("number"))


class SwfTraceReader:
    """Reads SWF 2.2. With `absolute` submit times are taken as seconds since 1970 where no start is known."""

    def __init__(self, *, absolute: bool = False) -> None:
        self._absolute = absolute

    def read(self, data: bytes, name: str) -> Trace:
        """The trace. Raises UnreadableTrace when no line at all is one of 18 numbers."""
        header: dict[str, str] = {}
        flaws: list[Flaw] = []
        lines: list[Line] = []
        for at, text in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
            if text.lstrip().startswith(";"):
                key, _, value = text.lstrip(" ;").partition(":")
                header.setdefault(key.strip(), value.strip())
            elif text.strip():
                read = _line(at, text.split())
                (lines if isinstance(read, Line) else flaws).append(read)  # type: ignore[arg-type]
        if not lines:
            raise UnreadableTrace(None, name, "empty")
        jobs = _jobs(lines, flaws)
        return Trace(
            name,
            tuple(sorted(jobs, key=lambda job: job.submit_s)),
            tuple(sorted(flaws, key=lambda flaw: flaw.line)),
            self._origin(header),
            _count(header, "MaxProcs"),
            _count(header, "MaxNodes"),
        )

    def _origin(self, header: dict[str, str]) -> datetime | None:
        start = _count(header, "UnixStartTime")
        if start is not None and start <= LATEST_START_S:
            return EPOCH + timedelta(seconds=start)
        return EPOCH if self._absolute else None


def _count(header: dict[str, str], key: str) -> int | None:
    """A whole number above 0 of the header; None for anything else."""
    text = header.get(key, "").split(" ")[0]
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None


def _line(at: int, words: list[str]) -> Line | Flaw:
    """The numbers of a line, or what is wrong with it."""
    if len(words) != len(FIELDS):
        return Flaw(at, FlawKind.FIELDS, words[0][:80], detail=f"{len(words)} != {len(FIELDS)}")
    values: dict[str, float | None] = {}
    for field, word in zip(FIELDS, words, strict=True):
        value = _number(word)
        if value is None or not _meant(field, value):
            return Flaw(at, FlawKind.VALUE, words[0][:80], field, word[:80])
        values[field] = None if value == -1 else value
    return Line(at, values)


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if isfinite(value) and abs(value) <= LARGEST else None


def _meant(field: str, value: float) -> bool:
    """Whether the field can hold the value. A negative wait is a fault of the clock, judged later."""
    if field == "wait":
        return True
    if field in ("number", "submit"):
        return value >= 0 and (field != "number" or value == int(value))
    if field in ("allocated", "asked") and value != int(value):
        return False
    return value >= 0 or value == -1


def _jobs(lines: list[Line], flaws: list[Flaw]) -> list[Job]:
    """One job for each number, or for each line of a number that is there more than once; remarks go to `flaws`."""
    pieces: dict[str, list[Line]] = {}
    whole: set[str] = set()
    for line in lines:
        if line.whole("status") in PIECES:
            pieces.setdefault(line.number, []).append(line)
        else:
            whole.add(line.number)
    jobs: list[Job] = []
    taken: set[str] = set()
    above: float = 0
    for line in lines:
        submit = line.values["submit"] or 0
        if submit < above:
            flaws.append(Flaw(line.at, FlawKind.UNSORTED, line.number))
        above = submit
        if line.whole("status") in PIECES:
            if line.number in whole or line is not pieces[line.number][0]:
                continue  # told by the whole job's line, or by its first piece
            job = _joined(pieces[line.number])
        else:
            job = _job(line)
        if job.id in taken:
            flaws.append(Flaw(line.at, FlawKind.TWICE, job.id))
            job = replace(job, id=free_id(job.id, taken))
        taken.add(job.id)
        flaws += _remarks(job, line)
        jobs.append(job)
    return [_with_parent(job, taken, flaws) for job in jobs]


def _job(line: Line) -> Job:
    values = line.values
    wait = values["wait"]
    return Job(
        id=line.number,
        submit_s=values["submit"] or 0,
        duration_s=values["run"],
        cards=line.whole("allocated") or line.whole("asked"),
        team=_name("g", line.whole("group")),
        user=_name("u", line.whole("user")),
        limit_s=values["limit"],
        wait_s=wait if wait is None or wait >= 0 else None,
        after=_name("", line.whole("parent")),
        think_s=values["think"],
        started=not (line.whole("status") == CANCELLED and values["run"] is None),
        line=line.at,
    )


def _name(letter: str, number: int | None) -> str | None:
    return None if number is None else f"{letter}{number}"


def _joined(lines: list[Line]) -> Job:
    """Pieces of one job as one job: submitted with the first, as long as all together."""
    parts = [_job(line) for line in sorted(lines, key=lambda line: line.values["submit"] or 0)]
    lengths = [part.duration_s for part in parts if part.duration_s is not None]
    segments = tuple(Segment(part.submit_s, part.duration_s) for part in parts if part.duration_s is not None)
    known = len(lengths) == len(parts)
    limits = [part.limit_s for part in parts if part.limit_s is not None]
    total_limit = sum(limits) if len(limits) == len(parts) else None
    return replace(parts[0], duration_s=sum(lengths) if known else None, segments=segments, limit_s=total_limit)


def _remarks(job: Job, line: Line) -> Iterator[Flaw]:
    """What is odd about a job that is kept."""
    if not job.started:
        yield Flaw(line.at, FlawKind.NEVER_RAN, job.id)
        return
    wait = line.values["wait"]
    if wait is not None and wait < 0:
        yield Flaw(line.at, FlawKind.WAIT, job.id, "wait", f"{wait:g}")
    if job.duration_s is None:
        yield Flaw(line.at, FlawKind.NO_LENGTH, job.id)
    if not job.cards:
        yield Flaw(line.at, FlawKind.NO_CARDS, job.id)
    if job.limit_s is not None and job.duration_s is not None and job.duration_s > job.limit_s:
        yield Flaw(line.at, FlawKind.OVER_LIMIT, job.id, "limit", f"{job.duration_s:g} > {job.limit_s:g}")


def _with_parent(job: Job, known: set[str], flaws: list[Flaw]) -> Job:
    """The job; it follows nothing if its parent is not in the trace."""
    if job.after is None or (job.after in known and job.after != job.id):
        return job
    flaws.append(Flaw(job.line, FlawKind.PARENT, job.id, "parent", job.after))
    return replace(job, after=None, think_s=None)
