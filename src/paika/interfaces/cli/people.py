"""Teams, people, quotas and tokens."""

from __future__ import annotations

from typing import Any

from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, arg, fields_as_options, form_of, opt, switch
from paika.interfaces.cli.listing import LISTED, most_of, settled, show_list
from paika.interfaces.cli.phrases import DASH, Phrases, Told
from paika.interfaces.cli.sheet import Column, Part, Row, Sheet
from paika.services.access_form import PERSON, TEAM, TOKEN

IF_VERSION = opt("if_version", metavar="N")


def _list(call: Call, noun: str, limit: int | None, everything: bool) -> dict[str, Any]:
    told = call.client.get(noun)
    return settled(told, told["rows"], most_of(call, limit, everything))


def _active(p: Phrases, active: bool) -> Part:
    return (p.t("word.active"), "") if active else (p.t("word.inactive"), "red")


def ls_teams(call: Call, *, limit: int | None, everything: bool) -> Answer:
    """Teams with what they hold and may hold."""
    return show_list(call, _list(call, "teams", limit, everything), _TEAM_HEADS, _team_row)


_NOTE = Column("fact.note", loose=True)
_TEAM_HEADS = (
    "cli.col.id",
    Column("team.name", loose=True),
    "cli.col.state",
    Column("teams.holds", right=True),
    Column("field.weight", right=True),
    Column("field.parent", loose=True),
    _NOTE,
)


def _team_row(p: Phrases, row: Told) -> Row:
    team, holding = row["team"], row["holding"]
    note = str(team["note"]).replace("\n", " ")
    place = (str(team["weight"]), team["parent"])
    return Row((team["id"], team["name"], _active(p, team["active"]), _held(p, holding), *place, note))


def _held(p: Phrases, holding: Told) -> str:
    most = holding["max_cards"]
    return f"{p.parts(holding['held_parts'])} / {p.t('quota.no_ceiling') if most is None else most}"


def create_team(call: Call, **fields: Any) -> Answer:
    """A new team."""
    return _named(call, call.client.send("POST", "teams", body=form_of(fields, TEAM.fields)))


def edit_team(call: Call, *, team: str, if_version: str | None, **fields: Any) -> Answer:
    """Change a team."""
    body = form_of(fields, TEAM.fields)
    return _named(call, call.client.send("PATCH", "teams", team, body=body, if_version=if_version))


def ls_people(call: Call, *, limit: int | None, everything: bool) -> Answer:
    """Everybody."""
    heads = ("cli.col.id", Column("person.name", loose=True), "person.role", _TEAMS, _LEADS, "cli.col.state")
    return show_list(call, _list(call, "people", limit, everything), heads, _person_row)


_TEAMS, _LEADS = Column("person.teams", loose=True), Column("person.leads", loose=True)


def _person_row(p: Phrases, one: Told) -> Row:
    teams = p.listed(one["teams"]) if one["teams"] else ""
    leads = p.listed(one["leads"]) if one["leads"] else ""
    return Row((one["id"], one["name"], p.t(f"role.{one['role']}"), teams, leads, _active(p, one["active"])))


def create_person(call: Call, **fields: Any) -> Answer:
    """Somebody new."""
    return _named(call, call.client.send("POST", "people", body=form_of(fields, PERSON.fields)))


def edit_person(call: Call, *, person: str, if_version: str | None, **fields: Any) -> Answer:
    """Change somebody's name, role, teams, or whether he is active."""
    body = form_of(fields, PERSON.fields)
    return _named(call, call.client.send("PATCH", "people", person, body=body, if_version=if_version))


def _named(call: Call, told: Told) -> Answer:
    def view(sheet: Sheet) -> None:
        active = _active(Phrases(call.tongue), told["active"])
        sheet.line((f"{told['id']}  ", "bold"), f"{told['name']}  ", active)

    return Answer(told, view)


def ls_quotas(call: Call, *, limit: int | None, everything: bool) -> Answer:
    """What each team holds now and may hold."""
    heads = ("cli.col.id", Column("team.name", loose=True), Column("teams.holds", right=True))

    def row(p: Phrases, holding: Told) -> Row:
        return Row((holding["team"]["id"], holding["team"]["name"], _held(p, holding)))

    return show_list(call, _list(call, "quotas", limit, everything), heads, row)


