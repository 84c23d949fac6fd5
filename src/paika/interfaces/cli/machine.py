"""What happens on this machine itself: a server, the demo lab, an examination."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paika.domain.problem import Problem
from paika.interfaces.cli.call import Call, told_problem
from paika.interfaces.cli.command import Answer, Command, opt, switch
from paika.interfaces.cli.exits import ExitCode
from paika.interfaces.cli.sheet import Sheet

DATA = opt("data", kind=Path, metavar="FOLDER")
CONFIG = opt("config", kind=Path, metavar="FILE")
INVENTORY = opt("inventory", kind=Path, metavar="FILE")
PORT = opt("port", kind=int)
STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def start(call: Call, **settings: Any) -> int:
    """Run a server here until it is stopped."""
    return call.local.serve(**settings)


def demo(call: Call, *, once: bool, port: int | None, data: Path | None, keep: bool) -> int:
    """Play the demo lab."""
    return call.local.demo(once=once, port=port, data=data, keep=keep)


def doctor(call: Call, *, data: Path | None, config: Path | None, inventory: Path | None) -> Answer:
    """Whether paika can do its work on this machine; changes nothing."""
    findings = call.local.examine(data=data, config=config, inventory=inventory)
    told = [_told(call, finding) for finding in findings]
    code = ExitCode.OTHER if any(one["level"] == "fail" for one in told) else ExitCode.OK
    return Answer({"findings": told, "ok": code is ExitCode.OK}, lambda sheet: _view(call, sheet, told), code)


def _told(call: Call, finding: Any) -> dict[str, Any]:
    message, hint = call.tongue.speaker.say(finding.code, dict(finding.facts))
    problems: tuple[Problem, ...] = finding.problems
    return {
        "code": finding.code,
        "level": finding.level.value,
        "message": message,
        "hint": hint,
        "facts": {name: _plain(value) for name, value in finding.facts.items()},
        "problems": [told_problem(call, problem) for problem in problems],
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return [str(item) for item in value] if isinstance(value, tuple) else str(value)


def _view(call: Call, sheet: Sheet, told: list[dict[str, Any]]) -> None:
    for one in told:
        level = one["level"]
        sheet.line((call.t(f"doctor.level.{level}") + "  ", STYLES[level]), one["message"])
        if level != "ok":
            sheet.line(("      " + one["hint"], "dim"))
        for problem in one["problems"]:
            sheet.line("      · ", problem["message"], (" " + problem["hint"], "dim"))


START = (DATA, CONFIG, opt("host"), PORT, INVENTORY, opt("virtual", metavar="4xA100-80G"))
COMMANDS = (Command("server start", start, START),)
SHORTCUTS = (
    Command("doctor", doctor, (DATA, CONFIG, INVENTORY), group="machine"),
    Command("demo", demo, (switch("once"), PORT, DATA, switch("keep")), group="machine"),
)
