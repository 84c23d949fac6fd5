"""The command line as a whole."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer

from paika import __version__
from paika.interfaces.cli.call import Call, Settings, complain
from paika.interfaces.cli.commands import COMMANDS
from paika.interfaces.cli.exits import ExitCode
from paika.interfaces.cli.language import Tongue, chosen_language
from paika.interfaces.cli.local import LocalCommands
from paika.interfaces.cli.parser import HELP, Root, add_commands, common_options
from paika.interfaces.wording.catalogue import Lang

_NO_COMMAND = re.compile(r"No such command '(.*)'\.(?: Did you mean (.*)\?)?", re.DOTALL)


def build_cli(local: LocalCommands) -> typer.Typer:
    """`paika`, to be called as it is. Help comes in the language of --lang, PAIKA_LANG or the locale."""
    return _built(local, chosen_language(os.environ, sys.argv[1:]))


def _built(local: LocalCommands, lang: Lang) -> typer.Typer:
    tongue = Tongue(lang)

    def begin(settings: Settings) -> Call:
        return Call(settings, tongue, local)

    def other(args: Sequence[str]) -> typer.Typer | None:
        asked = chosen_language(os.environ, args)
        return None if asked is lang else _built(local, asked)

    def fault(args: Sequence[str], problem: typer.TyperException) -> int:
        return say_usage(begin(Settings(json="--json" in _own(args))), problem)

    kind = type("Paika", (Root,), {"tongue": tongue, "fault": staticmethod(fault), "other": staticmethod(other)})
    app = typer.Typer(
        name="paika",
        cls=kind,
        help=tongue.t("cli.about"),
        no_args_is_help=True,
        context_settings=HELP,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(common_options(tongue, hidden=False, more=[("version", _version_option(tongue))]))
    add_commands(app, COMMANDS, tongue, begin)
    return app


def say_usage(call: Call, problem: typer.TyperException) -> int:
    """A command line that cannot be read: what is wrong, and where help is."""
    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "paika"
    if type(problem).__name__ == "NoArgsIsHelpError" and context is not None:
        if not call.json:
            sys.stdout.write(context.get_help() + "\n")
            return ExitCode.USAGE
        message = call.t("cli.usage.verb")
    else:
        message = _usage_words(call, problem)
    hint = call.t("cli.usage.hint", path=path)
    complain(call, {"code": "cli.usage", "message": message, "hint": hint, "field": None}, ExitCode.USAGE)
    return ExitCode.USAGE


def _usage_words(call: Call, problem: typer.TyperException) -> str:
    """The parser's message in the language spoken, as far as we know the kind of fault."""
    kind, said = type(problem).__name__, problem.format_message()
    near = (
        call.t("cli.usage.near", near=", ".join(possible))
        if (possible := getattr(problem, "possibilities", ()))
        else ""
    )
    if kind == "NoSuchOption":
        return call.t("cli.usage.no_option", name=getattr(problem, "option_name", "")) + near
    if kind == "MissingParameter":
        param = getattr(problem, "param", None)
        name = (
            param.opts[-1] if param is not None and param.param_type_name == "option" else getattr(param, "metavar", "")
        )
        return call.t("cli.usage.missing", name=name)
    if found := _NO_COMMAND.fullmatch(said):
        return call.t("cli.usage.no_command", name=found[1]) + (
            call.t("cli.usage.near", near=found[2]) if found[2] else ""
        )
    return said


def _own(args: Sequence[str]) -> Sequence[str]:
    """The arguments that are ours: those before a bare '--'."""
    return args[: list(args).index("--")] if "--" in args else args


def _version_option(tongue: Tongue) -> Any:
    show: Callable[[bool], None] = _show_version
    return typer.Option(
        False,
        "--version",
        is_eager=True,
        callback=show,
        help=tongue.t("cli.opt.version"),
        rich_help_panel=tongue.t("cli.panel.options"),
        show_default=False,
    )


def _show_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"paika {__version__}\n")
        raise typer.Exit
