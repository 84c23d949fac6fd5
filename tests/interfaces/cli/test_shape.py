"""What all commands have in common: help, languages, JSON, exit codes, quick start."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from rich.cells import cell_len
from tests.interfaces.cli.house import ROOT, House, ThisPretence

from paika.domain.problem import BadValue
from paika.domain.task_form import FIELDS
from paika.interfaces.cli.app import build_cli
from paika.interfaces.cli.command import Command
from paika.interfaces.cli.commands import COMMANDS
from paika.interfaces.cli.language import Tongue, chosen_language
from paika.interfaces.cli.parser import COMMON, about
from paika.interfaces.cli.reference import reference
from paika.interfaces.wording.catalogue import Lang, words
from paika.interfaces.wording.en import cli as en
from paika.interfaces.wording.zh import cli as zh

LATIN = re.compile(r"^[A-Za-z ,.;:!?'()-]+$")


def test_both_languages_say_the_same_things():
    assert zh.MESSAGES.keys() == en.MESSAGES.keys()
    assert zh.WORDS.keys() == en.WORDS.keys()
    for key, text in en.WORDS.items():
        facts = [sorted(re.findall(r"{(\w+)", one)) for one in (text, zh.WORDS[key])]
        assert facts[0] == facts[1], key
        assert not LATIN.match(zh.WORDS[key]), key


def test_the_reference_page_is_that_of_the_commands():
    """Run python -m paika.interfaces.cli.reference > docs/reference/cli.md after a change."""
    assert (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8") == reference()


@pytest.mark.parametrize("lang", Lang)
def test_every_command_and_parameter_has_its_words(lang):
    tongue, known = Tongue(lang), words(lang)
    for command in COMMANDS:
        assert command.key in known
        for param in (*command.params, *COMMON):
            said = about(param, tongue)
            assert said, (command.path, param.name)
            assert not said.startswith(("cli.", "field.")), (command.path, param.name)
    for noun in {command.path.split()[0] for command in COMMANDS if " " in command.path}:
        assert f"cli.noun.{noun}" in known


def test_words_named_in_the_code_exist():
    named = set()
    for path in (ROOT / "src/paika/interfaces/cli").glob("*.py"):
        named |= set(re.findall(r'"([a-z]+(?:\.[a-z_0-9]+)+)"', path.read_text(encoding="utf-8")))
    known = words(Lang.EN).keys() | en.MESSAGES.keys()
    first = {key.split(".")[0] for key in words(Lang.EN)}
    files = {"tasks.yaml", "login.json"}
    missing = {key for key in named if key.split(".")[0] in first and key not in known and key not in files}
    assert missing <= {"cli.cancelled", "cli.usage", "api.state"}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.path)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_help_fits_and_names_every_option(house: House, command: Command, lang: str):
    said = house.paika(*command.path.split(), "--help", lang=lang)
    assert said.code == 0
    assert all(cell_len(line) <= 80 for line in said.out.splitlines())
    for param in command.params:
        assert param.metavar in said.out if param.positional else param.spelt[-1] in said.out
    assert words(Lang(lang))["cli.opt.help"] in said.out


def test_the_language_of_help_is_chosen_at_the_start(house: House):
    assert "用法" in house.paika("--help", lang="zh").out
    assert "用法" in house.paika("--lang", "zh", "task", "--help", lang="en").out
    assert "用法" in house.paika("task", "ls", "--lang=zh", "--help", lang="en").out
    assert "Usage" in house.paika("task", "--help", "--lang", "en", lang="zh").out


@pytest.mark.parametrize(
    ("environ", "args", "lang"),
    [
        ({"LANG": "zh_CN.UTF-8"}, [], Lang.ZH),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, [], Lang.EN),
        ({"LANG": "en_US.UTF-8", "PAIKA_LANG": "zh"}, [], Lang.ZH),
        ({"PAIKA_LANG": "zh"}, ["--lang", "en"], Lang.EN),
        ({"PAIKA_LANG": "zh"}, ["submit", "--", "--lang", "en"], Lang.ZH),
        ({"LANG": "de_DE.UTF-8"}, [], Lang.EN),
        ({}, [], Lang.EN),
    ],
)
def test_language(environ, args, lang):
    assert chosen_language(environ, args) is lang


def test_every_door_has_the_same_fields():
    submit = next(command for command in COMMANDS if command.path == "submit")
    edit = next(command for command in COMMANDS if command.path == "task edit")
    for command in (submit, edit):
        options = {param.field.key for param in command.params if param.field}
        assert options == {field.key for field in FIELDS}


@pytest.mark.parametrize("place", [0, 1, 2])
def test_json_stands_anywhere(house: House, place: int):
    house.lab.submit("mia", name="训练")
    args = ["task", "ls"]
    args.insert(place, "--json")
    said = house.paika(*args)
    assert said.code == 0
    assert said.json["rows"][0]["name"] == "训练"
    assert said.err == ""


READS = [
    command.path
    for command in COMMANDS
    if command.path.split()[-1] in ("ls", "usage", "due", "readiness", "whoami", "doctor")
]


@pytest.mark.parametrize("path", [*READS, "policy show"])
def test_every_look_is_complete_json(house: House, path: str):
    house.lab.submit("mia", name="训练")
    told = house.paika(*path.split(), "--json", by="ann").json
    assert isinstance(told, dict)
    if path.endswith(" ls"):
        assert told["total"] == len(told["rows"]) + told["left_out"]


@pytest.mark.parametrize("path", [*READS, "policy show"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_look_fits_eighty_cells_without_colour(house: House, path: str, lang: str):
    for n in range(3):
        house.lab.submit(
            "mia", name=f"训练七十亿参数的大模型第{n}轮对照实验的名字很长很长", vram="20G", note="备注" * 50
        )
    said = house.paika(*path.split(), by="ann", lang=lang)
    assert said.code == 0
    assert said.out.strip()
    assert all(cell_len(line) <= 80 for line in said.out.splitlines()), said.out
    assert "\x1b" not in said.out


EXITS = [
    (["task", "ls"], 0),
    (["task", "ls", "--bogus"], 2),
    (["bogus"], 2),
    (["task"], 2),
    (["task", "show"], 2),
    (["task", "show", "t-99"], 4),
    (["submit", "--name", "x", "--cards", "0", "--", "true"], 4),
    (["task", "ls", "--limit", "x"], 2),
    (["team", "create", "--id", "new", "--name", "New"], 4),
    (["submit", "--name", "x", "--command", "true", "--", "true"], 2),
    (["submit", "--file", "/nowhere/tasks.yaml"], 2),
    (["task", "ls", "--url", "http://127.0.0.1:9"], 5),
    (["server", "start"], 0),
    (["doctor"], 0),
]


@pytest.mark.parametrize(("args", "code"), EXITS)
def test_exit_codes_and_errors_as_json(house: House, args: list[str], code: int):
    assert house.paika(*args).code == code
    own = args.index("--") if "--" in args else len(args)
    said = house.paika(*args[:own], "--json", *args[own:])
    assert said.code == code
    if code:
        refusal = said.refusal
        assert refusal["exit_code"] == code
        assert refusal["code"]
        assert refusal["message"]
        assert said.out == ""


def test_nobody_in_particular_is_refused(house: House):
    said = house.paika("task", "ls", "--json", by=None)
    assert (said.code, said.refusal["code"], said.refusal["status"]) == (4, "access.not_authenticated", 401)


def test_usage_faults_are_said_in_chinese(house: House):
    assert "没有命令 bogus" in house.paika("bogus", lang="zh").err
    assert "没有选项 --bogus" in house.paika("task", "ls", "--bogus", lang="zh").err
    assert "缺少 TASK" in house.paika("task", "show", lang="zh").err


def test_a_problem_of_this_machine_is_said_like_any_other(house: House):
    house.local.fails = BadValue(field="port", value="x", allowed="1..65535")
    said = house.paika("server", "start", "--port", "1", "--json")
    assert said.code == 2
    assert said.refusal["code"] == "value.bad"
    assert said.refusal["facts"] == {"value": "x", "allowed": "1..65535"}


def test_a_process_of_its_own(house: House):
    house.lab.submit("mia", name="训练")
    ran = house.outside("task", "ls")
    assert ran.returncode == 0
    assert "训练" in ran.stdout.decode()
    assert b"\x1b" not in ran.stdout
    ran = house.outside("--json", "why", "t-99")
    assert ran.returncode == 4
    assert json.loads(ran.stderr)["code"] == "noun.not_found"


def test_an_ascii_terminal_gets_escapes_instead_of_a_fault(house: House):
    house.lab.submit("mia", name="训练")
    ran = house.outside("task", "ls", PYTHONIOENCODING="ascii", PAIKA_LANG="en")
    assert ran.returncode == 0
    assert b"\\u8bad\\u7ec3" in ran.stdout


def test_completion_offers_verbs(house: House):
    ran = house.outside(
        _PAIKA_COMPLETE="complete_bash",
        COMP_WORDS="paika task ",
        COMP_CWORD="2",
        _TYPER_COMPLETE_ARGS="paika task ",
    )
    assert {"ls", "why", "cancel"} <= set(ran.stdout.decode().split())


def test_help_loads_no_server_and_no_client():
    code = (
        "import sys\nimport paika.interfaces.cli.app as app\napp._built(None, app.Lang.ZH)\n"
        "import paika.interfaces.client\n"
        "print([m for m in ('fastapi', 'starlette', 'sqlalchemy', 'uvicorn', 'httpx', 'numpy') if m in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, cwd=ROOT
    )
    assert ran.stdout.strip() == "[]"


def test_it_is_built_from_any_local_commands():
    assert build_cli(ThisPretence()).info.name == "paika"
