"""Logging in and out, and who one is."""

from __future__ import annotations

import sys
from urllib.parse import urlsplit

import typer

from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, arg
from paika.interfaces.cli.phrases import Phrases, Told
from paika.interfaces.cli.sheet import Sheet
from paika.interfaces.cli.stored import (
    DEFAULT_URL,
    Logins,
    login_path,
    read_logins,
    tidy_url,
    token_in,
    write_logins,
)
from paika.interfaces.client import Client

SERVER = arg("server", required=False, about="cli.arg.server", metavar="[URL]")


def login(call: Call, *, server: str | None) -> Answer:
    """Check a token with its server and keep it in a file that only this user can read."""
    path = login_path(call.environ)
    stored = read_logins(path)
    asked = server or call.settings.url or call.environ.get("PAIKA_URL", "") or stored.url
    url = tidy_url(asked) or DEFAULT_URL
    if url.startswith("http://") and urlsplit(url).hostname not in ("localhost", "127.0.0.1", "::1"):
        call.note("cli.login.clear", url=url)
    token = _token(call, url)
    with Client(url, token, lang=call.lang.value, door="cli") as client:
        me = client.get("me")
    write_logins(path, Logins(url, {**stored.tokens, url: token}))
    told = {**me, "url": url, "stored": str(path)}

    def view(sheet: Sheet) -> None:
        _who(sheet, Phrases(call.tongue), told)
        sheet.line((call.t("cli.login.stored", path=str(path)), "dim"))

    return Answer(told, view)


def _token(call: Call, url: str) -> str:
    """From --token-file, PAIKA_TOKEN, a prompt that does not echo, or a line on standard input."""
    if call.settings.token_file is not None:
        return token_in(call.settings.token_file)
    if known := call.environ.get("PAIKA_TOKEN", "").strip():
        return known
    if sys.stdin.isatty():
        return str(typer.prompt(call.t("cli.login.ask", url=url), hide_input=True, err=True)).strip()
    token = sys.stdin.readline().strip()
    if not token:
        raise EOFError
    return token


def logout(call: Call, *, server: str | None) -> Answer:
    """Forget the token of a server; the token itself stays good until it is revoked."""
    path = login_path(call.environ)
    stored = read_logins(path)
    url = tidy_url(server or call.settings.url or "") or stored.url
    kept = {known: token for known, token in stored.tokens.items() if known != url}
    if kept != stored.tokens:
        write_logins(path, Logins("" if stored.url == url else stored.url, kept))
    told = {"url": url, "forgotten": url in stored.tokens}
    word = "cli.logout.done" if told["forgotten"] else "cli.logout.none"
    return Answer(told, lambda sheet: sheet.line(call.t(word, url=url)))


def whoami(call: Call) -> Answer:
    """Who I am here, and what I may do."""
    told = {**call.client.get("me"), "url": call.client.wire.url}
    return Answer(told, lambda sheet: _who(sheet, Phrases(call.tongue), told))


def _who(sheet: Sheet, p: Phrases, me: Told) -> None:
    person = me["person"]
    sheet.line((f"{person['name']} ", "bold"), f"({person['id']}) @ {me['url']}")
    sheet.facts(
        (p.t("person.role"), p.t(f"role.{person['role']}")),
        (p.t("person.teams"), p.listed(person["teams"])),
        (p.t("person.leads"), p.listed(person["leads"]) if person["leads"] else ""),
        (p.t("cli.token"), f"{me['token']} · {p.listed([p.t('scope.' + scope) for scope in me['scopes']])}"),
    )


SHORTCUTS = (
    Command("login", login, (SERVER,), group="account"),
    Command("logout", logout, (SERVER,), group="account"),
    Command("whoami", whoami, group="account"),
)
