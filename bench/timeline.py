"""make bench-timeline: how long the timeline takes to redraw in a real browser, 1,000 cards with 5,000 bars.

A synthetic lab behind the real API and board, Chromium without a GPU, a window of 1440 × 900. Each step is one input
as a person makes it (a drag, a turn of the wheel, a key, a scroll); its time runs from the input until the
frame after the one that shows it has begun, so script, style, layout and paint are in it, and up to two
waits of 17 ms for the screen. Baselines in the same run: the same page without cards' bars (what input, frame
and screen cost), and all 5,000 bars drawn anew as plain SVG for each step (what drawing without care costs).
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from statistics import quantiles
from typing import Any
from zoneinfo import ZoneInfo

import uvicorn
from playwright.sync_api import Page, sync_playwright

from paika.adapters.in_memory.engine import InMemoryEngine
from paika.adapters.in_memory.store import InMemoryStore
from paika.domain.access import Scope, Token
from paika.domain.card import Card
from paika.domain.catalogue import CATALOGUE
from paika.domain.node import Node
from paika.domain.person import Person, Role
from paika.domain.plan import Forecast, Plan, PriorityTerms, Wait
from paika.domain.reason import CardsBusy
from paika.domain.records import Change
from paika.domain.run import Run, RunPart, RunState
from paika.domain.task import Program, Task, TaskState, Tier
from paika.domain.team import Team
from paika.interfaces.api.app import build_api
from paika.interfaces.api.context import Context
from paika.interfaces.board.mount import mount_board
from paika.services.live import LiveBox

CARDS = int(os.environ.get("BENCH_CARDS", "1000"))
PER_CARD = int(os.environ.get("BENCH_BARS_PER_CARD", "5"))
STEPS = int(os.environ.get("BENCH_STEPS", "60"))
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
T0 = datetime(2026, 3, 2, 2, 12, tzinfo=UTC)
SECRET = "paika_k1_benchbench"
PEOPLE = 40
WHY = (CardsBusy(1, 1, 0, 0, 1, ()),)
TYPES = CATALOGUE[:4]
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


class StillClock:
    """A clock that stands, so that nothing moves but what the bench moves."""

    def now(self) -> datetime:
        """Always the same."""
        return T0


class CountedIds:
    """Ids in order."""

    def __init__(self) -> None:
        self.given = 0

    def token(self, size_bytes: int = 16) -> str:
        """The next one."""
        self.given += 1
        return f"{self.given:0{2 * size_bytes}x}"


@dataclass(frozen=True, slots=True)
class Chain:
    """The tasks of one card: the first runs, the others are promised one after the other."""

    tasks: list[Task]
    run: Run
    waits: list[Wait]


def chain(row: int, card: Card) -> Chain:
    """What lies on one card; lengths, owners and tiers vary, some ends are unknown."""
    at = T0 - timedelta(minutes=row * 13 % 55)
    tasks, waits = [], []
    for k in range(PER_CARD):
        owner = (row * 7 + k * 11) % PEOPLE
        lasts = 1200 + 900 * ((row * 5 + k * 3) % 13)
        last = k == PER_CARD - 1
        tasks.append(
            Task(
                f"t-{row}-{k}",
                f"sweep-{row:04d}-{k}",
                f"p{owner}",
                "lab",
                T0 - timedelta(hours=1),
                Program(("true",)),
                tier=(Tier.NORMAL, Tier.CORE, Tier.NORMAL, Tier.IDLE)[(row + k) % 4],
                limit_s=None if last and row % 3 == 0 else lasts,
                state=TaskState.WAITING if k else TaskState.RUNNING,
            )
        )
        if k:
            told = Forecast(at, (RunPart(card.node, (card.id,)),), True, at - timedelta(minutes=row % 20))
            waits.append(Wait(tasks[-1].id, row * PER_CARD + k, PriorityTerms(50, 0, 0), WHY, told))
        at += timedelta(seconds=lasts)
    first, began = tasks[0], T0 - timedelta(minutes=row * 13 % 55)
    part = (RunPart(card.node, (card.id,)),)
    run = Run(
        f"r-{row}", first.id, 1, "x", first.owner, "lab", first.tier, part, 100, began, "local",
        limit_s=first.limit_s, state=RunState.RUNNING, started_at=began,
    )  # fmt: skip
    return Chain(tasks, run, waits)


def lab(bars: bool) -> Context:
    """A lab of CARDS cards, eight a node; without `bars` nothing lies on them."""
    store, live = InMemoryStore(), LiveBox()
    admin = Person("p0", "陈管理", Role.ADMIN, ("lab",))
    people = [Person(f"p{n}", f"研究员 {n}", Role.MEMBER, ("lab",)) for n in range(1, PEOPLE)]
    token = Token("k1", "p0", sha256(SECRET.encode()).hexdigest(), (Scope.ADMIN,), T0)
    puts: list[Any] = [*TYPES, Team("lab", "实验室"), admin, *people, token]
    puts += [Node(f"gpu-{n:03d}", ("a", "b", "c")[n % 3], "local") for n in range(-(-CARDS // 8))]
    kinds = [TYPES[n // 8 % len(TYPES)] for n in range(CARDS)]
    cards = [Card(f"GPU-{n:04d}", f"gpu-{n // 8:03d}", n % 8, kinds[n].id, kinds[n].vram_mib) for n in range(CARDS)]
    chains = [chain(n, card) for n, card in enumerate(cards)] if bars else []
    puts += cards
    for one in chains:
        puts += [*one.tasks, one.run]
    store.update(lambda _: Change(puts=tuple(puts)))
    waits = tuple(wait for one in chains for wait in one.waits)
    live.set(plan=Plan(1, 1, T0, (), waits), waits={wait.task: wait for wait in waits})
    clock = StillClock()
    engine = InMemoryEngine(clock, name="local")
    return Context(store, live, clock, CountedIds(), engine, "bench", ZoneInfo("Asia/Shanghai"))


@contextmanager
def served(context: Context) -> Iterator[str]:
    """The address of the lab's board."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = build_api(context)
    mount_board(app, context)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


