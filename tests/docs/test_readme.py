"""What the pages tell people to type can be typed, and what they point at is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer
from tests.interfaces.cli.house import ThisPretence

from paika.adapters.inventory_yaml.reader import read_inventory
from paika.interfaces.cli.app import build_cli
from paika.wiring.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]
READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
PAGES = [*READMES, *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def fenced(path: Path, language: str) -> list[str]:
    return [text for tongue, text in FENCE.findall(path.read_text(encoding="utf-8")) if tongue == language]


def commands() -> list[tuple[str, str]]:
    lines = [(path, line) for path in PAGES for text in fenced(path, "sh") for line in text.splitlines()]
    return [(str(path.relative_to(ROOT)), line) for path, line in lines if line.startswith("paika ")]


def parsed(words: list[str]) -> str:
    """Read a command line without doing it; the name of the command. Raises what the parser raises."""
    command = typer.main.get_command(build_cli(ThisPretence()))
    context = command.make_context("paika", words)
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, rest, parent=context)
    return context.command_path


def typed(line: str) -> list[str]:
    """The words of a line as a shell would hand them over."""
    words = shlex.split(line, comments=True)
    return words[1 : words.index("<")] if "<" in words else words[1:]


@pytest.mark.parametrize(("page", "line"), commands())
def test_a_command_can_be_typed(page: str, line: str):
    assert parsed(typed(line)).startswith("paika ")


@pytest.mark.parametrize(
    "line", ["paika sumbit --name x", "paika submit --nmae x", "paika quota set nlp", "paika task"]
)
def test_a_command_that_is_none_would_be_noticed(line: str):
    with pytest.raises((typer.TyperException, SystemExit)):
        parsed(typed(line))


def test_the_readmes_tell_the_same():
    """The same commands but for names, the same links but for the language, the same sections."""
    english, chinese = (path.read_text(encoding="utf-8") for path in READMES)
    verbs = [
        [re.split(r" -|\s*<", line)[0] for line in re.findall(r"^(?:paika|make) .*", text, re.M)]
        for text in (english, chinese)
    ]
    assert [verb.split()[:3] for verb in verbs[0]] == [verb.split()[:3] for verb in verbs[1]]
    links = [
        {link for link in LINK.findall(text) if link.startswith("docs/") and "images" not in link}
        for text in (english, chinese)
    ]
    assert links[0] == links[1]
    for pattern in (r"^## ", r"^- ", r"^\| ", r"^\d\. "):
        assert len(re.findall(pattern, english, re.M)) == len(re.findall(pattern, chinese, re.M)), pattern


@pytest.mark.parametrize("page", READMES, ids=lambda path: path.name)
def test_make_targets_exist(page: Path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"\bmake ([a-z-]+)", page.read_text(encoding="utf-8")))
    assert {"demo", "test"} <= targets
    assert targets <= set(re.findall(r"^([a-z-]+):", makefile, re.M))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(page: Path):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    missing = []
    for link in LINK.findall(text):
        target = unquote(link.partition("#")[0])
        if target and "://" not in target and not (page.parent / target).exists():
            missing.append(link)
    assert missing == []


def test_every_page_is_reached_from_the_index():
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    reached = {(ROOT / "docs" / link).resolve() for link in LINK.findall(index)}
    assert [str(page) for page in PAGES if page not in reached and page.name != "index.md"] == []


def test_the_inventory_on_the_page_is_a_good_one():
    page = ROOT / "docs/howto/inventory.md"
    inventory = read_inventory(fenced(page, "yaml")[0], "Asia/Shanghai")
    assert [node.id for node in inventory.nodes] == ["gpu-a1", "gpu-h1", "v1"]
    assert len(inventory.cards) == 14
    assert [person.id for person in inventory.people] == ["zhangsan", "lisi"]


@pytest.mark.parametrize("name", ["run-as-a-service", "people-and-tokens", "datasets-and-probes"])
def test_the_settings_on_the_pages_are_good_ones(name: str, tmp_path: Path):
    (text,) = fenced(ROOT / f"docs/howto/{name}.md", "yaml")
    (file := tmp_path / "settings.yaml").write_text(text, encoding="utf-8")
    assert load_settings(file, {}) != Settings()


def test_the_settings_page_names_them_all():
    (text,) = fenced(ROOT / "docs/howto/run-as-a-service.md", "yaml")
    assert set(re.findall(r"^([a-z_0-9]+):", text, re.M)) | {"s3"} == set(Settings.__dataclass_fields__)


def test_a_restart_of_the_service_spares_the_tasks():
    (unit,) = fenced(ROOT / "docs/howto/run-as-a-service.md", "ini")
    assert "\nKillMode=process\n" in unit
    assert "\nOOMPolicy=continue\n" in unit
