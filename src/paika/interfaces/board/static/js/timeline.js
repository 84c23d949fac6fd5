// @ts-check
// The timeline page: which window is shown, the data for it, and every way to move about in it.
import { pictureOf } from "./timeline_data.js";
import { Chart, ROW } from "./timeline_draw.js";
import { startMoves } from "./timeline_moves.js";
import { Teller } from "./timeline_tell.js";
import { SiteTime } from "./timeline_time.js";
import { place } from "./tip.js";

const HOUR = 3600;
const LEAST_S = HOUR;
const MOST_S = 21 * 24 * HOUR;
const NOW_AT = 0.1; // now, or the moment asked for, stands at a tenth
const SPAN_S = 6 * HOUR;
const LADDER = [1, 2, 3, 6, 12, 24, 48, 72, 168, 336, 504].map((hours) => hours * HOUR);
const FETCH_MS = 150;
const ADDRESS_MS = 300;
const SPEAK_MS = 800;
const TICK_MS = 15000;
const WINDOW_FIELDS = ["at", "span"];
const ENDPOINT = "/api/v1/timeline";

export class Timeline {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.one = (/** @type {string} */ what) => /** @type {any} */ (root.querySelector(what));
    this.form = /** @type {HTMLFormElement} */ (document.getElementById("timeline-filters"));
    const time = new SiteTime(root.dataset.zone ?? "UTC", document.documentElement.lang);
    this.teller = new Teller(JSON.parse(root.dataset.words ?? "{}"), time);
    this.chart = new Chart(root, this.teller, root.dataset.me ?? "");
    this.clock = { server: Date.now() / 1000, here: performance.now() };
    this.busy = false; // a drag is going on
    this.due = false;
    /** @type {Record<string, number | undefined>} */
    this.timers = {};
    this.window = { from: 0, span: SPAN_S };
    this.follows = true;
    this.wanted = this.filters(); // what is typed counts when it is done
    this.readAddress();
    new ResizeObserver(() => {
      this.chart.measure();
      this.draw();
    }).observe(this.chart.scroller);
    this.chart.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    root.addEventListener("paika:refresh", () => this.load());
    window.addEventListener("popstate", () => this.back());
    window.setInterval(() => this.tick(), TICK_MS);
    this.startFilters();
    this.startTips();
    startMoves(this);
    this.load();
  }

  /** Seconds since 1970 by the server's clock. */
  now() {
    return this.clock.server + (performance.now() - this.clock.here) / 1000;
  }

  readAddress() {
    const asked = new URLSearchParams(location.search);
    const span = spanOf(asked.get("span") ?? "");
    this.window.span = Math.min(MOST_S, Math.max(LEAST_S, span || SPAN_S));
    const at = Date.parse(asked.get("at") ?? "") / 1000;
    this.follows = Number.isNaN(at);
    this.window.from = (this.follows ? this.now() : at) - this.window.span * NOW_AT;
  }

  /** This window with these filters as an address. */
  address() {
    const asked = new URLSearchParams(this.wanted);
    if (!this.follows) asked.set("at", new Date(Math.round(this.window.from + this.window.span * NOW_AT) * 1000).toISOString().replace(".000Z", "Z"));
    if (this.window.span !== SPAN_S) asked.set("span", String(Math.round(this.window.span)));
    const query = asked.toString();
    return location.pathname + (query ? `?${query}` : "");
  }

  /** The filters as they stand in the form. */
  filters() {
    const asked = new URLSearchParams();
    for (const [name, value] of new FormData(this.form)) {
      if (value !== "" && !WINDOW_FIELDS.includes(name)) asked.append(name, String(value));
    }
    return asked;
  }

  back() {
    const asked = new URLSearchParams(location.search);
    for (const field of /** @type {any} */ (this.form.elements)) {
      if (field.type === "checkbox") field.checked = asked.getAll(field.name).includes(field.value);
      else field.value = asked.get(field.name) ?? "";
    }
    this.readAddress();
    this.wanted = this.filters();
    this.load();
    this.draw();
  }

  startFilters() {
    let typed = false; // what is typed in one go is one step of the way back
    const changed = (/** @type {boolean} */ typing) => {
      window.clearTimeout(this.timers.filter);
      this.wanted = this.filters();
      if (this.address() !== location.pathname + location.search) {
        history[typing && typed ? "replaceState" : "pushState"](null, "", this.address());
        this.links();
        this.load();
      }
      typed = typing;
    };
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("change", () => changed(false));
    this.form.addEventListener("input", (event) => {
      if (/** @type {HTMLInputElement} */ (event.target).type !== "search") return;
      this.later("filter", FETCH_MS * 2, () => changed(true));
    });
  }

  /** @param {string} name @param {number} ms @param {() => void} act */
  later(name, ms, act) {
    window.clearTimeout(this.timers[name]);
    this.timers[name] = window.setTimeout(act, ms);
  }

  /** Look at another window. @param {number} from @param {number} span @param {boolean} [follows] */
  look(from, span, follows = false) {
    this.window.span = Math.min(MOST_S, Math.max(LEAST_S, span));
    this.follows = follows;
    this.window.from = follows ? this.now() - this.window.span * NOW_AT : from;
    this.draw();
    this.later("address", ADDRESS_MS, () => {
      history.replaceState(null, "", this.address());
      this.links();
    });
    this.later("speak", SPEAK_MS, () => (this.one("[data-spoken]").textContent = this.range()));
    const { picture } = this.chart;
    if (picture && (this.window.from < picture.from || this.window.from + this.window.span > picture.to)) {
      this.later("load", FETCH_MS, () => this.load());
    }
  }

  /** @param {number} parts of the span, to the right */
  pan(parts) {
    this.look(this.window.from + parts * this.window.span, this.window.span);
  }

  /** The instant at `part` of the width stays where it is. @param {number} factor @param {number} [part] */
  zoom(factor, part = NOW_AT) {
    const span = Math.min(MOST_S, Math.max(LEAST_S, this.window.span * factor));
    this.look(this.window.from + part * (this.window.span - span), span, this.follows && part === NOW_AT);
  }

  /** To the next round span. @param {1 | -1} way */
  step(way) {
    const { span } = this.window;
    const next = way > 0 ? LADDER.find((one) => one > span * 1.01) : LADDER.findLast((one) => one < span * 0.99);
    if (next) this.zoom(next / span);
  }

  toNow() {
    this.look(0, this.window.span, true);
  }

  draw() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.drawNow();
    });
  }

  drawNow() {
    performance.mark("timeline:draw");
    this.chart.draw(this.window, this.now());
    this.one("[data-range]").textContent = this.range();
    for (const button of this.root.querySelectorAll("[data-span]")) {
      button.setAttribute("aria-pressed", String(Math.abs(Number(button.getAttribute("data-span")) - this.window.span) < 1));
    }
    performance.measure("timeline:draw", "timeline:draw");
  }

  range() {
    const { from, span } = this.window;
    const { time } = this.teller;
    return this.teller.say("timeline.range", { from: time.when(from, this.now()), to: time.when(from + span, this.now()) });
  }

  tick() {
    if (document.hidden || this.busy) return;
    if (this.follows) this.window.from = this.now() - this.window.span * NOW_AT;
    this.draw();
  }

  /** Fetch three windows' width, so that most of panning needs nothing. */
  async load() {
    window.clearTimeout(this.timers.load);
    const { from, span } = this.window;
    const asked = new URLSearchParams(this.wanted);
    if (!this.follows || this.chart.picture) asked.set("from", new Date(Math.floor(from - span) * 1000).toISOString());
    asked.set("span", String(Math.ceil(span * 3) + 2));
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    try {
      const answer = await fetch(`${ENDPOINT}?${asked}`, { headers: { "X-Paika": "1" }, signal: asking.signal });
      if (answer.status === 401) return location.reload();
      if (!answer.ok) throw new Error(String(answer.status));
      this.take(await answer.json());
    } catch {
      if (!asking.signal.aborted) this.fail();
    }
  }

  /** @param {any} told */
  take(told) {
    const first = !this.chart.picture;
    const picture = pictureOf(told);
    this.clock = { server: picture.at, here: performance.now() };
    if (this.follows && !this.busy) this.window.from = this.now() - this.window.span * NOW_AT;
    const focused = document.activeElement?.getAttribute("data-key");
    this.chart.show(picture);
    this.words(picture);
    this.chart.measure();
    this.drawNow();
    if (focused && document.activeElement === document.body) this.chart.scroller.focus();
    if (first) this.root.dataset.ready = "";
    if (this.window.from < picture.from || this.window.from + this.window.span > picture.to) this.load();
  }

  /** @param {import("./timeline_data.js").Picture} picture */
  words(picture) {
    const counts = [this.teller.say("timeline.count", { cards: picture.rows.length, bars: picture.bars })];
    if (picture.cardsLeftOut || picture.barsLeftOut) {
      counts.push(this.teller.say("timeline.left_out", { cards: picture.cardsLeftOut, bars: picture.barsLeftOut }));
    }
    this.one("[data-counts]").textContent = counts.join(this.teller.words["list.dot"]);
    this.one("[data-failed]").hidden = true;
    const none = picture.rows.length === 0;
    const idle = !none && !picture.byRow.some((blocks) => blocks.some((block) => block.of));
    const empty = none ? (picture.cardsLeftOut ? "filter" : "cards") : idle ? "idle" : "";
    for (const box of this.root.querySelectorAll("[data-when]")) {
      /** @type {HTMLElement} */ (box).hidden = box.getAttribute("data-when") !== empty;
    }
    this.chart.scroller.hidden = none;
    this.root.dataset.empty = empty;
    this.one("[data-horizon]").textContent = this.teller.say("timeline.horizon", { at: this.teller.time.when(picture.horizon, this.now()) });
  }

  fail() {
    const note = this.one("[data-failed]");
    note.textContent = this.teller.say("timeline.failed", { at: this.teller.time.when(this.clock.server, this.now()) });
    note.hidden = false;
  }

  /** Links that lead to this page again lead to this window. */
  links() {
    const here = new URLSearchParams(this.address().split("?")[1] ?? "");
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(".switch a, [data-as-list]"))) {
      const there = new URLSearchParams(here);
      for (const [name, value] of new URL(link.href).searchParams) if (["lang", "theme", "view"].includes(name)) there.set(name, value);
      link.href = `${location.pathname}?${there}`;
    }
  }

  startTips() {
    const tip = document.getElementById("tip");
    if (!tip) return;
    const show = (/** @type {Element | null | undefined} */ bar, /** @type {number | null} */ x) => {
      const block = this.chart.drawn.get(bar?.getAttribute("data-key") ?? "")?.block;
      if (!bar || !block || !this.chart.picture || this.busy) return;
      const facts = document.createElement("dl");
      facts.className = "facts";
      for (const [name, value] of this.teller.facts(block, this.chart.picture, this.now())) {
        facts.append(made("dt", "", name), made("dd", "", value));
      }
      tip.replaceChildren(made("div", "title", this.teller.title(block)), facts);
      tip.hidden = false;
      const box = bar.getBoundingClientRect();
      const edge = this.chart.plot.getBoundingClientRect().left;
      place(tip, { left: x === null ? Math.max(edge, box.left) : x + 8, top: box.top, bottom: box.bottom });
    };
    this.root.addEventListener("pointerover", (event) => {
      if (event.pointerType !== "touch") show(/** @type {Element} */ (event.target).closest(".strip"), event.clientX);
    });
    this.root.addEventListener("focusin", (event) => {
      const bar = /** @type {Element} */ (event.target).closest(".strip");
      if (!bar?.matches(":focus-visible")) return;
      this.chart.enter(bar.getAttribute("data-key") ?? "");
      show(bar, null);
    });
  }

  /** Bring a bar into view and focus it. @param {import("./timeline_data.js").Block} block */
  focus(block) {
    const { scroller } = this.chart;
    const top = block.row * ROW;
    const room = scroller.clientHeight - this.one("[data-axis]").offsetHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top + ROW > scroller.scrollTop + room) scroller.scrollTop = top + ROW - room;
    const { from, span } = this.window;
    const [begin, end] = [block.earliest ?? block.since ?? from, block.until ?? Infinity];
    if (begin > from + span * 0.95 || end < from + span * 0.02) this.look(begin - span * NOW_AT, span);
    this.drawNow();
    this.chart.drawn.get(block.key)?.node.focus({ preventScroll: true });
  }
}

/** Seconds of '21600', '6h', '3d', '1d12h'; NaN for anything else. @param {string} text */
function spanOf(text) {
  if (/^\d+$/.test(text)) return Number(text);
  const units = /** @type {Record<string, number>} */ ({ w: 604800, d: 86400, h: HOUR, m: 60, s: 1 });
  if (!/^(\d+[wdhms])+$/.test(text)) return NaN;
  return Array.from(text.matchAll(/(\d+)([wdhms])/g)).reduce((sum, [, count, unit]) => sum + Number(count) * units[unit], 0);
}

/** @param {string} tag @param {string} name @param {string} text */
function made(tag, name, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.textContent = text;
  return node;
}

const root = document.getElementById("timeline");
if (root) new Timeline(root);
