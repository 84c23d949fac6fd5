"""The forms of people, teams, quotas and tokens, read the same way at every door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from paika.domain.access import Scope
from paika.domain.form import FieldKind as K
from paika.domain.form import Form, FormField
from paika.domain.person import Person, Role
from paika.domain.problem import BadValue, FieldMissing, Problem, Several
from paika.domain.team import EQUAL_WEIGHT, MOST_WEIGHT, Team
from paika.services.grant_quota import MOST_CARDS

_ROLES = (
    *((role.value, role) for role in Role),
    ("访客", Role.VIEWER),
    ("成员", Role.MEMBER),
    ("组长", Role.LEAD),
    ("管理员", Role.ADMIN),
)
_WHY = FormField("reason", K.LINES, ("why", "原因", "理由"), high=500)
PERSON = Form(
    (
        FormField("id", K.TEXT, ("编号",), high=40, required=True),
        FormField("name", K.TEXT, ("姓名", "名称"), high=200, required=True),
        FormField("role", K.CHOICE, ("角色",), choices=_ROLES, default="member"),
        FormField("teams", K.NAMES, ("team", "团队"), 50, 40),
        FormField("leads", K.NAMES, ("带队",), 50, 40),
        FormField("active", K.FLAG, ("启用",), default="true"),
        _WHY,
    )
)
TEAM = Form(
    (
        FormField("id", K.TEXT, ("编号",), high=40, required=True),
        FormField("name", K.TEXT, ("名称", "团队"), high=200, required=True),
        FormField("weight", K.WHOLE, ("权重",), 1, MOST_WEIGHT, default=str(EQUAL_WEIGHT)),
        FormField("parent", K.TEXT, ("上级", "上级团队"), high=40),
        FormField("note", K.LINES, ("备注",), high=4000),
        FormField("active", K.FLAG, ("启用",), default="true"),
        _WHY,
    )
)
QUOTA = Form((FormField("max_cards", K.WHOLE, ("卡数", "上限"), 0, MOST_CARDS), _WHY))
TOKEN = Form(
    (
        FormField("person", K.TEXT, ("人员",), high=40),
        FormField("scopes", K.NAMES, ("scope", "权限范围"), 10, 20, required=True),
        FormField("expires_at", K.DEADLINE, ("expires", "到期")),
        FormField("note", K.TEXT, ("备注",), high=200),
    )
)
REASON = Form((_WHY,))


@dataclass(frozen=True, slots=True)
class Edited:
    """Values by key of what was given, the keys that were named at all, and why."""

    values: Mapping[str, Any]
    named: frozenset[str]

    @property
    def why(self) -> str:
        """The reason given, '' if none."""
        return str(self.values.get("reason", ""))

    def over(self, noun: Any, **blank: Any) -> Any:
        """The noun with what was given; a key that was named and left empty takes its value of `blank`."""
        cleared = {key: value for key, value in blank.items() if key in self.named and key not in self.values}
        return replace(noun, **{key: value for key, value in self.values.items() if key != "reason"}, **cleared)


@dataclass(frozen=True, slots=True)
class TokenAsked:
    """A token somebody asks for; `person` '' means himself."""

    person: str
    scopes: tuple[Scope, ...]
    expires_at: datetime | None
    note: str


def read_edit(form: Form, raw: Mapping[str, object], zone: str, *, whole: bool = False) -> Edited:
    """What an edit names; with `whole` the required fields must be there. Raises Several with every problem."""
    values, problems = form.read(raw, zone)
    found: list[Problem] = list(problems)
    bad = {problem.field for problem in problems}
    matches = [form.match(str(name)) for name in raw]
    named = frozenset(match.field.key for match in matches if match is not None)
    for field in form.fields:
        wanted = whole or field.key in named
        if field.required and wanted and field.key not in values and field.key not in bad:
            found.append(FieldMissing(field=field.key))
    if found:
        raise Several(field=None, problems=tuple(found))
    return Edited(values, named)


def read_person(raw: Mapping[str, object], zone: str) -> Person:
    """Somebody new."""
    edit = read_edit(PERSON, raw, zone, whole=True)
    person: Person = edit.over(Person(edit.values["id"], edit.values["name"]))
    return person


def read_team(raw: Mapping[str, object], zone: str) -> Team:
    """A new team."""
    edit = read_edit(TEAM, raw, zone, whole=True)
    team: Team = edit.over(Team(edit.values["id"], edit.values["name"]))
    return team


def read_token(raw: Mapping[str, object], zone: str) -> TokenAsked:
    """A token asked for. Raises Several for scopes that are none."""
    values = read_edit(TOKEN, raw, zone, whole=True).values
    known = {scope.value: scope for scope in Scope}
    problems = tuple(
        BadValue(field="scopes", value=s, allowed=", ".join(known)) for s in values["scopes"] if s not in known
    )
    if problems:
        raise Several(field=None, problems=problems)
    scopes = tuple(known[word] for word in values["scopes"])
    return TokenAsked(values.get("person", ""), scopes, values.get("expires_at"), values.get("note", ""))


def read_reason(raw: Mapping[str, object], zone: str) -> str:
    """The reason given with an act, '' if none."""
    return read_edit(REASON, raw, zone).why
