"""The reference page of the command line, made from the commands: python -m paika.interfaces.cli.reference."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from paika.interfaces.cli.command import Command, Param
from paika.interfaces.cli.commands import COMMANDS
from paika.interfaces.cli.exits import ExitCode
from paika.interfaces.cli.language import Tongue
from paika.interfaces.cli.parser import COMMON, about
from paika.interfaces.wording.catalogue import Lang

TONGUES = (Tongue(Lang.ZH), Tongue(Lang.EN))
HEAD = """# Command line 命令行

<!-- Made by `python -m paika.interfaces.cli.reference`; a test compares. -->
"""


def reference() -> str:
    """The whole page."""
    lines = [HEAD, *_both("cli.ref.common"), "", *_table(COMMON), "", *_exit_codes()]
    for command in COMMANDS:
        lines += _section(command)
    return "\n".join(lines).rstrip() + "\n"


def _both(key: str) -> list[str]:
    """The same sentence in both languages, as two paragraphs."""
    zh, en = (tongue.t(key) for tongue in TONGUES)
    return [zh, "", en]


def _section(command: Command) -> Iterator[str]:
    arguments = " ".join(param.metavar for param in command.params if param.positional)
    yield from ("", f"## `paika {command.path}`", "", *_both(command.key), "")
    yield f"    paika {command.path}{' [OPTIONS]' if len(command.params) > 0 else ''} {arguments}".rstrip()
    if command.params:
        yield from ("", *_table(command.params))


def _table(params: tuple[Param, ...]) -> Iterator[str]:
    yield "| | 中文 | English |"
    yield "|---|---|---|"
    for param in params:
        words = (_cell(about(param, tongue)) for tongue in TONGUES)
        yield f"| {_spelt(param)} | {' | '.join(words)} |"


def _spelt(param: Param) -> str:
    if param.positional:
        return f"`{_cell(param.metavar)}`"
    value = "" if param.kind is bool else f" {param.metavar}"
    return ", ".join(f"`{_cell(flag + value)}`" for flag in param.spelt)


def _exit_codes() -> Iterator[str]:
    yield "## Exit codes 退出码"
    yield ""
    yield "| | 中文 | English |"
    yield "|---|---|---|"
    for code in ExitCode:
        zh, en = (tongue.t(f"cli.exit.{code.name.lower()}") for tongue in TONGUES)
        yield f"| {code.value} | {zh} | {en} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    sys.stdout.write(reference())
