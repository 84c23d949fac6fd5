"""`paika plan preview`: what would be if. Edits as options, the answer as the server planned it."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from paika.domain.problem import BadValue, Kind, Problem
from paika.domain.task_form import FIELDS
from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, Param, arg, fields_as_options, form_of, opt
from paika.interfaces.cli.phrases import Phrases
from paika.interfaces.cli.submit import CommandTwice, read_file
from paika.interfaces.cli.what_if_view import show_what_if

Edit = dict[str, Any]
_MORE = re.compile(r"([0-9]{1,6})\s*[xX*×]\s*([^=]+)")
_BY_NAME = ("lost_node", "lost_card", "node_back", "card_back")


@dataclass(eq=False)
class UnreadableEdits(Problem):
    """A file of edits or numbers that holds no JSON of the kind."""

    code: ClassVar[str] = "cli.unreadable_edits"
    kind: ClassVar[Kind] = Kind.INVALID
    path: str
    cause: str


def preview(call: Call, *, rows: int | None, **asked: Any) -> Answer:
    """What the edits would do, planned for real; nothing is written."""
    told = call.client.preview(*edits_of(asked), limit=rows)
    return Answer(told, lambda sheet: show_what_if(sheet, Phrases(call.tongue, told["at"]), told))


def edits_of(asked: dict[str, Any]) -> list[Edit]:
    """The edits that the options say, as every door writes them."""
    edits = [*_of_task(asked)]
    edits += [{"kind": "cancelled_task", "of": task} for task in asked["cancel"]]
    edits += [_of(text, "moved_task", "points", "TASK=POINTS") for text in asked["move"]]
    edits += [{"kind": kind, "of": name} for kind in _BY_NAME for name in asked[kind]]
    edits += [{"kind": "more_cards", "form": _more(text)} for text in asked["more_cards"]]
    edits += [_of(text, "quota", "max_cards", "TEAM=N") for text in asked["quota"]]
    edits += [{"kind": "ready_dataset", "of": name} for name in asked["ready"]]
    edits += [{"kind": "withdrawn_guarantee", "of": name} for name in asked["withdraw"]]
    edits += [_guarantee(text) for text in asked["guarantee"]]
    edits += [{"kind": "booking", "form": dict(_pairs(text, "book"))} for text in asked["book"]]
    numbers = policy_numbers(asked["policy"], asked["policy_file"])
    edits += [{"kind": "policy", "form": numbers}] if numbers else []
    return [*edits, *_in_file(asked["edits"])]


def _of_task(asked: dict[str, Any]) -> Iterator[Edit]:
    form: dict[str, Any] = form_of(asked, FIELDS)
    if asked["words"]:
        if "command" in form:
            raise CommandTwice(field="command")
        form["command"] = list(asked["words"])
    form |= dict.fromkeys(asked["clear"])
    if asked["change"]:
        yield {"kind": "changed_task", "of": asked["change"], "form": form}
    elif form:
        yield {"kind": "new_task", "form": form}


def _of(text: str, kind: str, field: str, allowed: str) -> Edit:
    """NAME=VALUE; an empty value is none."""
    name, equals, value = text.rpartition("=")
    if not equals or not name.strip():
        raise BadValue(field=kind, value=text[:80], allowed=allowed)
    return {"kind": kind, "of": name.strip(), "form": {field: value.strip() or None}}


def _more(text: str) -> dict[str, str]:
    """'8xA100-80G', or 'cards=8 type=A100-80G nodes=2'."""
    if found := _MORE.fullmatch(text.strip()):
        return {"cards": found[1], "type": found[2].strip()}
    return dict(_pairs(text, "more_cards"))


def _guarantee(text: str) -> Edit:
    """'TEAM cards=8 types=A100 together=8'."""
    team, _, rest = text.strip().partition(" ")
    return {"kind": "guarantee", "of": team, "form": dict(_pairs(rest, "guarantee"))}


def _pairs(text: str, field: str) -> Iterator[tuple[str, str]]:
    """'cards=8 from="2026-12-02 09:00"' as pairs."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = [text]
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise BadValue(field=field, value=word[:80], allowed="NAME=VALUE …")
        yield name.strip(), value.strip()


def policy_numbers(numbers: Iterable[str], file: Path | None) -> dict[str, Any]:
    """Numbers of the policy from a JSON file and from NAME=VALUE, which go before."""
    form: dict[str, Any] = {}
    if file is not None:
        found = _json(file)
        if not isinstance(found, dict):
            raise UnreadableEdits(field="policy_file", path=str(file), cause="{…}")
        form |= found
    for text in numbers:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BadValue(field="policy", value=text[:80], allowed="NAME=VALUE")
        form[name.strip()] = value.strip()
    return form


def _in_file(file: Path | None) -> list[Edit]:
    if file is None:
        return []
    found = _json(file)
    listed = found.get("edits") if isinstance(found, dict) and "edits" in found else found
    listed = [listed] if isinstance(listed, dict) else listed
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise UnreadableEdits(field="edits", path=str(file), cause='[{"kind": …}, …]')
    return listed


def _json(file: Path) -> Any:
    data = sys.stdin.buffer.read() if str(file) == "-" else read_file(file)
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as fault:
        raise UnreadableEdits(field=None, path=str(file), cause=str(fault)[:200]) from None


def _edit(name: str, metavar: str) -> Param:
    return opt(name, many=True, metavar=metavar, about=f"cli.opt.what_if.{name}")


PREVIEW = (
    arg("words", many=True, required=False, about="cli.arg.words", metavar="[-- COMMAND…]"),
    opt("change", metavar="TASK", about="cli.opt.what_if.change"),
    _edit("cancel", "TASK"),
    _edit("move", "TASK=POINTS"),
    _edit("lost_node", "NODE"),
    _edit("lost_card", "CARD"),
    _edit("node_back", "NODE"),
    _edit("card_back", "CARD"),
    _edit("more_cards", "8xTYPE"),
    _edit("ready", "DATASET"),
    _edit("quota", "TEAM=N"),
    _edit("book", '"cards=8 for=8h"'),
    _edit("guarantee", '"TEAM cards=8"'),
    _edit("withdraw", "GUARANTEE"),
    _edit("policy", "NAME=VALUE"),
    opt("policy_file", kind=Path, metavar="FILE", about="cli.opt.what_if.policy_file"),
    opt("edits", kind=Path, metavar="FILE", about="cli.opt.what_if.edits"),
    opt("rows", kind=int, about="cli.opt.what_if.rows"),
    *fields_as_options(FIELDS, "task"),
    opt("clear", many=True, metavar="FIELD"),
)
COMMANDS = (Command("plan preview", preview, PREVIEW),)
