"""Tasks listed, looked at, and changed."""

from __future__ import annotations

from shlex import join
from typing import Any

from paika.domain.task_form import FIELDS
from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import (
    Answer,
    Command,
    Param,
    arg,
    fields_as_options,
    form_of,
    opt,
    switch,
)
from paika.interfaces.cli.listing import LISTED, fetch, most_of, show_list
from paika.interfaces.cli.phrases import DASH, Phrases, Told
from paika.interfaces.cli.sheet import Column, Part, Row, Sheet
from paika.interfaces.wording.say import RUN_DETAIL

ON_CARDS = frozenset({"starting", "running", "stopping"})
FILTERS = (
    opt("team"),
    opt("owner"),
    switch("mine"),
    opt("tier", many=True, metavar="core|normal|idle"),
    opt("state", many=True),
    opt("text"),
)
REASON = opt("reason")
YES = switch("yes", "-y", "--yes")
IF_VERSION = opt("if_version", metavar="N")
CLEAR = opt("clear", many=True, metavar="FIELD")
EDIT: tuple[Param, ...] = (arg("task"), *fields_as_options(FIELDS, "task"), CLEAR, REASON, IF_VERSION)


def ls(call: Call, *, running: bool, ended: bool, limit: int | None, everything: bool, **filters: Any) -> Answer:
    """The queue in its order, what runs, or what has ended."""
    listing = "running" if running else "ended" if ended else "queue"
    told = fetch(call, most_of(call, limit, everything), "tasks", listing=listing, **filters)
    if running:
        return show_list(call, told, _RUNNING, running_row, empty="cli.none.running")
    if ended:
        return show_list(call, told, _ENDED, ended_row, empty="cli.none.ended")

    def foot(sheet: Sheet, phrases: Phrases) -> None:
        counts = [f"{phrases.state(s)[0]} {n}" for s, n in told["by_state"].items() if n]
        planned = call.t("queue.planned", at=phrases.when(told["planned_at"])) if told["planned_at"] else ""
        sheet.line((" · ".join(part for part in (*counts, planned) if part), "dim"))

    return show_list(call, told, _QUEUE, queue_row, empty="cli.none.queue", foot=foot)


_QUEUE = (
    Column("col.position", right=True),
    "cli.col.id",
    Column("col.task", loose=True),
    Column("col.owner", loose=True),
    "cli.col.tier",
    Column("col.need", loose=True),
    Column("col.start", loose=True),
)
_RUNNING = (
    "cli.col.id",
    Column("col.task", loose=True),
    Column("col.owner", loose=True),
    "cli.col.state",
    Column("cli.col.on", loose=True),
    "cli.col.runs_for",
    "cli.col.until",
)
_ENDED = (
    "cli.col.id",
    Column("col.task", loose=True),
    Column("col.owner", loose=True),
    "cli.col.state",
    Column("col.need", loose=True),
    "cli.col.ended",
)


def queue_row(p: Phrases, row: Told) -> Row:
    """A waiting task, its first reason below."""
    tier = "" if row["tier"] == "normal" else p.t(f"tier.{row['tier']}")
    start: Part = p.start(row)
    if row["state"] != "waiting":
        start = p.state(row["state"])
    cells = (
        DASH if row["position"] is None else str(row["position"]),
        str(row["id"]),
        str(row["name"]),
        p.person(row["owner"]),
        tier,
        p.need(row["demand"]),
        start,
    )
    return Row(cells, p.reason(row))


def running_row(p: Phrases, row: Told) -> Row:
    """A task on cards."""
    on = f"{len(row['cards'])} × {row['card_type']}" if row["card_type"] else p.need(row["demand"])
    where = p.listed(row["nodes"]) if row["nodes"] else ""
    cells: tuple[Part, ...] = (
        str(row["id"]),
        str(row["name"]),
        p.person(row["owner"]),
        p.state(row["state"]),
        f"{on} @ {where}" if where else on,
        p.since(row["since"]),
        p.until(row["ending"]),
    )
    return Row(cells)


def ended_row(p: Phrases, row: Told) -> Row:
    """A task that is over."""
    state, at = p.state(row["state"]), p.when(row["state_since"])
    cells = (str(row["id"]), str(row["name"]), str(row["owner"]), state, p.need(row["demand"]), at)
    return Row(cells)


def show(call: Call, *, task: str) -> Answer:
    """All of a task."""
    told = call.client.task(task)
    return Answer(told, lambda sheet: _show(sheet, Phrases(call.tongue, told["at"]), told))


