// @ts-check
// What a bar says: its title, all its facts for hover and focus, and one sentence for who cannot see it.

import { UNFIT } from "./timeline_data.js";

/** @typedef {import("./timeline_data.js").Block} Block */
/** @typedef {import("./timeline_data.js").Picture} Picture */

const MIB_PER_GIB = 1024;
const INDEXES_MOST = 16;

export class Teller {
  /** @param {Record<string, string>} words @param {import("./timeline_time.js").SiteTime} time */
  constructor(words, time) {
    this.words = words;
    this.time = time;
  }

  /** A word with its facts filled in. @param {string} key @param {Record<string, unknown>} [facts] */
  say(key, facts = {}) {
    return (this.words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => String(facts[name] ?? "—"));
  }

  /** @param {Block} block */
  kind(block) {
    const exact = block.kind === "unfit" && UNFIT.has(block.shows);
    return this.say(exact ? `shows.${block.shows}` : `timeline.kind.${block.kind}`);
  }

  /** What it is called on its bar and above its facts. @param {Block} block */
  title(block) {
    if (block.of?.name) return block.of.name;
    return block.cause ? `${this.kind(block)}${this.words["list.dot"]}${block.cause}` : this.kind(block);
  }

  /** Texts for the bar, the fullest first. @param {Block} block @returns {string[]} */
  labels(block) {
    const { of } = block;
    if (!of) return [this.title(block), this.kind(block)];
    const name = of.name || this.kind(block);
    return [`${name}${this.words["list.dot"]}${of.owner.name}`, name, of.owner.name];
  }

  /**
   * (label, value) pairs.
   * @param {Block} block @param {Picture} picture @param {number} now
   * @returns {[string, string][]}
   */
  facts(block, picture, now) {
    /** @type {[string, string][]} */
    const facts = [[this.say("fact.state"), this.kind(block)]];
    const add = (/** @type {string} */ key, /** @type {string | null | undefined | false} */ value) => {
      if (value) facts.push([this.say(key), value]);
    };
    if (block.of) this.addSubject(add, block);
    add("timeline.card", this.place(block, picture));
    this.addTimes(add, block, now);
    add("fact.cause", block.cause);
    return facts;
  }

  /** @param {(key: string, value: string | null | undefined | false) => void} add @param {Block} block */
  addSubject(add, block) {
    const of = /** @type {import("./timeline_data.js").Subject} */ (block.of);
    const booked = of.tier === null;
    const dot = this.words["list.dot"];
    if (booked) {
      add("timeline.booked_by", of.owner.name);
      add("timeline.for_team", of.team);
    } else add("fact.owner", `${of.owner.name}${dot}${of.team}`);
    add("fact.task", of.task && (booked ? of.task : `${of.name} (${of.id}${of.run ? `${dot}${of.run}` : ""})`));
    add("fact.tier", of.tier && this.say(`tier.${of.tier}`));
    add("fact.share", of.vram !== null && `${gib(of.vram)}${of.bandwidth === null ? "" : `${dot}${of.bandwidth} %`}`);
    add("timeline.freed_for", of.freedFor);
  }

  /** @param {(key: string, value: string | null | undefined | false) => void} add @param {Block} block @param {number} now */
  addTimes(add, block, now) {
    const when = (/** @type {number} */ at) => this.time.when(at, now);
    if (block.kind === "lease") return add("fact.lease", this.say("timeline.wall", { at: when(Number(block.since)) }));
    if (block.kind === "promised") add("timeline.range_fact", this.start(block, when));
    else add("fact.since", block.since === null ? this.say("timeline.since_unknown") : when(block.since));
    add("fact.until", this.end(block, when));
  }

  /** @param {Block} block @param {(at: number) => string} when */
  start(block, when) {
    const since = Number(block.since);
    if (block.earliest === null || block.earliest >= since) return this.say("timeline.latest", { at: when(since) });
    const range = this.say("timeline.between", { from: when(block.earliest), to: when(since) });
    const hit = block.of?.hit ?? null;
    return hit === null ? range : `${range}${this.words["list.dot"]}${this.say("timeline.hit", { percent: Math.round(hit / 10) })}`;
  }

  /** @param {Block} block @param {(at: number) => string} when */
  end(block, when) {
    if (block.until === null) return this.say("ending.unknown");
    if (block.kind !== "running" && block.kind !== "starting") return when(block.until);
    return this.say(block.of?.byLimit ? "ending.limit" : "ending.estimate", { at: when(block.until) });
  }

  /** 'gpu-a1 0–3', and how many elsewhere. @param {Block} block @param {Picture} picture */
  place(block, picture) {
    const rows = picture.rows.slice(block.row, block.row + Math.min(block.rows, INDEXES_MOST));
    const name = (/** @type {typeof rows[0]} */ row) => (row.index === null ? row.id : String(row.index));
    const last = picture.rows[block.row + block.rows - 1];
    const span = block.rows > 1 ? `${name(rows[0])}–${name(last)}` : name(rows[0]);
    const count = block.of && block.of.cards > block.rows ? this.say("timeline.cards_of", { count: block.of.cards, here: block.rows }) : "";
    return `${picture.nodes[rows[0].node].id} ${span}${this.words["list.dot"]}${rows[0].type}${count && this.words["list.dot"] + count}`;
  }

  /** All of it in one line. @param {Block} block @param {Picture} picture @param {number} now */
  sentence(block, picture, now) {
    return [this.title(block), ...this.facts(block, picture, now).map(([name, value]) => `${name} ${value}`)].join(this.words["list.comma"]);
  }
}

/** @param {number} mib */
function gib(mib) {
  return `${Math.floor((mib * 10) / MIB_PER_GIB) / 10} GiB`;
}