# Resolves with the milliseconds from just before `act` until the frame after the next one has begun.
TIMED = """async (act) => {
  const begun = performance.now();
  act();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - begun;
}"""
CAREFUL = (
    """async ({steps, what}) => {
  const timed = """
    + TIMED
    + """;
  const scroller = document.querySelector("[data-scroller]");
  const plot = document.querySelector("[data-plot]");
  const box = scroller.getBoundingClientRect();
  const [x, y] = [box.left + box.width * 0.6, box.top + box.height / 2];
  const point = (name, dx) => plot.dispatchEvent(new PointerEvent(name, {
    bubbles: true, cancelable: true, pointerId: 1, isPrimary: true, button: 0, clientX: x + dx, clientY: y }));
  const wheel = (deltaY, extra) => plot.dispatchEvent(new WheelEvent("wheel", {
    bubbles: true, cancelable: true, deltaY, clientX: x, clientY: y, ...extra }));
  const key = (key) => scroller.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, key }));
  scroller.setPointerCapture = () => {};
  const swing = (n) => Math.round(240 * Math.sin(n / 5));
  const acts = {
    pan: (n) => point("pointermove", swing(n)),
    "zoom by wheel": (n) => wheel(n % 24 < 12 ? 120 : -120, { ctrlKey: true }),
    "pan by key": (n) => key(n % 20 < 10 ? "ArrowRight" : "ArrowLeft"),
    "zoom by key": (n) => key(n % 14 < 7 ? "-" : "+"),
    scroll: (n) => { scroller.scrollTop = n * 397 % Math.max(1, scroller.scrollHeight - scroller.clientHeight); },
  };
  if (what === "pan") point("pointerdown", 0);
  const times = [];
  for (let n = 0; n < steps; n += 1) times.push(await timed(() => acts[what](n)));
  if (what === "pan") window.dispatchEvent(new PointerEvent("pointerup", { pointerId: 1 }));
  return times;
}"""
)
NAIVE = (
    """async ({steps, what}) => {
  const timed = """
    + TIMED
    + """;
  const told = await (await fetch("/api/v1/timeline?span=3d", { headers: { "X-Paika": "1" } })).json();
  const svg = document.querySelector("[data-plot]");
  const [width, now] = [svg.clientWidth, (Date.parse(told.at) - Date.parse(told.from)) / 1000];
  const draw = (from, span) => {
    const scene = document.createElementNS(svg.namespaceURI, "g");
    for (const [row, , since, until, , subject] of told.bars) {
      const rect = document.createElementNS(svg.namespaceURI, "rect");
      const text = document.createElementNS(svg.namespaceURI, "text");
      const [left, right] = [since, until ?? since + 3600].map((at) => (at - from) / span * width);
      const place = { x: left, y: row * 24 + 2, width: Math.max(2, right - left), height: 20, fill: "#9bd" };
      for (const name in place) rect.setAttribute(name, place[name]);
      text.setAttribute("x", left + 6);
      text.setAttribute("y", row * 24 + 16);
      text.textContent = told.tasks[subject][1];
      scene.append(rect, text);
    }
    svg.replaceChildren(scene);
  };
  svg.setAttribute("height", told.rows.length * 24);
  svg.style.top = "0";
  const times = [];
  for (let n = 0; n < steps; n += 1) {
    const shift = what === "pan" ? 2000 * Math.sin(n / 5) : 0;
    const span = what === "pan" ? 21600 : 21600 * Math.exp(Math.sin(n / 5));
    times.push(await timed(() => draw(now - span / 10 + shift, span)));
  }
  return times;
}"""
)
FIRST_PAINT = (
    """() => performance.getEntriesByName("timeline:draw", "measure").map((one) => one.startTime + one.duration)"""
)


