"""One invocation: its settings, its server, its words, and where it writes."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paika.domain.problem import Problem
from paika.interfaces.cli.language import Tongue
from paika.interfaces.cli.sheet import Sheet
from paika.interfaces.cli.stored import server_and_token
from paika.interfaces.wording.catalogue import Lang

if TYPE_CHECKING:
    from paika.interfaces.cli.local import LocalCommands
    from paika.interfaces.client import Client

LISTED = 30
LISTED_JSON = 10_000
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_BEYOND_ASCII = re.compile(r"[\x7f-\U0010ffff]")


@dataclass
class Settings:
    """What may stand before or after the verb; the later one counts."""

    json: bool = False
    url: str | None = None
    token_file: Path | None = None

    def over(self, values: Mapping[str, Any]) -> Settings:
        """These, with what else was said; takes the said ones out of nowhere else."""
        return Settings(
            json=self.json or bool(values.get("json")),
            url=values.get("url") or self.url,
            token_file=values.get("token_file") or self.token_file,
        )


@dataclass
class Call:
    """Everything a command needs beside its own parameters."""

    settings: Settings
    tongue: Tongue
    local: LocalCommands
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @cached_property
    def out(self) -> Sheet:
        """Standard output."""
        return Sheet()

    @cached_property
    def err(self) -> Sheet:
        """Standard error, for what is not the answer itself."""
        return Sheet(err=True)

    @cached_property
    def client(self) -> Client:
        """The server. Raises problems of the stored login."""
        from paika.interfaces.client import Client

        url, token = server_and_token(self.environ, self.settings.url, self.settings.token_file)
        return Client(url, token or "", lang=self.lang.value, door="cli")

    @property
    def lang(self) -> Lang:
        """The language spoken."""
        return self.tongue.lang

    @property
    def json(self) -> bool:
        """Whether the answer is for a program."""
        return self.settings.json

    def t(self, key: str, **facts: object) -> str:
        """A word with its facts."""
        return self.tongue.t(key, **facts)

    def most(self, limit: int | None) -> int:
        """How many rows a listing shows: what was asked for, else a screenful, else all that a program can want."""
        return limit if limit is not None else LISTED_JSON if self.json else LISTED

    def note(self, key: str, **facts: object) -> None:
        """A remark on standard error."""
        self.err.line((self.t(key, **facts), "dim"))

    def sure(self, question: str, yes: bool) -> None:
        """Ask on standard error; raises Abort for anything but yes."""
        import typer

        if not yes:
            typer.confirm(question, abort=True, err=True)


def json_text(value: Any) -> str:
    """JSON in which nothing acts on a terminal: what cannot be seen is written as an escape."""
    return _BEYOND_ASCII.sub(_escaped, json.dumps(value, ensure_ascii=False, indent=2))


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    if unicodedata.category(char) not in _INVISIBLE:
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def complain(call: Call, told: Mapping[str, Any], code: int) -> None:
    """A refusal on standard error: as one JSON object, or in words with what to do."""
    if call.json:
        sys.stderr.write(json_text({**told, "exit_code": code}) + "\n")
        return
    problems = told.get("problems", ())
    if len(problems) == 1:
        told, problems = problems[0], ()
    call.err.line((call.t("cli.error"), "bold red"), f"{told['message'] or told['code']}")
    for problem in problems:
        call.err.line("  · ", str(problem["message"]))
        call.err.line(("    " + str(problem["hint"]), "dim"))
    if told.get("hint"):
        call.err.line(("  " + str(told["hint"]), "dim"))


def told_problem(call: Call, problem: Problem) -> dict[str, Any]:
    """A problem of this side of the line, as the server would tell it."""
    from paika.interfaces.wire import Refused
    from paika.interfaces.wording.say import say

    told: dict[str, Any] = say(problem, call.tongue.speaker)
    facts = {
        name: value if isinstance(value, int | float | None) else str(value) for name, value in told["facts"].items()
    }
    problems = tuple(
        {**inner, "facts": {n: str(v) for n, v in inner["facts"].items()}} for inner in told.get("problems", ())
    )
    return Refused(told["code"], told["message"], told["hint"], told["field"], facts=facts, problems=problems).told()
