"""Help pages in the language spoken, folded to the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from rich.cells import cell_len
from typer.core import TyperCommand, TyperGroup

from paika.interfaces.cli.fold import fold
from paika.interfaces.cli.language import Tongue

NAMES_MOST = 28  # cells for names; a longer one has its help on the next line
GAP = 2
Entries = Sequence[tuple[str, str]]


class Verb(TyperCommand):
    """A command with help of our own."""

    tongue: ClassVar[Tongue]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        formatter.write(page(self, ctx, self.tongue, formatter.width))


class Noun(TyperGroup):
    """A group of commands with help of our own."""

    tongue: ClassVar[Tongue]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        formatter.write(page(self, ctx, self.tongue, formatter.width))


def page(command: Any, ctx: Any, tongue: Tongue, width: int) -> str:
    """Usage, what it does, and everything it takes."""
    usage = tongue.t("cli.help.usage", usage=" ".join((ctx.command_path, *_usage(command, tongue))))
    lines = [*fold(usage, width), "", *fold(command.help or "", width)]
    for title, entries in _sections(command, ctx, tongue).items():
        lines += ["", title, *_entries(entries, width)]
    return "\n".join(lines) + "\n"


def _usage(command: Any, tongue: Tongue) -> Iterator[str]:
    yield tongue.t("cli.help.options")
    if isinstance(command, TyperGroup):
        yield tongue.t("cli.help.command")
    for param in command.params:
        if param.param_type_name == "argument":
            yield str(param.metavar)


def _sections(command: Any, ctx: Any, tongue: Tongue) -> dict[str, list[tuple[str, str]]]:
    sections: dict[str, list[tuple[str, str]]] = {}
    options = tongue.t("cli.panel.options")
    for param in command.params:
        if not param.hidden:
            known = tongue.maybe(f"cli.opt.{param.name}") if param.rich_help_panel is None else ""
            entry = (_spelt(param), known or param.help or "")
            sections.setdefault(param.rich_help_panel or options, []).append(entry)
    sections.setdefault(options, []).append(("-h, --help", tongue.t("cli.opt.help")))
    for name in command.list_commands(ctx) if isinstance(command, TyperGroup) else ():
        verb = command.get_command(ctx, name)
        title = str(getattr(verb, "rich_help_panel", "") or tongue.t("cli.panel.verbs"))
        sections.setdefault(title, []).append((name, (verb.help if verb else "") or ""))
    return sections


def _spelt(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar)
    return ", ".join(param.opts) + (f" {param.metavar}" if param.metavar else "")


def _entries(entries: Entries, width: int) -> Iterator[str]:
    wide = min(NAMES_MOST, max(cell_len(name) for name, _ in entries))
    for name, said in entries:
        lines = fold(said, max(20, width - wide - 2 * GAP))
        if cell_len(name) > wide:
            yield f"  {name}"
        else:
            yield f"  {name}{' ' * (wide - cell_len(name) + GAP)}{lines.pop(0)}"
        yield from (" " * (wide + 2 * GAP) + line for line in lines)
