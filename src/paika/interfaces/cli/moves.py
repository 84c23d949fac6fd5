"""A task moved in the order by an admin: first who slips, and by how long."""

from __future__ import annotations

from paika.domain.problem import FieldMissing
from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, Param, arg, opt, switch
from paika.interfaces.cli.phrases import DASH, Phrases, Told
from paika.interfaces.cli.sheet import Sheet
from paika.interfaces.cli.shifts import show_shifts, show_stops, start_at
from paika.interfaces.wording.say import signed


def move(
    call: Call,
    *,
    task: str,
    points: str,
    reason: str | None,
    dry_run: bool,
    limit: int | None,
    yes: bool,
    if_version: str | None,
) -> Answer:
    """Move a task; who starts later is shown and asked about first."""
    if dry_run:
        told = call.client.preview_move(task, points, limit=limit)
        return Answer(told, lambda sheet: _show(sheet, Phrases(call.tongue, told["at"]), told))
    if not (reason or "").strip():
        raise FieldMissing(field="reason")
    if not yes:
        told = call.client.preview_move(task, points, limit=limit)
        _show(call.err, Phrases(call.tongue, told["at"]), told)
        call.sure(call.t("cli.sure.move", task=told["moved"]["task"]["name"], points=signed(told["points"])), yes)
        if_version = if_version or str(told["version"])
    done = call.client.move(task, points, reason or "", if_version=if_version)

    def view(sheet: Sheet) -> None:
        sheet.line(
            (f"{done['id']}  ", "bold"), str(done["name"]), "  ", call.t("move.now", points=signed(done["boost"]))
        )

    return Answer(done, view)


def _show(sheet: Sheet, p: Phrases, told: Told) -> None:
    """The task itself, then everybody who starts later, then the runs that would be stopped."""
    moved = told["moved"]
    sheet.line((f"{moved['task']['id']}  ", "bold"), (str(moved["task"]["name"]), "bold"))
    places = [DASH if place is None else str(place) for place in (told["place_before"], told["place_after"])]
    points = f"{signed(told['points_before'])} → {signed(told['points'])}"
    starts = " → ".join(start_at(p, moved[side], told["at"]) for side in ("before", "after"))
    sheet.facts(
        (p.t("field.points"), points),
        (p.t("move.position"), " → ".join(places)),
        (p.t("col.start"), starts),
        (
            p.t("field.milestone"),
            (p.t("move.misses", at=p.when(moved["milestone_at"])), "red") if moved["misses"] else "",
        ),
    )
    if told["later"]:
        sheet.line((p.t("move.later", count=told["later_count"]), "yellow"))
        show_shifts(sheet, p, told["later"], told["later_count"], told["at"])
    else:
        sheet.line(p.t("move.nobody"))
    show_stops(sheet, p, told["stops"])
    if told["sooner_count"]:
        sheet.line((p.t("move.sooner", count=told["sooner_count"]), "dim"))


_PARAMS = (
    arg("task"),
    Param("points", required=True, metavar="N"),
    opt("reason", "--why", "--reason"),
    switch("dry_run", about="cli.opt.only_tell"),
    opt("limit", kind=int),
    switch("yes", "-y", "--yes"),
    opt("if_version", metavar="N"),
)
COMMANDS = (Command("task move", move, _PARAMS),)
SHORTCUTS = (Command("move", move, _PARAMS),)
