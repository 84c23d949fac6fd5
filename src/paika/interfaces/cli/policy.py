"""The policy: its numbers, its versions, and how it is changed and taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from paika.domain.problem import BadValue, FieldMissing, NotFound, Several
from paika.domain.quantity import whole
from paika.interfaces.cli.call import Call, json_text
from paika.interfaces.cli.command import Answer, Command, arg, opt, switch
from paika.interfaces.cli.listing import LISTED, most_of, settled, show_list
from paika.interfaces.cli.phrases import DASH, Phrases, Told
from paika.interfaces.cli.sheet import Column, Row, Sheet
from paika.interfaces.cli.what_if import policy_numbers
from paika.interfaces.cli.what_if_view import show_what_if

IF_VERSION = opt("if_version", metavar="N")
HIGHEST = 1 << 31
Act = Callable[[str, str | None], Told]  # with a reason, on a version of the policy


def show(call: Call) -> Answer:
    """The numbers and switches of the rules."""
    told = call.client.get("policy")
    return Answer(told, lambda sheet: sheet.facts(*((name, json_text(value)) for name, value in told.items())))


def set_numbers(
    call: Call,
    *,
    numbers: list[str] | None,
    file: Path | None,
    reason: str | None,
    dry_run: bool,
    yes: bool,
    if_version: str | None,
) -> Answer:
    """Change numbers; what they would do to everybody is shown and asked about first."""
    form = policy_numbers(numbers or (), file)
    if not form:
        raise FieldMissing(field="numbers")
    return _changed(
        call,
        form,
        dry_run,
        yes,
        reason,
        if_version,
        lambda why, seen: call.client.set_policy(form, why, if_version=seen),
    )


def roll_back(call: Call, *, to: str, reason: str | None, dry_run: bool, yes: bool, if_version: str | None) -> Answer:
    """Bring back an earlier version; what it would do to everybody is shown and asked about first."""
    number = _version(to)
    kept = {
        row["version"]["policy"]["version"]: row["version"]["policy"] for row in call.client.policy_versions()["rows"]
    }
    if number not in kept:
        raise NotFound(field="to", noun="policy_version", id=str(number))
    return _changed(
        call,
        kept[number],
        dry_run,
        yes,
        reason,
        if_version,
        lambda why, seen: call.client.roll_back_policy(number, why, if_version=seen),
    )


def _version(to: str) -> int:
    """The number of a version as people write it."""
    try:
        return whole("to", to, 1, HIGHEST)
    except BadValue as bad:
        raise Several(field=None, problems=(bad,)) from None


def _changed(
    call: Call, form: Told, dry_run: bool, yes: bool, reason: str | None, if_version: str | None, act: Act
) -> Answer:
    """Show what these numbers would do, ask, and act on the very version that was looked at."""
    if dry_run or not yes:
        if_version = if_version or str(call.client.get("policy")["version"])
        looked = call.client.preview({"kind": "policy", "form": form})
        if dry_run:
            return Answer(looked, lambda sheet: _foreseen(sheet, call, looked))
    if not (reason or "").strip():
        raise FieldMissing(field="reason")
    if not yes:
        _foreseen(call.err, call, looked)
        call.sure(call.t("cli.sure.policy"), yes)
    told = act(reason or "", if_version)
    return Answer(told, lambda sheet: sheet.line(call.t("policy.now", number=told["version"])))


def _foreseen(sheet: Sheet, call: Call, told: Told) -> None:
    show_what_if(sheet, Phrases(call.tongue, told["at"]), told)


def history(call: Call, *, limit: int | None, everything: bool) -> Answer:
    """Who changed what of it, when and why; newest first."""
    told = call.client.policy_versions()
    told = settled(told, told["rows"], most_of(call, limit, everything))

    def row(p: Phrases, one: Told) -> Row:
        version = one["version"]
        changed = ", ".join(f"{c['name']}: {json_text(c['old'])} → {json_text(c['new'])}" for c in one["changed"])
        back = "" if version["back_to"] is None else p.t("policy.back_to", number=version["back_to"])
        mark = (p.t("policy.in_force"), "bold") if one["current"] else ""
        when = DASH if version["at"] is None else p.when(version["at"])
        below = " · ".join(part for part in (version["why"], back, changed) if part)
        return Row((str(version["policy"]["version"]), when, version["person"] or DASH, mark), below)

    heads = (Column("policy.number", right=True), "ledger.at", Column("policy.person", loose=True), "policy.state")
    return show_list(call, told, heads, row)


_ACT = (opt("reason"), switch("dry_run"), switch("yes", "-y", "--yes"), IF_VERSION)
_NUMBERS = arg("numbers", many=True, required=False, about="cli.opt.what_if.policy", metavar="NAME=VALUE")
_FILE = opt("file", kind=Path, metavar="FILE", about="cli.opt.what_if.policy_file")
COMMANDS = (
    Command("policy show", show),
    Command("policy set", set_numbers, (_NUMBERS, _FILE, *_ACT)),
    Command("policy history", history, LISTED),
    Command("policy rollback", roll_back, (arg("to", about="cli.arg.policy_to", metavar="VERSION"), *_ACT)),
)