def set_quota(call: Call, *, team: str, max_cards: str, reason: str | None, if_version: str | None) -> Answer:
    """Set or lift a team's ceiling of cards held at once."""
    ceiling = None if max_cards.strip().lower() in ("none", "不限") else max_cards
    body = {"max_cards": ceiling} | ({"reason": reason} if reason else {})
    told = call.client.send("PUT", "quotas", team, body=body, if_version=if_version)

    def view(sheet: Sheet) -> None:
        most = call.t("quota.no_ceiling") if told["max_cards"] is None else str(told["max_cards"])
        sheet.line((f"{team}  ", "bold"), f"{call.t('quota.max_cards')} {most}")

    return Answer(told, view)


def ls_tokens(call: Call, *, limit: int | None, everything: bool) -> Answer:
    """Tokens; their secrets are kept nowhere."""
    heads = (
        "cli.col.id",
        "cli.col.person",
        Column("token.scope", loose=True),
        "cli.col.created",
        "cli.col.expires",
        "cli.col.state",
        _NOTE,
    )
    return show_list(call, _list(call, "tokens", limit, everything), heads, _token_row)


def _token_row(p: Phrases, token: Told) -> Row:
    state: Part = p.t("word.active") if token["revoked_at"] is None else (p.t("cli.revoked"), "red")
    ends = p.when(token["expires_at"]) if token["expires_at"] else DASH
    scopes = p.listed([p.t(f"scope.{scope}") for scope in token["scopes"]])
    return Row((token["id"], token["person"], scopes, p.when(token["created_at"]), ends, state, token["note"]))


def create_token(call: Call, **fields: Any) -> Answer:
    """A new token. Its secret is shown this once."""
    told = call.client.send("POST", "tokens", body=form_of(fields, TOKEN.fields))

    def view(sheet: Sheet) -> None:
        call.err.line((call.t("cli.token.once", token=told["token"]["id"], person=told["token"]["person"]), "yellow"))
        sheet.raw(told["secret"] + "\n")

    return Answer(told, view)


def revoke_token(call: Call, *, token: str, yes: bool) -> Answer:
    """Make a token useless from now on; whose it is is shown and asked about first."""
    known = [row for row in call.client.get("tokens")["rows"] if row["id"] == token]
    if known and not yes:
        p = Phrases(call.tongue)
        call.err.facts(
            (p.t("cli.col.person"), str(known[0]["person"])),
            (p.t("token.scope"), p.listed([p.t(f"scope.{scope}") for scope in known[0]["scopes"]])),
            (p.t("fact.note"), str(known[0]["note"])),
        )
        call.sure(call.t("cli.sure.revoke", token=token), yes)
    told = call.client.send("POST", "tokens", token, "revoke")
    return Answer(told, lambda sheet: sheet.line((f"{told['id']}  ", "bold"), call.t("cli.revoked")))


def _but_id(form: Any, noun: str) -> tuple[Any, ...]:
    return fields_as_options(form.fields, noun, but=("id",))


COMMANDS = (
    Command("team ls", ls_teams, LISTED),
    Command("team create", create_team, fields_as_options(TEAM.fields, "team")),
    Command("team edit", edit_team, (arg("team"), *_but_id(TEAM, "team"), IF_VERSION)),
    Command("person ls", ls_people, LISTED),
    Command("person create", create_person, fields_as_options(PERSON.fields, "person")),
    Command("person edit", edit_person, (arg("person"), *_but_id(PERSON, "person"), IF_VERSION)),
    Command("quota ls", ls_quotas, LISTED),
    Command(
        "quota set",
        set_quota,
        (arg("team"), arg("max_cards", about="cli.arg.max_cards", metavar="N|none"), opt("reason"), IF_VERSION),
    ),
    Command("token ls", ls_tokens, LISTED),
    Command("token create", create_token, fields_as_options(TOKEN.fields, "token")),
    Command("token revoke", revoke_token, (arg("token"), switch("yes", "-y", "--yes"))),
)
