"""The page of a replay: in both languages, from nothing outside, with dashes for what nobody knows."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.simulation.loads import ONE_NODE, job

from paika.domain.policy import Policy
from paika.domain.trace import Flaw, FlawKind, Trace
from paika.interfaces.cli.language import Tongue
from paika.interfaces.report.files import ReportNotWritten, made_ready, write_report
from paika.interfaces.report.page import compared, report_page
from paika.interfaces.wording.catalogue import Lang
from paika.services.replay_trace import Comparison, Lengths, Question, replay_trace
from paika.simulation.baselines import Rule

JOBS = tuple(job(f"j{n}", 40 * n, 100 + n, 1 + n % 8, team="<b>x</b>" if n % 2 else "y & z") for n in range(12))
TRACE = Trace("<script>alert(1)</script>.csv", JOBS, (Flaw(3, FlawKind.VALUE),))
ASKED = Question(ONE_NODE, (Rule.FIFO, Rule.EASY), Lengths.EXACT)
EMPTY = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "path"}


def found(trace: Trace = TRACE, **asked: object) -> Comparison:
    return replay_trace(trace, replace(ASKED, **asked), {"paika": Policy()})  # type: ignore[arg-type]


class Balanced(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in EMPTY:
            assert self.open.pop() == tag


@pytest.mark.parametrize("lang", Lang)
def test_a_page(lang: Lang):
    page = report_page(found(orders=2), lang, Tongue(lang).t)
    reader = Balanced()
    reader.feed(page)
    assert reader.open == []
    assert "script" not in reader.seen
    assert "b" not in reader.seen
    assert page.count('class="line') == 3 * 3 + 3
    assert not re.search(r"(src|href)=|url\(|@import|\bnan\b|\binf\b|>None", page, re.IGNORECASE)
    for word in ("paika", "fifo", "easy", "y &amp; z", "&lt;b&gt;x", Tongue(lang).t("replay.by.sizes")):
        assert word in page


def test_what_is_drawn_by_chance_is_called_synthetic():
    t = Tongue(Lang.EN).t
    assert 'class="synthetic"' not in report_page(found(), Lang.EN, t)
    page = report_page(found(tier_seed=1, readiness_seed=2, vram_seed=3), Lang.EN, t)
    assert page.count("ynthetic:") == 3
    assert '<p class="synthetic">' in page


def test_rules_are_compared_order_by_order():
    t = Tongue(Lang.EN).t
    played = found(orders=2)
    fifo, easy = compared(played, Lang.EN, t)
    assert re.fullmatch(r"fifo waits .+ ± 0 s longer than paika on average", fifo)
    assert fifo in report_page(played, Lang.EN, t)
    doubtful = replace(played.reports["paika"][0].total, mean_wait_s=0.0)
    reports = {
        **played.reports,
        "easy": (replace(played.reports["easy"][0], total=doubtful), played.reports["easy"][1]),
    }
    assert "within noise" in compared(replace(played, reports=reports), Lang.EN, t)[1] != easy
    assert compared(found(), Lang.EN, t) == []


def test_of_nothing_there_are_dashes():
    page = report_page(found(Trace("empty", ())), Lang.EN, Tongue(Lang.EN).t)
    assert page.count("<td>—</td>") > 10
    assert "<svg" not in page


def test_files(tmp_path: Path):
    words = {lang: Tongue(lang).t for lang in Lang}
    written = write_report(made_ready(tmp_path / "a/b"), found(), {"x": None}, words)
    assert sorted(path.name for path in written) == ["replay.en.html", "replay.json", "replay.zh.html"]
    assert json.loads((tmp_path / "a/b/replay.json").read_text()) == {"x": None}
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportNotWritten):
        made_ready(tmp_path / "file")
    with pytest.raises(ReportNotWritten):
        write_report(tmp_path / "away", found(), {}, words)
