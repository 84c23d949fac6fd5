"""`paika replay`: an old load played again under the planner, and under plain rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, Param, arg, opt, switch
from paika.interfaces.cli.language import Tongue
from paika.interfaces.cli.sheet import Column, Row, Sheet
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import span

if TYPE_CHECKING:
    from paika.services.replay_trace import Comparison, Given
    from paika.simulation.report import Figures, Report, Spread

DASH = "—"
SHOWN_FLAWS = 5
MOST_PARTS = 20
Told = dict[str, Any]


def replay(call: Call, *, trace: str, dry_run: bool, report: str | None, **asked: Any) -> Answer:
    """Play a trace again on this machine; no server is asked."""
    from paika.interfaces.report.files import made_ready, write_report

    folder = None if report is None else made_ready(Path(report))
    progress = Ticker(call) if call.err.terminal and not call.json else None
    try:
        found = call.local.replay(trace=Path(trace), dry_run=dry_run, progress=progress, **asked)
    finally:
        if progress:
            progress.done()
    figures = told(found)
    written = []
    if folder is not None and found.reports:
        written = write_report(folder, found, figures, {lang: Tongue(lang).t for lang in Lang})
    return Answer(figures, lambda sheet: View(call, sheet, found, written).show())


class Ticker:
    """How far it is, on one line of a terminal."""

    def __init__(self, call: Call) -> None:
        self.call, self.last = call, ""

    def __call__(self, rule: str, order: int, done: int, total: int) -> None:
        said = self.call.t("replay.progress", rule=rule, order=order + 1, percent=100 * done // total)
        if said != self.last:
            self.call.err.raw(f"\r\x1b[K{said}")
            self.last = said

    def done(self) -> None:
        """The line is empty again."""
        self.call.err.raw("\r\x1b[K")


def told(found: Comparison) -> Told:
    """For programs: seconds and percent, rounded to a tenth, null where nothing is known."""
    given = found.given
    return {
        "trace": given.name,
        "cluster_cards": given.cards,
        "jobs": given.jobs,
        "played": given.works,
        "never_fit": list(given.left),
        "flaws": [{**asdict(flaw), "kind": flaw.kind.value, "lost": flaw.lost} for flaw in given.flaws],
        "submit_window_s": given.window_s,
        "offered_percent": _tenth(given.offered),
        "lengths": found.question.lengths.value,
        "known_lengths": given.known_lengths,
        "tiers": "trace" if found.question.tier_seed is None else "synthetic",
        "synthetic": list(found.question.synthetic),
        "orders": found.question.orders,
        "every_s": found.question.every_s,
        "rules": {name: [_report(one) for one in reports] for name, reports in found.reports.items()},
        "spread": {name: _spreads(reports) for name, reports in found.reports.items()},
        "differences": _differences(found),
    }


def _tenth(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _report(one: Report) -> Told:
    def rounded(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: rounded(inner) for name, inner in value.items()}
        return round(value, 3) if isinstance(value, float) else value

    made: Told = rounded(asdict(one))
    return made


def _differences(found: Comparison) -> Told:
    """Mean waits against the first rule's."""
    told = {}
    for rule in list(found.reports)[1:]:
        one = found.difference(rule)
        told[rule] = one and {"mean_wait_s": _tenth(one.mean), "error_s": _tenth(one.error), "within_noise": one.noise}
    return told


FIGURES: dict[str, Callable[[Report], float | None]] = {
    "mean_wait_s": lambda one: one.total.mean_wait_s,
    "p95_wait_s": lambda one: one.total.p95_wait_s,
    "card_wait_s": lambda one: one.total.card_wait_s,
    "slowdown": lambda one: one.total.slowdown,
    "allocation": lambda one: one.allocation,
    "idle": lambda one: one.idle,
    "oversized": lambda one: one.oversized,
    "inversions": lambda one: one.inversions,
    "makespan_s": lambda one: one.makespan_s,
}
WAITS = ("mean_wait_s", "p95_wait_s", "card_wait_s", "slowdown", "inversions")
CARDS = ("allocation", "idle", "oversized", "makespan_s")
PERCENTS = ("allocation", "idle", "oversized")
SPANS = ("mean_wait_s", "p95_wait_s", "card_wait_s", "makespan_s")


def spread_of(reports: tuple[Report, ...], figure: str) -> Spread | None:
    """One figure over all orders."""
    from paika.simulation.report import spread

    return spread([FIGURES[figure](one) for one in reports])


def _spreads(reports: tuple[Report, ...]) -> Told:
    found = {name: spread_of(reports, name) for name in FIGURES}
    return {
        name: None if one is None else {k: _tenth(v) for k, v in asdict(one).items()} for name, one in found.items()
    }


