"""Support cases: the snapshot of a server saved to a file, and a saved one planned anew on this machine."""

from __future__ import annotations

import gzip
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from paika.domain.problem import Kind, Problem
from paika.domain.reason import Reason
from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, Param, opt, switch
from paika.interfaces.cli.exits import ExitCode
from paika.interfaces.cli.phrases import DASH, Phrases
from paika.interfaces.cli.sheet import Column, Row, Sheet
from paika.interfaces.wording.say import say

if TYPE_CHECKING:
    from paika.domain.plan import Start, Wait
    from paika.services.replay_snapshot import Replayed

Told = dict[str, Any]


@dataclass(eq=False)
class FileThere(Problem):
    """The file to write is there already."""

    code: ClassVar[str] = "cli.file_there"
    kind: ClassVar[Kind] = Kind.REFUSED
    path: str


@dataclass(eq=False)
class FileUnwritable(Problem):
    """The file cannot be written."""

    code: ClassVar[str] = "cli.file_unwritable"
    kind: ClassVar[Kind] = Kind.SYSTEM
    path: str
    cause: str


def save(call: Call, *, file: Path, force: bool) -> Answer:
    """Write what the server's next plan would look at into a file that only this user can read."""
    if file.exists() and not force:
        raise FileThere(field="file", path=str(file))
    data = b"".join(call.client.snapshot())
    packed = gzip.compress(data) if file.suffix == ".gz" else data
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(packed)
    except OSError as fault:
        raise FileUnwritable(field="file", path=str(file), cause=fault.strerror or str(fault)) from None
    told = {"file": str(file), "bytes": len(packed)}
    return Answer(told, lambda sheet: sheet.line(call.t("cli.case.saved", path=str(file), size=len(packed))))


def replay(call: Call, *, file: Path, rows: int | None) -> Answer:
    """Plan a saved case anew: the faults found, or the plan when it is sound."""
    found = call.local.replay_snapshot(file)
    code = ExitCode.OK if found.sound else ExitCode.OTHER
    return Answer(told_of(call, found), lambda sheet: _show(call, sheet, found, call.most(rows)), code)


def told_of(call: Call, found: Replayed) -> Told:
    """For programs."""
    case, made = found.case, found.made
    told: Told = {
        "at": _at(case.at),
        "paika": case.paika,
        "tasks": len(case.snapshot.tasks),
        "runs": len(case.snapshot.runs),
        "cards": len(case.snapshot.cards),
        "policy_version": case.policy.version,
        "recorded": [asdict(fault) for fault in case.faults],
        "faults": [asdict(fault) for fault in found.faults],
        "sound": found.sound,
        "plan": None,
    }
    if found.sound:
        told["plan"] = {
            "starts": [_start(start) for start in made.starts],
            "stops": [stop.run for stop in made.stops],
            "waits": [_wait(call, wait) for wait in made.waits],
        }
    return told


def _start(start: Start) -> Told:
    parts = [{"node": part.node, "cards": list(part.cards)} for part in start.parts]
    return {"task": start.task, "rank": start.rank, "card_type": start.card_type, "parts": parts}


def _wait(call: Call, wait: Wait) -> Told:
    told = wait.forecast
    return {
        "task": wait.task,
        "rank": wait.rank,
        "start_by": _at(told.start_by) if told else None,
        "parked": wait.parked,
        "reasons": [{"code": reason.code, "message": _said(call, reason)} for reason in wait.reasons],
    }


def _at(at: Any) -> str:
    return str(at.isoformat().replace("+00:00", "Z"))


def _said(call: Call, reason: Reason) -> str:
    return str(say(reason, call.tongue.speaker)["message"])


def _show(call: Call, sheet: Sheet, found: Replayed, most: int) -> None:
    case, p = found.case, Phrases(call.tongue, _at(found.case.at))
    sheet.facts(
        (p.t("cli.case.at"), p.when(_at(case.at))),
        (p.t("cli.case.holds"), p.t("cli.case.counts", **_counts(found))),
        (p.t("cli.case.recorded"), "; ".join(f"{one.rule}: {one.subject}" for one in case.faults[:3])),
    )
    if not found.sound:
        sheet.line((p.t("cli.case.faults", count=len(found.faults)), "bold red"))
        heads = (Column(p.t("cli.case.rule"), loose=True), Column(p.t("cli.col.subject"), loose=True), Column(""))
        blocks = {True: (p.t("cli.case.blocks"), "red"), False: (p.t("cli.case.alarms"), "yellow")}
        sheet.table(heads, [Row((one.rule, one.subject, blocks[one.blocks])) for one in found.faults[:most]])
        _left(sheet, p, len(found.faults) - most)
        return
    sheet.line((p.t("cli.case.sound"), "green"))
    rows = [(start.rank, _starts(p, start)) for start in found.made.starts]
    rows += [(wait.rank, _waits(call, p, wait)) for wait in found.made.waits]
    heads = (Column(p.t("col.position"), right=True), Column(p.t("cli.col.id")), Column(p.t("col.start"), loose=True))
    sheet.table(heads, [row for _, row in sorted(rows, key=lambda pair: pair[0])[:most]])
    _left(sheet, p, len(rows) - most)


def _counts(found: Replayed) -> dict[str, int]:
    snapshot = found.case.snapshot
    return {"tasks": len(snapshot.tasks), "runs": len(snapshot.runs), "cards": len(snapshot.cards)}


def _starts(p: Phrases, start: Start) -> Row:
    nodes = p.listed([part.node for part in start.parts])
    on = f"{len(start.cards)} × {start.card_type} @ {nodes}"
    return Row((str(start.rank), start.task, (f"{p.t('unblocking.now')} {on}", "green")))


def _waits(call: Call, p: Phrases, wait: Wait) -> Row:
    by = p.when(_at(wait.forecast.start_by)) if wait.forecast else DASH
    return Row((str(wait.rank), wait.task, by), _said(call, wait.reasons[0]) if wait.reasons else "")


def _left(sheet: Sheet, p: Phrases, count: int) -> None:
    if count > 0:
        sheet.line((p.t("list.more", count=count), "dim"))


FILE = Param("file", Path, positional=True, required=True, metavar="FILE", about="cli.arg.case")
TO = Param("file", Path, positional=True, required=True, metavar="FILE", about="cli.arg.case_to")
COMMANDS = (Command("plan save", save, (TO, switch("force", about="cli.opt.case_force"))),)
SHORTCUTS = (Command("replay-snapshot", replay, (FILE, opt("rows", kind=int, about="cli.opt.limit")), group="machine"),)
