"""The house keeps its shape: sizes, names, docstrings, nothing of the machine it was made on, a light start.

The limits are a ratchet: they may go down, and go up only with a decision record.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/paika"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
Function = ast.FunctionDef | ast.AsyncFunctionDef

FILE_LINES = {"median": 120, "p95": 400, "most": 500}
FUNCTION_LINES = {"median": 10, "p95": 40, "most": 70}
BANNED_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "models", "types"}
TEXT_SUFFIXES = {
    ".py",
    ".md",
    ".toml",
    ".txt",
    ".in",
    ".yaml",
    ".yml",
    ".json",
    ".html",
    ".css",
    ".js",
    ".sh",
    ".csv",
    "",
}
# Put together here, so that this file does not name what it forbids.
MACHINE = re.compile(
    "|".join(("/" + "root/", "/" + "work/", r"\bpypi" + r"\.org", "registry" + r"\.npmjs", "files" + r"\.pythonhosted"))
)
HEAVY = ("fastapi", "starlette", "sqlalchemy", "uvicorn", "boto3", "pynvml", "jinja2")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def file_lines() -> dict[str, int]:
    return {named(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}


def function_lines() -> dict[str, int]:
    found: dict[str, int] = {}
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                found[f"{named(path)}:{node.lineno} {node.name}"] = (node.end_lineno or node.lineno) - node.lineno + 1
    return found


@pytest.mark.parametrize(
    ("sizes", "limits"), [(file_lines(), FILE_LINES), (function_lines(), FUNCTION_LINES)], ids=["files", "functions"]
)
def test_sizes_stay_small(sizes: dict[str, int], limits: dict[str, int]):
    in_order = sorted(sizes.values())
    assert len(in_order) > 100
    too_long = {name: lines for name, lines in sizes.items() if lines > limits["most"]}
    assert too_long == {}
    assert median(in_order) <= limits["median"]
    longest = sorted(sizes.items(), key=lambda item: -item[1])[: len(in_order) // 20 + 1]
    assert in_order[int(0.95 * len(in_order))] <= limits["p95"], longest


def test_no_module_is_named_after_nothing():
    names = {named(path): set(path.relative_to(PACKAGE).with_suffix("").parts) for path in SOURCES}
    assert [path for path, parts in names.items() if parts & BANNED_NAMES] == []


def public(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, ast.ClassDef | Function]]:
    """Public classes and functions of a module, and public methods of public classes."""
    for node in body:
        if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_"):
            yield f"{owner}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{owner}{node.name}.")


def test_every_module_class_and_function_says_what_it_is():
    silent = [named(path) for path, tree in TREES.items() if not ast.get_docstring(tree)]
    for path, tree in TREES.items():
        silent += [f"{named(path)} {name}" for name, node in public(tree.body) if not ast.get_docstring(node)]
    assert silent == []


def tracked_files() -> list[Path]:
    """What goes to others. Needs git, as a release made elsewhere has no such list."""
    try:
        told = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git checkout")
    return [ROOT / name for name in told.decode().split("\0") if name and (ROOT / name).is_file()]


def test_nothing_of_the_machine_it_was_made_on_goes_to_others():
    found = []
    for path in tracked_files():
        if path.suffix in TEXT_SUFFIXES:
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
                if MACHINE.search(line):
                    found.append(f"{named(path)}:{number} {line.strip()[:100]}")
    assert found == []


@pytest.mark.parametrize("part", ["run", "build", "dev"])
def test_requirements_are_pinned_by_hash_and_name_no_host(part: str):
    text = (ROOT / f"requirements/{part}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text
    pins = [line for line in text.replace("\\\n", " ").splitlines() if line and not line.lstrip().startswith("#")]
    assert pins
    loose = [
        pin[:60]
        for pin in pins
        if not re.match(r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==\S+ ", pin) or "--hash=sha256:" not in pin
    ]
    assert loose == []


def test_the_front_end_lock_names_no_place():
    assert '"resolved"' not in (ROOT / "tools/frontend/package-lock.json").read_text(encoding="utf-8")


def test_the_command_line_starts_without_the_server():
    ask = f"import sys, paika.wiring.main; print([m for m in {HEAVY!r} if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == "[]"