def _show(sheet: Sheet, p: Phrases, told: Told) -> None:
    task = told["task"]
    sheet.line((f"{task['id']}  ", "bold"), (task["name"], "bold"), "  ", p.state(task["state"]))
    program = task["program"]
    sheet.facts(
        (p.t("col.owner"), f"{p.both(told['owner'])} · {p.both(told['team'])}"),
        (p.t("cli.col.tier"), f"{p.t('tier.' + task['tier'])} · {p.t('field.priority')} {task['priority']}"),
        (p.t("task.asks"), p.need(task["demand"])),
        (p.t("task.lasts"), p.lasts(task["limit_s"], task["estimate"])),
        (p.t("task.program"), join(program["argv"]) or program["script"].replace("\n", "; ")),
        (p.t("field.workdir"), program["workdir"]),
        (p.t("task.submitted"), p.when(task["submitted_at"])),
        (p.t("col.ready"), p.listed([_dataset(p, d) for d in told["datasets"]]) if told["datasets"] else ""),
        (p.t("task.after"), p.listed([_link(p, link) for link in told["after"]]) if told["after"] else ""),
        (p.t("task.before"), p.listed([_link(p, link) for link in told["before"]]) if told["before"] else ""),
        (p.t("field.milestone"), f"{task['milestone']} {p.when(task['milestone_at'])}" if task["milestone_at"] else ""),
        (p.t("field.note"), task["note"].replace("\n", " ")),
        (p.t("field.preemptible"), p.t("word.yes") if task["preemptible"] else ""),
        (p.t("field.checkpoint"), p.t("preempted.saved") if task["checkpoint"] else ""),
        (p.t("preempted.fact"), _preempted(p, told["preempted"])),
        (p.t("terms.boost"), _boost(p, told)),
        (p.t("task.cost"), _cost(p, told["cost"])),
        (p.t("cli.version"), str(task["version"])),
    )
    waiting(sheet, p, {**told, "state": task["state"]})
    if told["runs"]:
        sheet.table([Column(p.t(key)) for key in _RUNS], [_run(p, run) for run in told["runs"]])


_RUNS = ("task.run", "cli.col.state", "cli.col.on", "task.started", "task.ended", "cli.col.card_hours")


def _run(p: Phrases, run: Told) -> Row:
    state: Part = p.state(run["state"], "api.state")
    if run["cause"] is not None:
        state = p.t(f"cause.{run['cause']}", code=run["exit_code"], signal=run["signal"])
    on = f"{p.parts(run['parts_held'])} × {run['card_type']} @ {p.listed([part['node'] for part in run['parts']])}"
    end = p.until(run["ending"]) if run["ended_at"] is None else p.when(run["ended_at"])
    cells = (str(run["id"]), state, on, p.when(run["started_at"]), end, p.hours(run["card_seconds"]))
    return Row(cells, _stop_for(p, run) or p.told(RUN_DETAIL, run["detail"]))


def _stop_for(p: Phrases, run: Told) -> str:
    """For whom a run gives its cards, and what becomes of its work; '' if for nobody."""
    if run["stop_for"] is None:
        return ""
    kept = p.t("preempted.saved" if run["checkpoint"] else "preempted.lost")
    return p.listed([p.t("preempted.for", task=p.both(run["stop_for"])), kept])


def _preempted(p: Phrases, times: list[str]) -> str:
    return p.t("preempted.times", count=len(times), at=p.when(times[-1])) if times else ""


def _boost(p: Phrases, told: Told) -> str:
    task, by = told["task"], told["boost_by"]
    if not task["boost"]:
        return ""
    points = f"{task['boost']:+d}"
    return f"{points} {p.t('boost.by', who=p.both(by), why=task['boost_why'])}" if by else points


def _dataset(p: Phrases, dataset: Told) -> str:
    return f"{dataset['name']} {p.t('readiness.' + dataset['readiness'])}"


def _link(p: Phrases, link: Told) -> str:
    return f"{p.both(link['task'])} {p.t('when.' + link['when'])}"


def _cost(p: Phrases, cost: Told) -> str:
    said = f"{p.hours(cost['spent_card_seconds'])} {p.t('unit.card_hours')}"
    lost = cost["lost_card_seconds"]
    return said + (f" ({p.t('cli.lost', hours=p.hours(lost))})" if lost else "")


