// @ts-check
// The chart: only rows near the viewport exist, and what exists already is moved, never made again. A bar that has
// the focus stays, wherever it is.

import { BROKEN } from "./timeline_data.js";

/** @typedef {import("./timeline_data.js").Block} Block */
/** @typedef {import("./timeline_data.js").Picture} Picture */
/** @typedef {{from: number, span: number}} Window seconds since 1970, and seconds */

export const ROW = 24; // px, as in timeline.css
const OVERSCAN = 4; // rows
const INSET = 2;
const LEAST_PX = 2;
const BEYOND_PX = 40; // bars reach so far out of the picture that their round ends do not show
const TAIL_PX = 96; // how far an end that nobody knows fades
const LABEL_PAD = 6;
const FLASH_MS = 1600;
const LABEL_LEAST_LANE = 11;
const LOW_LANE = 15;

/** @param {Element} node @param {Record<string, number | string>} attributes */
function set(node, attributes) {
  for (const name in attributes) {
    const value = String(attributes[name]);
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
}

class Drawn {
  /** @param {SVGElement} node @param {Block} block */
  constructor(node, block) {
    this.node = node;
    this.block = block;
    this.pose = "";
    this.text = /** @type {SVGTextElement} */ (node.querySelector("text"));
    this.parts = Array.from(node.children).filter((part) => part !== this.text);
  }
}

export class Chart {
  /** @param {HTMLElement} root @param {import("./timeline_tell.js").Teller} teller @param {string} me */
  constructor(root, teller, me) {
    const one = (/** @type {string} */ what) => /** @type {any} */ (root.querySelector(what));
    this.teller = teller;
    this.me = me;
    this.scroller = /** @type {HTMLElement} */ (one("[data-scroller]"));
    this.rows = /** @type {HTMLElement} */ (one("[data-rows]"));
    this.labels = /** @type {HTMLElement} */ (one("[data-labels]"));
    this.axis = /** @type {SVGSVGElement} */ (one("[data-axis] svg"));
    this.plot = /** @type {SVGSVGElement} */ (one("[data-plot]"));
    this.scene = /** @type {SVGGElement} */ (one("[data-scene]"));
    this.back = /** @type {SVGGElement} */ (one("[data-scene] .back"));
    this.work = /** @type {SVGGElement} */ (one("[data-scene] .work"));
    this.line = Object.fromEntries(["past", "grid", "days", "lines", "edges", "horizon", "now"].map((name) => [name, one(`.${name}`)]));
    /** @type {Map<string, Element>} */
    this.shapes = new Map();
    for (const shape of one("[data-shapes]").content.querySelectorAll(".strip")) {
      this.shapes.set(String(shape.getAttribute("class")?.match(/is-(\w+)/)?.[1]), shape);
    }
    /** @type {Map<string, Drawn>} */
    this.drawn = new Map();
    /** @type {Map<string, number>} */
    this.widths = new Map();
    /** @type {Picture | null} */
    this.picture = null;
    this.width = 0;
    this.shownRows = "";
    this.current = "";
    /** @type {Set<string>} what flashes once, as it is not as it was */
    this.changed = new Set();
    this.calm = 0;
    const canvas = document.createElement("canvas").getContext("2d");
    if (canvas) canvas.font = `500 11px ${getComputedStyle(root).fontFamily}`;
    this.canvas = canvas;
  }

  /** @param {Picture} picture */
  show(picture) {
    this.changed = this.picture ? differing(this.picture, picture) : new Set();
    window.clearTimeout(this.calm);
    this.calm = window.setTimeout(() => this.changed.clear(), FLASH_MS);
    this.picture = picture;
    this.shownRows = "";
    this.rows.style.height = `${picture.rows.length * ROW}px`;
    for (const one of this.drawn.values()) one.pose = "";
  }

  measure() {
    this.width = Math.max(1, this.rows.clientWidth - this.labels.offsetWidth);
    this.height = this.scroller.clientHeight;
  }

  /** @param {Window} window @param {number} now */
  draw(window, now) {
    const { picture } = this;
    if (!picture) return;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - OVERSCAN);
    const last = Math.min(picture.rows.length - 1, Math.ceil((this.scroller.scrollTop + (this.height ?? 0)) / ROW) + OVERSCAN);
    const x = (/** @type {number} */ at) => ((at - window.from) / window.span) * this.width;
    this.drawLabels(first, last);
    set(this.plot, { width: this.width, height: Math.max(0, last - first + 1) * ROW });
    this.plot.style.top = `${first * ROW}px`;
    set(this.scene, { transform: `translate(0 ${-first * ROW})` });
    this.drawGround(window, now, first, last, x);
    this.drawBars(first, last, now, x);
    this.drawAxis(window, now, x);
  }

  /** @param {number} first @param {number} last */
  drawLabels(first, last) {
    const picture = /** @type {Picture} */ (this.picture);
    if (this.shownRows === `${first} ${last}`) return;
    this.shownRows = `${first} ${last}`;
    const made = [];
    for (const node of picture.nodes) {
      if (node.first + node.rows <= first || node.first > last) continue;
      made.push(this.nodeLabel(node));
    }
    const edges = new Set(picture.nodes.map((node) => node.first));
    for (let row = first; row <= last; row += 1) made.push(this.rowLabel(picture.rows[row], row, row > 0 && edges.has(row)));
    this.labels.replaceChildren(...made);
  }

  /** @param {Picture["nodes"][0]} node */
  nodeLabel(node) {
    const box = element("div", "node-label");
    box.style.top = `${node.first * ROW}px`;
    box.style.height = `${node.rows * ROW}px`;
    const inner = element("div", "stuck");
    const name = element("div", "node-name", node.id);
    name.title = [node.id, node.pool, node.cause].filter(Boolean).join(" · ");
    inner.append(name);
    if (node.rows > 1 && node.pool) inner.append(element("div", "node-pool", node.pool));
    if (node.state !== "up") name.classList.add("warn");
    box.append(inner);
    return box;
  }

  /** @param {Picture["rows"][0]} row @param {number} place @param {boolean} edge whether a node begins here */
  rowLabel(row, place, edge) {
    const box = element("div", edge ? "row-label edge" : "row-label");
    box.style.top = `${place * ROW}px`;
    box.title = `${row.id} · ${row.type} · ${this.teller.say(`shows.${row.shows}`)}`;
    const letter = element("span", `letter is-${row.shows}`, this.teller.say(`letter.${row.shows}`));
    letter.setAttribute("aria-hidden", "true");
    box.append(letter, element("span", "index", row.index === null ? "" : String(row.index)), element("span", "type", row.type));
    return box;
  }

  /** @param {Window} window @param {number} now @param {number} first @param {number} last @param {(at: number) => number} x */
  drawGround(window, now, first, last, x) {
    const picture = /** @type {Picture} */ (this.picture);
    const [top, bottom] = [first * ROW, (last + 1) * ROW];
    const upright = (/** @type {number} */ at) => `M${Math.round(x(at)) + 0.5} ${top}V${bottom}`;
    this.ticks = this.teller.time.ticks(window.from, window.span, this.width);
    this.midnights = this.teller.time.midnights(window.from, window.span);
    const edges = new Set(picture.nodes.map((node) => node.first));
    let [lines, heavy] = ["", ""];
    for (let row = Math.max(1, first); row <= last; row += 1) {
      if (edges.has(row)) heavy += `M0 ${row * ROW}H${this.width}`;
      else lines += `M0 ${row * ROW + 0.5}H${this.width}`;
    }
    const past = Math.max(0, Math.min(this.width, x(now)));
    set(this.line.past, { x: 0, y: top, width: past, height: Math.max(0, bottom - top) });
    set(this.line.grid, { d: this.ticks.map((tick) => upright(tick.at)).join("") });
    set(this.line.days, { d: this.midnights.map(upright).join("") });
    set(this.line.lines, { d: lines });
    set(this.line.edges, { d: heavy });
    set(this.line.horizon, { d: this.inside(x(picture.horizon)) ? upright(picture.horizon) : "" });
    set(this.line.now, { d: this.inside(x(now)) ? upright(now) : "" });
  }

  /** @param {number} at px */
  inside(at) {
    return at >= 0 && at <= this.width;
  }

  /** @param {number} first @param {number} last @param {number} now @param {(at: number) => number} x */
  drawBars(first, last, now, x) {
    const picture = /** @type {Picture} */ (this.picture);
    const focused = document.activeElement?.getAttribute("data-key");
    const seen = new Set();
    let candidate = "";
    for (let row = first; row <= last; row += 1) {
      for (const block of picture.byRow[row]) {
        if (seen.has(block.key) || !this.visible(block, x, now)) continue;
        seen.add(block.key);
        candidate ||= block.of ? block.key : "";
        this.drawBar(block, now, x);
      }
    }
    for (const [key, one] of this.drawn) {
      if (seen.has(key)) continue;
      const block = key === focused ? this.find(key, one.block.row) : undefined;
      if (block) {
        seen.add(key);
        this.drawBar(block, now, x);
      } else {
        one.node.remove();
        this.drawn.delete(key);
      }
    }
    this.enter(this.drawn.has(this.current) ? this.current : candidate || this.drawn.keys().next().value || "");
  }

  /** The block of that key, near where it was. @param {string} key @param {number} row */
  find(key, row) {
    const picture = /** @type {Picture} */ (this.picture);
    const near = (picture.byRow[row] ?? []).find((block) => block.key === key);
    return near ?? picture.byRow.flat().find((block) => block.key === key);
  }

  /** Tab leads to this one bar; arrow keys lead to the others. @param {string} key */
  enter(key) {
    if (key === this.current && this.drawn.get(key)?.node.getAttribute("tabindex") === "0") return;
    this.drawn.get(this.current)?.node.setAttribute("tabindex", "-1");
    this.current = key;
    this.drawn.get(key)?.node.setAttribute("tabindex", "0");
  }

  /** @param {Block} block @param {(at: number) => number} x @param {number} now */
  visible(block, x, now) {
    const [begin, , , end] = this.reach(block, x, now);
    return end > 0 && begin < this.width;
  }

  /**
   * Pixels: where its range begins, where it surely is from and to, and where it fades out.
   * @param {Block} block @param {(at: number) => number} x @param {number} now
   * @returns {[number, number, number, number]}
   */
  reach(block, x, now) {
    const since = block.since === null ? -BEYOND_PX : x(block.since);
    const lead = block.earliest === null ? since : Math.min(since, x(block.earliest));
    if (block.until !== null) return [lead, since, Math.max(since + LEAST_PX, x(block.until)), Math.max(since + LEAST_PX, x(block.until))];
    if (!block.of) return [lead, since, this.width + BEYOND_PX, this.width + BEYOND_PX];
    const sure = Math.max(since, x(now)) + (block.kind === "promised" ? LEAST_PX : 0);
    return [lead, since, sure, sure + TAIL_PX];
  }

  /** @param {Block} block @param {number} now @param {(at: number) => number} x */
  drawBar(block, now, x) {
    let one = this.drawn.get(block.key);
    if (!one) this.drawn.set(block.key, (one = this.made(block)));
    const [lead, since, until, end] = this.reach(block, x, now);
    const height = (block.rows * ROW - 2 * INSET) / (block.rows === 1 ? block.lanes : 1);
    const y = block.row * ROW + INSET + block.lane * height;
    const pose = `${lead} ${since} ${until} ${end} ${y} ${height} ${this.width} ${Math.round(x(now))}`;
    if (one.pose === pose) return;
    if (!one.pose) this.dress(one, block, now);
    one.pose = pose;
    const gap = block.lanes > 1 ? 1 : 0;
    const [left, right] = [Math.max(-BEYOND_PX, since), Math.min(this.width + BEYOND_PX, until)];
    const full = block.of ? 0 : INSET; // facts about the card fill its row
    const body = { y: y - full, height: Math.max(1, height - gap + 2 * full) };
    for (const part of one.parts) this.place(part, body, left, right, lead, end, since);
    const room = [Math.max(0, left), Math.min(this.width, until < end ? end - TAIL_PX / 2 : right)];
    this.label(one, block, room[0], room[1], x(now), y, height);
  }

  /**
   * @param {Element} part @param {{y: number, height: number}} body @param {number} left @param {number} right
   * @param {number} lead @param {number} end @param {number} since
   */
  place(part, body, left, right, lead, end, since) {
    const name = part.getAttribute("class");
    if (name === "edge") return set(part, { ...body, x: since, width: since < -4 ? 0 : 3 });
    if (name === "own") return set(part, { x: left, y: body.y + body.height - 2, width: Math.max(0, right - left), height: 2 });
    if (name === "lead" || name === "tail") {
      const [from, to] = name === "lead" ? [lead, left] : [right, end];
      for (const inner of part.children) set(inner, { ...body, x: from, width: Math.max(0, to - from) });
    } else if (name === "whole") for (const inner of part.children) set(inner, { ...body, x: left, width: Math.max(0, right - left) });
    else set(part, { ...body, x: left, width: Math.max(0, right - left) });
  }

  /**
   * The fullest text that fits, beside the line of now rather than across it.
   * @param {Drawn} one @param {Block} block @param {number} left @param {number} right @param {number} line
   * @param {number} y @param {number} height
   */
  label(one, block, left, right, line, y, height) {
    const fits = (/** @type {string} */ said) => this.widthOf(said) <= right - left - 2 * LABEL_PAD;
    const text = height < LABEL_LEAST_LANE ? "" : (this.teller.labels(block).find(fits) ?? "");
    if (one.text.textContent !== text) one.text.textContent = text;
    if (!text) return;
    const width = this.widthOf(text);
    const across = left < line && line < left + LABEL_PAD + width + 2 && line + width + 2 * LABEL_PAD < right;
    const x = (across ? line : left) + LABEL_PAD;
    set(one.text, { x, y: y + Math.min(height, ROW) / 2 + (height < LOW_LANE ? 3 : 4) });
  }

  /** @param {string} text */
  widthOf(text) {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = this.canvas?.measureText(text).width ?? text.length * 12;
      this.widths.set(text, width);
    }
    return width;
  }

  /** @param {Block} block */
  made(block) {
    const broken = block.kind === "unfit" && BROKEN.has(block.shows);
    const shape = this.shapes.get(broken ? "broken" : block.kind) ?? this.shapes.get("work");
    const node = /** @type {SVGElement} */ (/** @type {Element} */ (shape).cloneNode(true));
    node.setAttribute("data-key", block.key);
    node.setAttribute("tabindex", "-1");
    (block.of && block.kind !== "booking" && block.kind !== "maintenance" ? this.work : this.back).append(node);
    return new Drawn(node, block);
  }

  /** What does not depend on where it lies. @param {Drawn} one @param {Block} block @param {number} now */
  dress(one, block, now) {
    const picture = /** @type {Picture} */ (this.picture);
    one.block = block;
    const { of } = block;
    const classes = ["strip", `is-${block.kind}`];
    if (block.kind === "unfit" && BROKEN.has(block.shows)) classes.push("is-broken");
    if (of) classes.push(`hue-${of.owner.hue}`, `tier-${of.tier}`);
    if (of && of.owner.id === this.me) classes.push("mine");
    if (this.changed.has(block.key)) classes.push("changed");
    set(one.node, { class: classes.join(" "), "aria-label": this.teller.sentence(block, picture, now) });
    if (!of) return set(one.node, { role: "img" });
    const booking = `/bookings#booking-${encodeURIComponent(of.id)}`;
    set(one.node, { href: of.tier === null ? booking : `/tasks/${encodeURIComponent(of.id)}` });
  }

  /** @param {Window} window @param {number} now @param {(at: number) => number} x */
  drawAxis(window, now, x) {
    const { time } = this.teller;
    const made = [];
    const starts = [window.from, ...(this.midnights ?? [])];
    starts.forEach((at, place) => {
      const end = place + 1 < starts.length ? x(starts[place + 1]) : this.width;
      const left = x(at) + 6;
      const text = time.day(at);
      if (end - left > this.widthOf(text) + 4) made.push(this.text("day", text, left, 14));
    });
    const line = x(now);
    for (const tick of this.ticks ?? []) {
      const at = x(tick.at);
      if (at > 14 && at < this.width - 14 && Math.abs(at - line) > 40) made.push(this.text("tick", tick.text, at, 32));
    }
    if (this.inside(line)) made.push(this.text("now", time.clock(now), Math.min(this.width - 22, Math.max(22, line)), 32));
    this.axis.replaceChildren(...made);
    set(this.axis, { width: this.width });
  }

  /** @param {string} name @param {string} text @param {number} x @param {number} y */
  text(name, text, x, y) {
    const node = document.createElementNS(String(this.axis.namespaceURI), "text");
    set(node, { class: name, x: Math.round(x), y });
    node.textContent = text;
    return node;
  }
}

/** Keys of the bars that are new or lie elsewhere. @param {Picture} before @param {Picture} after */
function differing(before, after) {
  const pose = (/** @type {Block} */ block) => `${block.since} ${block.until} ${block.earliest} ${block.rows} ${block.lane}`;
  const known = new Map(before.byRow.flat().map((block) => [block.key, pose(block)]));
  const inside = (/** @type {Block} */ block) =>
    (block.until ?? Infinity) > before.from && (block.earliest ?? block.since ?? 0) < before.to;
  const fresh = after.byRow.flat().filter((block) => inside(block) && known.get(block.key) !== pose(block));
  return new Set(fresh.map((block) => block.key));
}

/** @param {string} tag @param {string} name @param {string} [text] */
function element(tag, name, text) {
  const node = document.createElement(tag);
  node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
}
