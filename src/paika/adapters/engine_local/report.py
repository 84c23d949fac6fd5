"""All parts of a run put together into one report; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from paika.adapters.engine_local import endings
from paika.adapters.engine_local.records import Facts
from paika.domain.run import EndCause
from paika.ports.engine import ReportState, RunReport


@dataclass(frozen=True, slots=True)
class PartSeen:
    """One part as its files show it; `started` and `ended` are its records."""

    started: Facts | None
    ended: Facts | None
    stopping: bool
    pids: frozenset[int]
    log_bytes: int
    log_dropped_bytes: int


def instant(epoch_s: float | None) -> datetime | None:
    """An aware UTC time."""
    return None if epoch_s is None else datetime.fromtimestamp(epoch_s, UTC)


def together(run: str, token: str, parts: Sequence[PartSeen], stopping: bool) -> RunReport:
    """The report of a run that was let go; `stopping` says that somebody or some part asked for its end."""
    starts = [part.started["at"] for part in parts if part.started is not None]
    going = RunReport(
        run,
        token,
        _state(parts, stopping),
        started_at=instant(min(starts, default=None)),
        pids=tuple(sorted(pid for part in parts for pid in part.pids)),
        log_bytes=sum(part.log_bytes for part in parts),
        log_dropped_bytes=sum(part.log_dropped_bytes for part in parts),
    )
    ends = [part.ended for part in parts if part.ended is not None]
    if len(ends) < len(parts):
        return going
    worst = _worst(ends)
    return replace(
        going,
        state=ReportState.ENDED,
        ended_at=instant(max((end["ended_at"] for end in ends if end["ended_at"] is not None), default=None)),
        cause=EndCause(worst["cause"]),
        exit_code=worst["exit_code"],
        signal=worst["signal"],
        detail=worst["detail"],
    )


def _state(parts: Sequence[PartSeen], stopping: bool) -> ReportState:
    if stopping or any(part.stopping and part.ended is None for part in parts):
        return ReportState.STOPPING
    if any(part.started is None and part.ended is None for part in parts):
        return ReportState.STARTING
    return ReportState.RUNNING


def _worst(ends: Sequence[Facts]) -> Facts:
    """The end that explains the run's: a failed start, else the first bad end, else the last good one."""
    bad = [end for end in ends if end["cause"] not in (endings.DONE, endings.SIBLING)]
    failed_start = [end for end in bad if end["cause"] == endings.START_FAILED]
    if bad:
        return min(failed_start or bad, key=lambda end: end["ended_at"] or 0.0)
    assert any(end["cause"] == endings.DONE for end in ends), "a part is stopped for another's bad end only"
    return max(ends, key=lambda end: end["ended_at"] or 0.0)
