"""The files that pages are made of: those of others as they were made, nothing from elsewhere, nothing inline."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from paika.interfaces.board.look import CSP, HERE, STATIC

ROOT = Path(__file__).parents[3]
VENDOR = STATIC / "vendor"
MANIFEST = json.loads((VENDOR / "manifest.json").read_text("utf-8"))
LOCK = json.loads((ROOT / "tools/frontend/package-lock.json").read_text("utf-8"))
TEMPLATES = sorted((HERE / "templates").glob("*.html"))


def test_files_of_others_are_the_ones_that_were_copied():
    assert {path.name for path in VENDOR.iterdir()} == {*MANIFEST, "manifest.json"}
    for name, line in MANIFEST.items():
        digest = base64.b64encode(hashlib.sha384((VENDOR / name).read_bytes()).digest()).decode()
        assert line["integrity"] == f"sha384-{digest}", name


def test_they_are_the_pinned_versions_with_a_licence_beside():
    for package in {line["package"] for line in MANIFEST.values()}:
        locked = LOCK["packages"][f"node_modules/{package}"]
        assert {line["version"] for line in MANIFEST.values() if line["package"] == package} == {locked["version"]}
        assert (VENDOR / f"{package}.LICENSE").read_text("utf-8").strip()


def test_the_lock_file_names_no_registry():
    assert "resolved" not in json.dumps(LOCK)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_brings_script_or_style_of_its_own(path: Path):
    text = path.read_text("utf-8")
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|hx-on|javascript:", text)
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)
    assert "|safe" not in text


def test_the_policy_allows_no_inline_code_and_no_other_host():
    assert "unsafe" not in CSP
    assert "default-src 'none'" in CSP
    assert not re.search(r"https?:|\*", CSP)


def test_styles_and_scripts_ask_for_nothing_from_elsewhere():
    for path in [*(STATIC / "css").glob("*.css"), *(STATIC / "js").glob("*.js")]:
        assert not re.search(r"https?://|@import|url\(", path.read_text("utf-8")), path.name
