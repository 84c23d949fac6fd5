"""A replay as a page: what was played, tables of all rules, and plots. No script, nothing from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING

from paika.interfaces.report.plot import Axis, Points, even_ticks, line_plot, logarithmic, swatch
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import span
from paika.simulation.curves import cards_over_time, queue_over_time, wait_curve
from paika.simulation.report import spread

if TYPE_CHECKING:
    from paika.services.replay_trace import Comparison
    from paika.simulation.report import Report

DASH = "—"
PIECES = 240
MOST_PARTS = 40
TIMES = ((60, "1 min"), (3600, "1 h"), (86_400, "1 d"), (864_000, "10 d"))

Words = Callable[..., str]
Figure = tuple[str, Callable[["Report"], float | None], str]  # word, figure, unit: s, %, or a plain number
FIGURES: tuple[Figure, ...] = (
    ("mean_wait_s", lambda one: one.total.mean_wait_s, "s"),
    ("p95_wait_s", lambda one: one.total.p95_wait_s, "s"),
    ("card_wait_s", lambda one: one.total.card_wait_s, "s"),
    ("slowdown", lambda one: one.total.slowdown, ""),
    ("allocation", lambda one: one.allocation, "%"),
    ("idle", lambda one: one.idle, "%"),
    ("oversized", lambda one: one.oversized, "%"),
    ("inversions", lambda one: one.inversions, ""),
    ("makespan_s", lambda one: one.makespan_s, "s"),
    ("stops", lambda one: one.stops, ""),
    ("unserved", lambda one: one.left, ""),
)
STYLE = """
:root { color-scheme: light dark; --bg: #fff; --ink: #14181c; --soft: #56616c; --line: #dfe3e7;
  --c0: #00724f; --c1: #0a63b0; --c2: #b3420b; --c3: #7b3fa0;
  --c4: #8a6d00; --c5: #b0236f; --c6: #3f5a66; --c7: #5b3a1e; }
@media (prefers-color-scheme: dark) { :root { --bg: #0e1113; --ink: #e9ecef; --soft: #9aa5af; --line: #2b3238;
  --c0: #33c18c; --c1: #6fb4f5; --c2: #f08a52; --c3: #c496e6;
  --c4: #e0c04a; --c5: #f287bd; --c6: #9db7c4; --c7: #cfa985; } }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; background: var(--bg); color: var(--ink);
  font: 15px/1.5 system-ui, "Noto Sans CJK SC", "Microsoft YaHei", sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } .wide { overflow-x: auto; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; }
dt { color: var(--soft); } dd { margin: 0; }
svg { width: 100%; max-width: 60rem; height: auto; } svg text { fill: var(--soft); font-size: 11px; }
.grid { stroke: var(--line); fill: none; } .line { fill: none; stroke-width: 2; }
.swatch { width: 2.2rem; height: .5rem; vertical-align: middle; margin-right: .4rem; } .synthetic { font-weight: 600; }
footer, .note { color: var(--soft); }
""" + "".join(f".s{n} {{ stroke: var(--c{n}); }} " for n in range(8))


def report_page(found: Comparison, lang: Lang, t: Words) -> str:
    """The whole page in one language. `t` finds words; figures nobody knows are dashes."""
    page = _Page(found, lang, t)
    title = escape(t("replay.page.title", name=found.given.name))
    return (
        f'<!doctype html><html lang="{lang.value}"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>{title}</title><style>{STYLE}</style></head>'
        f"<body><h1>{title}</h1>{page.given()}{page.rules()}{page.plots()}{page.parts()}{page.meaning()}</body></html>\n"
    )


def compared(found: Comparison, lang: Lang, t: Words) -> list[str]:
    """For each further rule, whether its mean wait differs at all from the first one's; nothing from a single order."""
    lines = []
    for rule in list(found.reports)[1:]:
        one = found.difference(rule)
        if one is not None and one.error is not None:
            word = "replay.noise" if one.noise else "replay.longer" if one.mean > 0 else "replay.shorter"
            by, error = span(round(abs(one.mean)), lang), span(round(one.error), lang)
            lines.append(t(word, rule=rule, base=found.base, by=by, error=error))
    return lines


class _Page:
    def __init__(self, found: Comparison, lang: Lang, t: Words) -> None:
        self.found, self.lang, self.t = found, lang, t

    def given(self) -> str:
        """What was played, and what of it is drawn by chance."""
        given, question, t = self.found.given, self.found.question, self.t
        offered = DASH if given.offered is None else f"{given.offered:.0f} %"
        lengths = t(f"replay.lengths.{question.lengths}", known=given.known_lengths, all=given.works)
        rows = [
            (t("replay.jobs"), t("replay.jobs.of", works=given.works, jobs=given.jobs)),
            (t("cli.col.cards"), str(given.cards)),
            (t("replay.window"), span(given.window_s, self.lang)),
            (t("replay.offered"), offered),
            (t("replay.lengths"), lengths),
            (t("replay.orders"), str(question.orders)),
        ]
        drawn = [name for name in question.synthetic if name != "lengths"]
        rows += [(t(f"replay.{name}"), t(f"replay.{name}.synthetic")) for name in drawn]
        if given.left:
            rows.append((t("replay.never_fit"), str(len(given.left))))
        rows += [(t(f"replay.flaw.{kind}"), str(count)) for kind, count in given.counted.items()]
        listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows)
        warned = f'<p class="synthetic">{escape(t("replay.page.synthetic"))}</p>' if question.synthetic else ""
        return f"{warned}<dl>{listed}</dl>"

    def rules(self) -> str:
        """All figures of all rules, means over orders ± deviation."""
        heads = ["", *self.found.reports]
        rows = [
            [self.t(f"replay.{name}"), *(self._figure(map(figure, ones), unit) for ones in self.found.reports.values())]
            for name, figure, unit in FIGURES
        ]
        told = "".join(f"<p>{escape(line)}</p>" for line in compared(self.found, self.lang, self.t))
        return f"<h2>{escape(self.t('replay.page.rules'))}</h2>{_table(heads, rows)}{told}"

    def _figure(self, values: Iterable[float | None], unit: str) -> str:
        found = spread(list(values))
        if found is None:
            return DASH
        said = self._value(found.mean, unit)
        return f"{said} ± {self._value(found.deviation, unit)}" if found.deviation else said

    def _value(self, value: float | None, unit: str) -> str:
        if value is None:
            return DASH
        if unit == "s":
            return span(round(value), self.lang)
        return f"{value:.1f} %" if unit == "%" else f"{value:.1f}".removesuffix(".0")

    def plots(self) -> str:
        """Waits, cards in use and queue, of the first order."""
        played = {name: one.served for name, one in self.found.played.items()}
        until = max((one.ended_s for served in played.values() for one in served), default=0)
        if not until:
            return ""
        keys = "".join(f"<span>{swatch(n)}{escape(name)}</span> " for n, name in enumerate(played))
        waits = {name: wait_curve(served) for name, served in played.items()}
        longest = max(wait for points in waits.values() for wait, _ in points)
        ticks = [(0.0, "0"), (1.0, "1 s"), *((float(at), words) for at, words in TIMES if at <= longest)]
        percent = Axis("", [(p, f"{p} %") for p in (0, 25, 50, 75, 100)], 100)
        wait = Axis(self.t("replay.page.wait"), ticks, max(longest, 1), logarithmic)
        cards = {name: cards_over_time(served, PIECES, until) for name, served in played.items()}
        queue = {name: queue_over_time(served, PIECES, until) for name, served in played.items()}
        drawn = (
            self._plot("replay.page.waits", waits, wait, percent),
            self._over_time("replay.page.cards", cards, until, self.found.given.cards),
            self._over_time("replay.page.queue", queue, until, None),
        )
        return f"<p>{keys}</p>{''.join(drawn)}"

    def _over_time(self, word: str, lines: Mapping[str, Points], until: int, most: int | None) -> str:
        top = most or max((value for points in lines.values() for _, value in points), default=0) or 1
        days = even_ticks(until / 86_400, lambda day: f"{day:g}", 8)
        x = Axis(self.t("replay.page.days"), [(day * 86_400, words) for day, words in days], until)
        return self._plot(word, lines, x, Axis("", even_ticks(top, lambda value: f"{value:g}"), top))

    def _plot(self, word: str, lines: Mapping[str, Points], x: Axis, y: Axis) -> str:
        title = self.t(word)
        return f"<h2>{escape(title)}</h2>{line_plot(title, lines, x, y)}"

    def parts(self) -> str:
        """Mean waits by tier, cards and team, in the first order."""
        made = []
        for part in ("tiers", "sizes", "teams"):
            by_rule = {name: getattr(reports[0], part) for name, reports in self.found.reports.items()}
            names = list(dict.fromkeys(name for parts in by_rule.values() for name in parts))
            if len(names) < 2:
                continue
            heads = ["", self.t("replay.works"), *by_rule]
            rows = []
            for name in names[:MOST_PARTS]:
                there = [parts.get(name) for parts in by_rule.values()]
                works = next((str(one.works) for one in there if one), DASH)
                waits = (self._value(one.mean_wait_s, "s") if one else DASH for one in there)
                rows.append([self.t(f"tier.{name}") if part == "tiers" else name or DASH, works, *waits])
            more = len(names) - MOST_PARTS
            note = f'<p class="note">{escape(self.t("cli.more_in_json", count=more))}</p>' if more > 0 else ""
            made.append(f"<h2>{escape(self.t(f'replay.by.{part}'))}</h2>{_table(heads, rows)}{note}")
        return "".join(made)

    def meaning(self) -> str:
        """What each figure is."""
        return f"<footer><p>{escape(self.t('replay.page.meaning'))}</p></footer>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