def opened(page: Page, url: str, span: str = "6h") -> float:
    """The page, opened anew; milliseconds from the navigation until its first data is drawn."""
    page.goto(f"{url}/timeline?span={span}")
    page.locator("#timeline[data-ready]").wait_for()
    return float(page.evaluate(FIRST_PAINT)[-1])


def row(name: str, times: list[float]) -> dict[str, Any]:
    """A line of the table, printed."""
    cuts = quantiles(times, n=100, method="inclusive")
    made = {"step": name, "p50_ms": round(cuts[49], 1), "p95_ms": round(cuts[94], 1), "max_ms": round(max(times), 1)}
    print(f"{name:<34}", *(f"{made[key]:>9}" for key in ("p50_ms", "p95_ms", "max_ms")), flush=True)
    return made


def main() -> int:
    """Print the table and one JSON line. Fails when a redraw takes more than 100 ms at p95."""
    steps = ("pan", "zoom by wheel", "pan by key", "zoom by key", "scroll")
    rows = []
    with (
        served(lab(bars=True)) as full,
        served(lab(bars=False)) as bare,
        sync_playwright() as play,
        play.chromium.launch(executable_path=CHROMIUM, args=ARGS) as browser,
    ):
        pages = {}
        for url in (full, bare):
            pages[url] = browser.new_context(viewport={"width": 1440, "height": 900}, locale="zh-CN").new_page()
            pages[url].request.post(f"{url}/login", form={"secret": SECRET, "next": "/"})
        print(f"{CARDS} cards × {PER_CARD} bars, synthetic; {STEPS} steps each; {browser.browser_type.name} "
              f"{browser.version}, no GPU, {os.cpu_count()} CPUs, Python {platform.python_version()}")  # fmt: skip
        print(f"{'step':<34}", *(f"{key:>9}" for key in ("p50_ms", "p95_ms", "max_ms")))
        first = [opened(pages[full], full) for _ in range(7)]
        rows.append(row("first paint", first))
        rows.append(row("first paint, no bars (baseline)", [opened(pages[bare], bare) for _ in range(7)]))
        for what in steps:
            for url, name in ((full, what), (bare, f"{what}, no bars (baseline)")):
                opened(pages[url], url, "1d" if what == "scroll" else "6h")
                rows.append(row(name, pages[url].evaluate(CAREFUL, {"steps": STEPS, "what": what})))
        for what in ("pan", "zoom"):
            opened(pages[full], full)
            rows.append(
                row(f"{what}, all redrawn (baseline)", pages[full].evaluate(NAIVE, {"steps": STEPS, "what": what}))
            )
    worst = max(one["p95_ms"] for one in rows if one["step"] in steps)
    print(json.dumps({"bench": "timeline", "cards": CARDS, "bars": CARDS * PER_CARD, "p95_ms": worst, "rows": rows}))
    return 0 if worst <= 100 else 1


if __name__ == "__main__":
    raise SystemExit(main())
