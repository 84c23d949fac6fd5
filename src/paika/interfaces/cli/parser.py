"""From commands as data to Typer's: parameters, help in one language, exit codes, errors as JSON where asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import typer

from paika.domain.problem import Problem
from paika.interfaces.cli.call import Call, Settings, complain, json_text, told_problem
from paika.interfaces.cli.command import Command, Param, opt, switch
from paika.interfaces.cli.exits import ExitCode, of_kind, of_status
from paika.interfaces.cli.help import Noun, Verb
from paika.interfaces.cli.language import Tongue
from paika.interfaces.wire import Refused

COMMON = (
    switch("json", about="cli.opt.json"),
    opt("lang", metavar="zh|en", about="cli.opt.lang"),
    opt("url", metavar="URL", about="cli.opt.url"),
    opt("token_file", kind=Path, metavar="FILE", about="cli.opt.token_file"),
)
HELP = {"help_option_names": ["-h", "--help"]}


def add_commands(
    app: typer.Typer, commands: Iterable[Command], tongue: Tongue, begin: Callable[[Settings], Call]
) -> None:
    """Every command under its noun."""
    nouns: dict[str, typer.Typer] = {}
    for command in commands:
        noun, _, verb = command.path.rpartition(" ")
        if noun and noun not in nouns:
            nouns[noun] = noun_app(tongue)
            app.add_typer(
                nouns[noun],
                name=noun,
                help=tongue.t(f"cli.noun.{noun}"),
                rich_help_panel=tongue.t("cli.panel.nouns"),
            )
        place = nouns[noun] if noun else app
        panel = tongue.t("cli.panel.verbs" if noun else f"cli.panel.{command.group or 'here'}")
        kind = type("Verb", (Verb,), {"tongue": tongue})
        place.command(verb, cls=kind, help=tongue.t(command.key), rich_help_panel=panel, context_settings=HELP)(
            entry(command, tongue, begin)
        )


def noun_app(tongue: Tongue) -> typer.Typer:
    """A noun that takes the common options too."""
    kind = type("Noun", (Noun,), {"tongue": tongue})
    app = typer.Typer(cls=kind, no_args_is_help=True, context_settings=HELP, add_completion=False)
    app.callback()(common_options(tongue, hidden=True))
    return app


def common_options(tongue: Tongue, *, hidden: bool, more: Sequence[tuple[str, Any]] = ()) -> Callable[..., None]:
    """The callback of a noun, or of the whole: keeps what was said for the command behind it."""

    def keep(ctx: typer.Context, **values: Any) -> None:
        ctx.obj = (ctx.obj or Settings()).over(values)

    return _with_signature(keep, [*parameters(COMMON, tongue, hidden=hidden), *_ready(more)])


def entry(command: Command, tongue: Tongue, begin: Callable[[Settings], Call]) -> Callable[..., int]:
    """The function that Typer calls for a command; it exits with the command's code."""

    def run(ctx: typer.Context, **values: Any) -> None:
        settings = (ctx.obj or Settings()).over(values)
        own = {param.name: values[param.name] for param in command.params}
        raise typer.Exit(perform(command, begin(settings), own))

    asked = [*parameters(command.params, tongue), *parameters(COMMON, tongue, hidden=True)]
    return _with_signature(run, asked)


def perform(command: Command, call: Call, values: dict[str, Any]) -> int:
    """Do it, write the answer, and say the exit code."""
    try:
        answer = command.do(call, **values)
        if isinstance(answer, int):
            return answer
        if call.json:
            sys.stdout.write(json_text(answer.data) + "\n")
        else:
            answer.view(call.out)
        return answer.code
    except Refused as refused:
        code = of_status(refused.status)
        complain(call, refused.told(), code)
    except Problem as problem:
        code = of_kind(problem.kind)
        complain(call, told_problem(call, problem), code)
    except (KeyboardInterrupt, EOFError, typer.Abort):
        code = ExitCode.CANCELLED
        hint = call.t("cli.cancelled.hint")
        complain(call, {"code": "cli.cancelled", "message": call.t("cli.cancelled"), "hint": hint}, code)
    return code


def parameters(params: Iterable[Param], tongue: Tongue, *, hidden: bool = False) -> list[Parameter]:
    """Parameters of a function, as Typer reads them. Of the common options only --json shows with each command."""
    made = []
    for param in params:
        kind: Any = list[param.kind] if param.many else param.kind  # type: ignore[name-defined]
        default = _argument(param, tongue) if param.positional else _option(param, tongue, hidden)
        if not (param.many or param.required or param.kind is bool):
            kind = kind | None
        made.append(Parameter(param.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    return made


def _argument(param: Param, tongue: Tongue) -> Any:
    return typer.Argument(
        ... if param.required else None,
        metavar=param.metavar,
        help=about(param, tongue),
        rich_help_panel=tongue.t("cli.panel.arguments"),
        show_default=False,
    )


def _option(param: Param, tongue: Tongue, hidden: bool) -> Any:
    default: Any = False if param.kind is bool else [] if param.many else ... if param.required else None
    return typer.Option(
        default,
        *param.spelt,
        metavar=None if param.kind is bool else param.metavar,
        help=about(param, tongue),
        hidden=hidden and param.name != "json",
        rich_help_panel=tongue.t("cli.panel.more" if param.advanced else "cli.panel.options"),
        show_default=False,
    )


def about(param: Param, tongue: Tongue) -> str:
    """The help of a parameter: its own word, else that of its field with what it may hold."""
    field = param.field
    if field is None:
        return tongue.t(param.about or f"cli.{'arg' if param.positional else 'opt'}.{param.name}")
    if param.noun == "task" and (said := tongue.maybe(f"field.{field.key}.help")):
        return said
    keys = (f"cli.field.{param.noun}.{field.key}", f"field.{param.noun}.{field.key}", f"field.{field.key}")
    label = next((said for key in keys if (said := tongue.maybe(key))), field.key)
    return tongue.t("cli.allowed", label=label, allowed=tongue.speaker.allowed(field.allowed))


def _with_signature(function: Callable[..., Any], asked: list[Parameter]) -> Callable[..., Any]:
    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    function.__signature__ = Signature([context, *asked])  # type: ignore[attr-defined]
    function.__annotations__ = {"ctx": typer.Context, **{p.name: p.annotation for p in asked}}
    return function


def _ready(more: Sequence[tuple[str, Any]]) -> list[Parameter]:
    return [Parameter(name, Parameter.KEYWORD_ONLY, default=option, annotation=bool) for name, option in more]


class Root(Noun):
    """The whole command line: usage faults get our exit code, and are JSON where JSON was asked for."""

    fault: Callable[[Sequence[str], typer.TyperException], int]
    other: Callable[[Sequence[str]], typer.Typer | None]

    def main(self, args: Sequence[str] | None = None, *more: Any, **settings: Any) -> Any:
        """Run and exit."""
        words = list(sys.argv[1:] if args is None else args)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        if (other := type(self).other(words)) is not None:
            return typer.main.get_command(other).main(words, *more, **settings)
        settings["standalone_mode"] = False
        try:
            code = super().main(words, *more, **settings)
        except typer.TyperException as fault:
            code = type(self).fault(words, fault)
        except typer.Abort:
            code = ExitCode.CANCELLED
        sys.exit(code if isinstance(code, int) else 0)
