"""Tasks come in: one by its fields, or a file of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from paika.domain.problem import Kind, Problem
from paika.domain.task_form import FIELDS
from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, Param, arg, fields_as_options, form_of, opt, switch
from paika.interfaces.cli.exits import ExitCode
from paika.interfaces.cli.phrases import Phrases, Told
from paika.interfaces.cli.sheet import Column, Row, Sheet
from paika.interfaces.cli.tasks import waiting
from paika.interfaces.cli.what_if_view import show_others, show_subject
from paika.interfaces.client import Json, Refused, new_key

LOOK_S = 2.0  # how long a submit waits for the first word on its place
MANY = 20
OTHERS = 10  # listed of those who would slip


@dataclass(eq=False)
class CommandTwice(Problem):
    """The command stands in --command and behind '--' too."""

    code: ClassVar[str] = "cli.command_twice"
    kind: ClassVar[Kind] = Kind.INVALID


@dataclass(eq=False)
class FileAndFields(Problem):
    """A file of tasks and fields of one task at once."""

    code: ClassVar[str] = "cli.file_and_fields"
    kind: ClassVar[Kind] = Kind.INVALID
    fields: tuple[str, ...]


@dataclass(eq=False)
class FileUnreadable(Problem):
    """A file that was named cannot be read."""

    code: ClassVar[str] = "cli.file_unreadable"
    kind: ClassVar[Kind] = Kind.INVALID
    path: str
    cause: str


def submit(
    call: Call,
    *,
    words: list[str],
    file: Path | None,
    script_file: Path | None,
    key: str | None,
    dry_run: bool,
    look: str | None,
    **fields: Any,
) -> Answer:
    """Submit one task, or a file of them."""
    form = form_of(fields, FIELDS)
    if words:
        if "command" in form:
            raise CommandTwice(field="command")
        form["command"] = list(words)
    if script_file is not None:
        form["script"] = read_file(script_file).decode("utf-8", "surrogateescape")
    if file is not None:
        if form:
            raise FileAndFields(field=None, fields=tuple(form))
        return _submit_file(call, file, key or new_key(), dry_run)
    told = call.client.submission([form], key=key, dry_run=dry_run)
    if dry_run:
        told |= {"preview": _lands(call, form)}
        return Answer(told, lambda sheet: _would(call, sheet, told["tasks"], told["preview"]))
    seconds = 0.0 if call.json else LOOK_S if look is None else _seconds(look)
    return Answer(told, lambda sheet: _came_in(call, sheet, told["tasks"][0], seconds))


def _seconds(text: str) -> float:
    try:
        return max(0.0, min(600.0, float(text)))
    except ValueError:
        return LOOK_S


def _lands(call: Call, form: Json) -> Json | None:
    """Where the task would land and who would slip, planned for real; None while too many ask such things."""
    try:
        return call.client.preview({"kind": "new_task", "form": form}, limit=OTHERS)
    except Refused as refused:
        if refused.code != "preview.busy":
            raise
        call.err.line((f"{refused.message} {refused.hint}", "dim"))
        return None


def _would(call: Call, sheet: Sheet, tasks: list[Json], lands: Json | None = None) -> None:
    p = Phrases(call.tongue)
    for task in tasks[:MANY]:
        sheet.line(call.t("cli.would_submit", name=task["name"], need=p.need(task["demand"])))
    if len(tasks) > MANY:
        sheet.line((call.t("list.more", count=len(tasks) - MANY), "dim"))
    if lands is not None:
        phrases = Phrases(call.tongue, lands["at"])
        for subject in lands["subjects"]:
            show_subject(sheet, phrases, subject, lands["at"])
        show_others(sheet, phrases, lands)


def _came_in(call: Call, sheet: Sheet, task: Json, seconds: float) -> None:
    sheet.line((f"{task['id']}  ", "bold"), str(task["name"]), "  ", call.t("cli.submitted"))
    told = _first_word(call.client.why, task["id"], seconds)
    if told is not None:
        p = Phrases(call.tongue, told["at"])
        if told["state"] not in ("waiting", "held", "parked"):
            sheet.line(p.state(told["state"]))
        waiting(sheet, p, told)


def _first_word(why: Callable[[str], Json], task_id: str, seconds: float) -> Json | None:
    """What is said of the task once the planner has looked at it, or at the end of the time. Only a courtesy."""
    end = time.monotonic() + seconds
    while True:
        try:
            told = why(task_id)
        except Refused:
            return None
        if told["unseen_since"] is None or time.monotonic() >= end:
            return told
        time.sleep(0.1)


def read_file(path: Path) -> bytes:
    """All of a file, or of standard input for '-'. Raises FileUnreadable."""
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return path.read_bytes()
    except OSError as fault:
        raise FileUnreadable(field=None, path=str(path), cause=fault.strerror or str(fault)) from None


def _submit_file(call: Call, file: Path, key: str, dry_run: bool) -> Answer:
    """All tasks of a YAML, CSV or XLSX list, or none of them."""
    upload = ("tasks.yaml" if str(file) == "-" else file.name, read_file(file))
    told = uploaded(call, upload, dry_run=True, key=key)
    bad = bool(told["problems"])
    if not (bad or dry_run):
        told = uploaded(call, upload, dry_run=False, key=key)
    return report(call, told, code=ExitCode.REFUSED if bad else ExitCode.OK, strict=True)


def import_tasks(call: Call, *, file: Path, apply: bool, key: str | None) -> Answer:
    """Preview a list of tasks; with --apply its good rows become tasks."""
    upload = ("tasks.yaml" if str(file) == "-" else file.name, read_file(file))
    told = uploaded(call, upload, dry_run=not apply, key=key or new_key())
    return report(call, told, code=ExitCode.REFUSED if told["problems"] and not told["accepted"] else ExitCode.OK)


def uploaded(call: Call, upload: tuple[str, bytes], *, dry_run: bool, key: str) -> Json:
    """What the server says of a list, with a word on standard error while it works."""
    if call.err.terminal:
        size = f"{len(upload[1]) / 1024:,.0f} KiB"
        with call.err.console.status(call.t("cli.uploading", name=upload[0], size=size)):
            return call.client.import_file(upload, dry_run=dry_run, key=key)
    return call.client.import_file(upload, dry_run=dry_run, key=key)


def report(call: Call, told: Json, *, code: int, strict: bool = False) -> Answer:
    """What came in or would, and what is wrong row by row."""

    def view(sheet: Sheet) -> None:
        for name in ("problems", "notes"):
            if told[name]:
                sheet.line((call.t(f"import.{name}"), "bold red" if name == "problems" else "yellow"))
                sheet.table(_PLACES(call), [_placed(row) for row in told[name][:MANY]])
                if len(told[name]) > MANY:
                    sheet.line((call.t("cli.more_in_json", count=len(told[name]) - MANY), "dim"))
        if told["tasks"]:
            sheet.line((call.t("import.done", count=len(told["tasks"])), "green"))
            sheet.line(" ".join(told["tasks"][:MANY]) + (" …" if len(told["tasks"]) > MANY else ""))
            return
        counts = {"rows": told["rows"], "good": len(told["accepted"]), "bad": len(told["problems"])}
        sheet.line(call.t("cli.import.found", **counts))
        if strict and told["problems"]:
            sheet.line((call.t("cli.import.nothing"), "yellow"))
        elif told["dry_run"] and told["accepted"]:
            sheet.line((call.t("cli.import.dry" if strict else "cli.import.apply"), "dim"))

    return Answer(told, view, code)


def _PLACES(call: Call) -> tuple[Column, ...]:  # noqa: N802 - a constant in the call's language
    heads = ("import.line", "import.column", "import.problem")
    return tuple(Column(call.t(head), loose=n == 2, right=n == 0) for n, head in enumerate(heads))


def _placed(row: Told) -> Row:
    return Row((str(row["line"]), str(row["column"]), str(row["problem"]["message"])), str(row["problem"]["hint"]))


KEY = opt("key")
SUBMIT = (
    arg("words", many=True, required=False, about="cli.arg.words", metavar="[-- COMMAND…]"),
    *fields_as_options(FIELDS, "task"),
    opt("script_file", kind=Path, metavar="FILE"),
    opt("file", "-f", "--file", kind=Path, metavar="FILE"),
    switch("dry_run"),
    KEY,
    opt("look", metavar="SECONDS"),
)
FILE = Param("file", Path, positional=True, required=True, metavar="FILE", about="cli.arg.file")
COMMANDS = (
    Command("task submit", submit, SUBMIT),
    Command("task import", import_tasks, (FILE, switch("apply"), KEY)),
)
SHORTCUTS = (Command("submit", submit, SUBMIT),)
