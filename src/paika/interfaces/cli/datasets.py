"""Datasets, and readiness: what is ready, what waits for data, who owes it."""

from __future__ import annotations

from typing import Any

from paika.domain.dataset_form import DATASET_FIELDS, MARK_FORM
from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, arg, fields_as_options, form_of, opt
from paika.interfaces.cli.listing import LISTED, most_of, settled, show_list
from paika.interfaces.cli.phrases import Phrases, Told
from paika.interfaces.cli.sheet import Column, Part, Row, Sheet

IF_VERSION = opt("if_version", metavar="N")


def ls(call: Call, *, readiness: list[str], text: str | None, limit: int | None, everything: bool) -> Answer:
    """Datasets, those that block the most cards first."""
    told = call.client.get("datasets", readiness=readiness, text=text)
    told = settled(told, told["rows"], most_of(call, limit, everything))
    return show_list(call, told, _ROWS, dataset_row, empty="cli.none.datasets")


_ROWS = (
    "cli.col.id",
    Column("readiness.dataset", loose=True),
    "cli.col.state",
    Column("cli.col.percent", right=True),
    "mark.eta",
    Column("readiness.owes", loose=True),
    Column("cli.col.waiting", loose=True),
)


def dataset_row(p: Phrases, row: Told) -> Row:
    """One dataset."""
    eta = p.when(row["eta"]) if row["eta"] else ""
    waits = p.t("readiness.tasks_cards", tasks=len(row["waiting"]), cards=row["waiting_cards"])
    cells: tuple[Part, ...] = (
        str(row["id"]),
        str(row["name"]),
        p.state(row["readiness"], "readiness"),
        p.percent(row["percent"]),
        (eta, "red") if row["overdue"] else eta,
        p.t("readiness.nobody") if row["owes"] is None else p.person(row["owes"]),
        waits if row["waiting"] else "",
    )
    return Row(cells, str(row["detail"]).replace("\n", " "))


def show(call: Call, *, dataset: str) -> Answer:
    """All of a dataset, and who waits for it."""
    told = call.client.get("datasets", dataset)
    return Answer(told, lambda sheet: _show(sheet, Phrases(call.tongue), told))


def _show(sheet: Sheet, p: Phrases, told: Told) -> None:
    row, probe = told["row"], told["dataset"]["probe"]
    sheet.line((f"{row['id']}  ", "bold"), (row["name"], "bold"), "  ", p.state(row["readiness"], "readiness"))
    checked = p.t("readiness.by_hand")
    if probe is not None:
        checked = f"{p.t('probe.' + probe['kind'])} {probe['target'] or ' '.join(probe['argv'])}"
    sheet.facts(
        (p.t("cli.col.percent"), p.percent(row["percent"])),
        (p.t("mark.eta"), p.when(row["eta"]) if row["eta"] else ""),
        (p.t("readiness.owes"), p.t("readiness.nobody") if row["owes"] is None else p.both(row["owes"])),
        (p.t("readiness.checked"), checked),
        (p.t("mark.detail"), str(row["detail"]).replace("\n", " ")),
        (p.t("cli.col.changed"), p.when(row["changed_at"]) if row["changed_at"] else ""),
        (p.t("cli.version"), str(row["version"])),
    )
    if row["waiting"]:
        heads = ("cli.col.id", "col.task", "col.owner", "col.team", "cli.col.cards")
        cells = [
            (n["id"], n["name"], p.person(n["owner"]), p.person(n["team"]), str(n["cards"])) for n in row["waiting"]
        ]
        sheet.table([Column(p.t(head), loose=n in (1, 2, 3), right=n == 4) for n, head in enumerate(heads)], cells)


def create(call: Call, **fields: Any) -> Answer:
    """A new dataset."""
    return _done(call, call.client.send("POST", "datasets", body=form_of(fields, DATASET_FIELDS)))


def mark(call: Call, *, dataset: str, if_version: str | None, **fields: Any) -> Answer:
    """Say how ready a dataset is."""
    body = form_of(fields, MARK_FORM.fields)
    return _done(call, call.client.send("PATCH", "datasets", dataset, body=body, if_version=if_version))


def _done(call: Call, told: Told) -> Answer:
    def view(sheet: Sheet) -> None:
        p = Phrases(call.tongue)
        state = p.state(told["readiness"], "readiness")
        sheet.line((f"{told['id']}  ", "bold"), str(told["name"]), "  ", state, f"  {p.percent(told['percent'])}")

    return Answer(told, view)


def history(call: Call, *, dataset: str, limit: int | None) -> Answer:
    """The states of a dataset over time, newest first."""
    told = call.client.get("datasets", dataset, "history", limit=max(1, min(1000, call.most(limit))))
    told = {**told, "left_out": 0}
    heads = ("ledger.at", "cli.col.state", Column("cli.col.percent", right=True), "mark.eta", "cli.col.by")
    return show_list(call, told, heads, _past)


def _past(p: Phrases, past: Told) -> Row:
    cells: tuple[Part, ...] = (
        p.when(past["changed_at"]),
        p.state(past["readiness"], "readiness"),
        p.percent(past["percent"]),
        p.when(past["eta"]) if past["eta"] else "",
        str(past["set_by"]),
    )
    return Row(cells, str(past["detail"]).replace("\n", " "))


def readiness(call: Call) -> Answer:
    """What can run, what waits for data, and who owes it."""
    told = call.client.get("readiness")
    return Answer(told, lambda sheet: _readiness(call, sheet, told))


def _readiness(call: Call, sheet: Sheet, told: Told) -> None:
    p = Phrases(call.tongue, told["at"])
    sheet.line((p.t("readiness.can_run", count=len(told["can_run"])), "green"))
    _named(call, sheet, told["can_run"])
    sheet.line((p.t("readiness.wait", count=len(told["wait_for_data"])), "yellow"))
    _named(call, sheet, told["wait_for_data"])
    unready = [row for row in told["datasets"] if row["readiness"] != "ready"]
    if unready:
        most = call.most(None)
        sheet.table(
            [Column(p.t(c)) if isinstance(c, str) else Column(p.t(c.head), c.loose, c.right) for c in _ROWS],
            [dataset_row(p, row) for row in unready[:most]],
        )
        if len(unready) > most:
            sheet.line((p.t("cli.left_out_in", count=len(unready) - most, command="paika dataset ls --all"), "yellow"))
    for debt in told["debts"]:
        owes = p.t("readiness.nobody") if debt["who"] is None else p.both(debt["who"])
        what = p.t("readiness.tasks_cards", tasks=len(debt["tasks"]), cards=debt["cards"])
        sheet.line((owes, "bold"), f"  {p.listed(debt['datasets'])}  {what}")


def _named(call: Call, sheet: Sheet, needs: list[Any], most: int = 8) -> None:
    if needs:
        said = "  ".join(f"{need['id']} {need['name']}" for need in needs[:most])
        more = call.t("list.more", count=len(needs) - most) if len(needs) > most else ""
        sheet.line(f"  {said}  {more}")


COMMANDS = (
    Command("dataset ls", ls, (opt("readiness", many=True, metavar="ready|…"), opt("text"), *LISTED)),
    Command("dataset show", show, (arg("dataset"),)),
    Command("dataset create", create, fields_as_options(DATASET_FIELDS, "dataset")),
    Command("dataset mark", mark, (arg("dataset"), *fields_as_options(MARK_FORM.fields, "dataset"), IF_VERSION)),
    Command("dataset history", history, (arg("dataset"), opt("limit", kind=int))),
)
SHORTCUTS = (Command("readiness", readiness),)