class View:
    """For people: what is given, how each rule did, and for whom."""

    def __init__(self, call: Call, sheet: Sheet, found: Comparison, written: Sequence[Path]) -> None:
        self.call, self.sheet, self.found, self.written = call, sheet, found, written
        self.t = call.t

    def show(self) -> None:
        """All of it."""
        self._given(self.found.given)
        if not self.found.reports:
            self.sheet.line((self.t("replay.dry"), "yellow"))
            return
        self._rules()
        first = {name: reports[0] for name, reports in self.found.reports.items()}
        for part in ("tiers", "sizes", "teams"):
            self._parts(part, {name: getattr(one, part) for name, one in first.items()})
        for path in self.written:
            self.sheet.line((self.t("replay.written", path=path), "dim"))

    def _given(self, given: Given) -> None:
        question, t = self.found.question, self.t
        self.sheet.line((given.name, "bold"))
        self.sheet.facts(
            (t("replay.jobs"), t("replay.jobs.of", works=given.works, jobs=given.jobs)),
            (t("cli.col.cards"), str(given.cards)),
            (t("replay.window"), self._span(given.window_s)),
            (t("replay.offered"), DASH if given.offered is None else f"{given.offered:.0f} %"),
            (t("replay.lengths"), t(f"replay.lengths.{question.lengths}", known=given.known_lengths, all=given.works)),
            (t("replay.tiers"), "" if question.tier_seed is None else t("replay.tiers.synthetic")),
            (t("replay.readiness"), "" if question.readiness_seed is None else t("replay.readiness.synthetic")),
            (t("replay.vram"), "" if question.vram_seed is None else t("replay.vram.synthetic")),
            (t("replay.orders"), "" if question.orders == 1 else str(question.orders)),
            (t("replay.never_fit"), (self._few(given.left), "yellow") if given.left else ""),
        )
        for kind, count in given.counted.items():
            lines = [str(flaw.line) for flaw in given.flaws if flaw.kind is kind]
            style = "yellow" if next(flaw for flaw in given.flaws if flaw.kind is kind).lost else "dim"
            self.sheet.line(
                (t("replay.flaw", what=t(f"replay.flaw.{kind}"), count=count, lines=self._few(lines)), style)
            )

    def _few(self, names: tuple[str, ...] | list[str]) -> str:
        more = f" … {len(names)}" if len(names) > SHOWN_FLAWS else ""
        return ", ".join(names[:SHOWN_FLAWS]) + more

    def _span(self, seconds: float | None) -> str:
        return DASH if seconds is None else span(round(seconds), self.call.lang)

    def _rules(self) -> None:
        """Waits, then what became of the cards: two tables, so that both fit a terminal of 80 columns."""
        for figures in (WAITS, CARDS):
            self.sheet.line("")
            heads = [Column(self.t("replay.rule"))]
            heads += [Column(self.t(f"replay.{name}"), right=True, loose=True) for name in figures]
            if figures is CARDS:
                heads += [Column(self.t(f"replay.{name}"), right=True) for name in ("stops", "unserved")]
            self.sheet.table(heads, [self._rule(name, figures) for name in self.found.reports])
        from paika.interfaces.report.page import compared

        for line in compared(self.found, self.call.lang, self.t):
            self.sheet.line((line, "dim"))

    def _rule(self, name: str, figures: tuple[str, ...]) -> Row:
        reports = self.found.reports[name]
        cells = [self._figure(figure, spread_of(reports, figure)) for figure in figures]
        if figures is CARDS:
            counts = (sum(getattr(one, what) for one in reports) for what in ("stops", "left"))
            cells += [str(count) if count else "" for count in counts]
        return Row((name, *cells))

    def _figure(self, figure: str, found: Spread | None) -> str:
        if found is None:
            return DASH
        if figure in SPANS:
            said, apart = self._span(found.mean), self._span(found.deviation)
        else:
            said, apart = f"{found.mean:.1f}", f"{found.deviation or 0:.1f}"
        if figure in PERCENTS:
            said += " %"
        if figure == "inversions":
            said = f"{found.mean:.0f}"
        return said if not found.deviation else f"{said} ± {apart}"

    def _parts(self, part: str, by_rule: dict[str, dict[str, Figures]]) -> None:
        """Mean waits of parts of the jobs, in the file's own order; nothing where there is only one part."""
        names = list(next(iter(by_rule.values())))
        if len(names) < 2:
            return
        self.sheet.line("")
        heads = [Column(self.t(f"replay.by.{part}"), loose=True), Column(self.t("replay.works"), right=True)]
        heads += [Column(rule, right=True) for rule in by_rule]
        rows = []
        for name in names[:MOST_PARTS]:
            found = [parts.get(name) for parts in by_rule.values()]
            works = str(found[0].works) if found[0] else ""
            waits = (self._span(one.mean_wait_s) if one else DASH for one in found)
            rows.append(Row((self._part(part, name), works, *waits)))
        self.sheet.table(heads, rows)
        if len(names) > MOST_PARTS:
            self.sheet.line((self.t("cli.more_in_json", count=len(names) - MOST_PARTS), "yellow"))

    def _part(self, part: str, name: str) -> str:
        return self.t(f"tier.{name}") if part == "tiers" else name or DASH


PARAMS = (
    arg("trace", about="cli.arg.trace"),
    Param("cluster", required=True, metavar="64x8:A100-80G", about="cli.opt.cluster"),
    opt("policy", metavar="default,easy", about="cli.opt.replay_policy"),
    opt("against", metavar="fifo,fifo-skip,easy,sjf,qssf"),
    opt("seeds", kind=int),
    opt("jobs", kind=int),
    opt("estimates", metavar="exact|SEED"),
    opt("tiers", kind=int, metavar="SEED", about="cli.opt.synthetic_tiers"),
    opt("readiness", kind=int, metavar="SEED", about="cli.opt.synthetic_readiness"),
    opt("vram", kind=int, metavar="SEED", about="cli.opt.synthetic_vram"),
    opt("every", kind=int, metavar="SECONDS", about="cli.opt.replay_every"),
    switch("absolute"),
    opt("order", metavar="FILE:COLUMN", about="cli.opt.replay_order"),
    opt("zone", metavar="Asia/Shanghai", about="cli.opt.replay_zone"),
    opt("report", metavar="DIR", about="cli.opt.replay_report"),
    switch("dry_run", about="cli.opt.replay_dry_run"),
)
SHORTCUTS = (Command("replay", replay, PARAMS, group="machine"),)