def why(call: Call, *, task: str) -> Answer:
    """Why a task waits, and when it starts."""
    told = call.client.why(task)

    def view(sheet: Sheet) -> None:
        p = Phrases(call.tongue, told["at"])
        sheet.line((f"{told['task']}  ", "bold"), (told["name"], "bold"), "  ", p.state(told["state"]))
        waiting(sheet, p, told)
        if len(told["history"]) > 1:
            sheet.line((p.t("task.history"), "dim"))
            for record in told["history"][1:]:
                sheet.line(f"  {p.when(record['at'])}  ", p.reason(record), (_told_then(p, record), "dim"))

    return Answer(told, view)


def _told_then(p: Phrases, record: Told) -> str:
    """The start that was told with the reasons; '' if none was."""
    if record["promise"] is None:
        return ""
    fields = {"start_from": record["start_from"], "hit_permille": None, "holds": True, "rough": False}
    start = p.t("task.told", start=p.forecast(record["promise"] | fields))
    return "  " + " · ".join(part for part in (start, p.slip(record["slip"])) if part)


def waiting(sheet: Sheet, p: Phrases, told: Told) -> None:
    """Place, latest start and all reasons of a task that waits; nothing for others."""
    if told["closed_by"] is not None:
        sheet.line(("· ", "yellow"), str(told["closed_by"]["message"]))
    if told["state"] not in ("waiting", "held", "parked"):
        return
    place = p.t("task.position", place=told["position"]) if told["position"] is not None else ""
    sheet.line((p.t("col.start") + "  ", "dim"), p.start(told), f"  {place}")
    if told["forecast"] is not None and told["forecast"]["slip"] is not None:
        sheet.line(("  " + p.slip(told["forecast"]["slip"]), "yellow"))
    for reason in told["reasons"]:
        sheet.line(("· ", "yellow"), str(reason["message"]))
        if reason["hint"]:
            sheet.line(("    " + str(reason["hint"]), "dim"))


def cancel(call: Call, *, task: str, reason: str | None, yes: bool) -> Answer:
    """Cancel a task; who holds cards is shown and asked about first."""
    told = call.client.task(task)
    if told["task"]["state"] in ON_CARDS:
        if not yes:
            _hits(call, told)
        call.sure(call.t("cli.sure.cancel", task=told["task"]["name"]), yes)
    return _changed(call, call.client.cancel(task, reason or ""))


def _hits(call: Call, told: Told) -> None:
    p = Phrases(call.tongue, told["at"])
    run = told["runs"][-1] if told["runs"] else None
    call.err.line((call.t("ask.cancel.running"), "yellow"))
    call.err.facts(
        (p.t("col.owner"), f"{p.both(told['owner'])} · {p.both(told['team'])}"),
        (p.t("cli.col.on"), str(_run(p, run).cells[2]) if run else ""),
        (p.t("cli.col.runs_for"), p.since(run["started_at"]) if run else ""),
        (p.t("task.before"), p.listed([p.both(link["task"]) for link in told["before"]]) if told["before"] else ""),
    )


def hold(call: Call, *, task: str, reason: str | None) -> Answer:
    """Keep a waiting task from starting."""
    return _changed(call, call.client.hold(task, reason or ""))


def release(call: Call, *, task: str, reason: str | None) -> Answer:
    """Let a held task take part again."""
    return _changed(call, call.client.release(task, reason or ""))


def edit(
    call: Call, *, task: str, clear: list[str], reason: str | None, if_version: str | None, **fields: Any
) -> Answer:
    """Change fields of a task."""
    form = form_of(fields, FIELDS) | dict.fromkeys(clear)
    return _changed(call, call.client.edit(task, form, reason=reason or "", if_version=if_version))


def _changed(call: Call, task: Told) -> Answer:
    def view(sheet: Sheet) -> None:
        sheet.line((f"{task['id']}  ", "bold"), str(task["name"]), "  ", Phrases(call.tongue).state(task["state"]))

    return Answer(task, view)


LS = (switch("running", "-r", "--running"), switch("ended", "-e", "--ended"), *FILTERS, *LISTED)
COMMANDS = (
    Command("task ls", ls, LS),
    Command("task show", show, (arg("task"),)),
    Command("task why", why, (arg("task"),)),
    Command("task cancel", cancel, (arg("task"), REASON, YES)),
    Command("task hold", hold, (arg("task"), REASON)),
    Command("task release", release, (arg("task"), REASON)),
    Command("task edit", edit, EDIT),
)
SHORTCUTS = (Command("why", why, (arg("task"),)),)
