// @ts-check
// The answer of GET /api/v1/timeline made ready to draw: absolute times, and equal bars on neighbouring cards as one block.

/**
 * @typedef {object} Subject a task or a reservation
 * @property {string} id
 * @property {string} name
 * @property {{id: string, name: string, hue: number}} owner
 * @property {string} team
 * @property {string | null} tier
 * @property {number} cards
 * @property {string | null} run
 * @property {boolean} byLimit
 * @property {boolean} overrun
 * @property {boolean} preemptible
 * @property {number | null} vram
 * @property {number | null} bandwidth
 * @property {string | null} freedFor
 * @property {number | null} hit
 * @property {string | null} task
 *
 * @typedef {object} Block one bar, or equal bars on cards that lie below each other on one node
 * @property {string} key
 * @property {string} kind
 * @property {number} row first row
 * @property {number} rows
 * @property {number | null} since seconds since 1970; null is unknown
 * @property {number | null} until
 * @property {number | null} earliest
 * @property {number} lane
 * @property {number} lanes
 * @property {Subject | null} of
 * @property {string} cause
 * @property {string} shows what its card shows
 *
 * @typedef {object} Row
 * @property {string} id
 * @property {number} node
 * @property {number | null} index
 * @property {string} type
 * @property {string} shows
 * @property {number} lanes
 *
 * @typedef {object} Picture
 * @property {number} at
 * @property {number} from what is known of: no bar is missing between from and to
 * @property {number} to
 * @property {number} horizon
 * @property {{id: string, pool: string, state: string, cause: string, first: number, rows: number}[]} nodes
 * @property {Row[]} rows
 * @property {Block[][]} byRow the blocks that touch each row, by their start
 * @property {number} bars
 * @property {number} cardsLeftOut
 * @property {number} barsLeftOut
 */

const HUES = 48;
const GOLDEN = 0.6180339887498949;
export const BROKEN = new Set(["lost", "needs_reset"]);
export const UNFIT = new Set([...BROKEN, "draining", "unknown", "no_engine"]);
export const WORK = new Set(["running", "starting", "stopping", "promised"]);

const CRC = Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum >>> 0;
});

/** The hue that the card grid gives this person. @param {string} person */
export function hueOf(person) {
  let sum = 0xffffffff;
  for (const byte of new TextEncoder().encode(person)) sum = CRC[(sum ^ byte) & 255] ^ (sum >>> 8);
  return Math.floor(((((sum ^ 0xffffffff) >>> 0) % 4096) * GOLDEN % 1) * HUES);
}

/** Signs that cannot be seen are shown by name, so that no two names look alike. @param {string | null} text */
const shown = (text) =>
  (text ?? "").replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, (sign) => `⟦U+${hex(sign)}⟧`);
const hex = (/** @type {string} */ sign) => Number(sign.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
const seconds = (/** @type {string} */ text) => Date.parse(text) / 1000;

/**
 * @param {any} told the answer
 * @returns {Picture}
 */
export function pictureOf(told) {
  const from = seconds(told.from);
  const people = told.people.map((/** @type {string[]} */ [id, name]) => ({ id, name: shown(name), hue: hueOf(id) }));
  const teams = told.teams.map((/** @type {string[]} */ [, name]) => shown(name));
  const tasks = told.tasks.map((/** @type {any[]} */ row) => taskOf(row, people, teams));
  const bookings = told.bookings.map((/** @type {any[]} */ row) => bookingOf(row, people, teams));
  const rows = told.rows.map((/** @type {any[]} */ [id, node, index, type, shows, lanes]) => ({ id, node, index, type, shows, lanes }));
  const nodes = told.nodes.map((/** @type {string[]} */ [id, pool, state, cause]) => ({ id: shown(id), pool: shown(pool), state, cause: shown(cause), first: 0, rows: 0 }));
  rows.forEach((/** @type {Row} */ row, /** @type {number} */ place) => {
    if (nodes[row.node].rows === 0) nodes[row.node].first = place;
    nodes[row.node].rows += 1;
  });
  const after = (/** @type {number | null} */ relative) => (relative === null ? null : from + relative);
  const single = told.bars.map((/** @type {any[]} */ [row, kind, since, until, lane, subject, earliest, cause]) => {
    const name = told.kinds[kind];
    const of = subject === null ? null : (WORK.has(name) ? tasks : bookings)[subject];
    const key = `${name} ${of ? of.id : name === "unfit" ? rows[row].shows : ""} ${rows[row].id}`;
    const times = { since: after(since), until: after(until), earliest: after(earliest) };
    return { key, kind: name, row, rows: 1, ...times, lane, lanes: rows[row].lanes, of, cause: shown(cause), shows: rows[row].shows };
  });
  return {
    at: seconds(told.at),
    from,
    to: from + told.span,
    horizon: seconds(told.horizon_at),
    nodes,
    rows,
    byRow: joined(single, rows),
    bars: told.bars.length,
    cardsLeftOut: told.cards_left_out,
    barsLeftOut: told.bars_left_out,
  };
}

/** @param {any[]} row @param {any[]} people @param {any[]} teams @returns {Subject} */
function taskOf(row, people, teams) {
  const [id, name, owner, team, tier, cards, run, byLimit, overrun, preemptible, vram, bandwidth, freedFor, hit] = row;
  const whose = { owner: people[owner], team: teams[team] };
  const whole = { id, name: shown(name), ...whose, tier, cards, run, byLimit, overrun, preemptible };
  return { ...whole, vram, bandwidth, freedFor: shown(freedFor), hit, task: id };
}

/** @param {any[]} row @param {any[]} people @param {any[]} teams @returns {Subject} */
function bookingOf([id, name, owner, team, cards, task], people, teams) {
  const none = { tier: null, run: null, byLimit: false, overrun: false, preemptible: false };
  const rest = { vram: null, bandwidth: null, freedFor: null, hit: null };
  return { id, name: shown(name), owner: people[owner], team: teams[team], cards, task, ...none, ...rest };
}

/** @param {Block} one @param {Block} other */
const alike = (one, other) =>
  one.kind === other.kind &&
  one.of === other.of &&
  one.since === other.since &&
  one.until === other.until &&
  one.earliest === other.earliest &&
  one.cause === other.cause &&
  (one.kind !== "unfit" || one.shows === other.shows) &&
  (!WORK.has(one.kind) || (one.lanes === 1 && other.lanes === 1));

/**
 * Blocks by row. A gang on the cards of one node is one thing, and is drawn, named and focused once.
 * @param {Block[]} single @param {Row[]} rows @returns {Block[][]}
 */
function joined(single, rows) {
  /** @type {Block[][]} */
  const byRow = rows.map(() => []);
  for (const bar of single) {
    const above = bar.row > 0 && rows[bar.row - 1].node === rows[bar.row].node ? byRow[bar.row - 1] : [];
    const same = above.find((other) => other.row + other.rows === bar.row && alike(other, bar));
    if (same) same.rows += 1;
    byRow[bar.row].push(same ?? bar);
  }
  const begin = (/** @type {Block} */ block) => block.earliest ?? block.since ?? -Infinity;
  for (const blocks of byRow) blocks.sort((one, other) => begin(one) - begin(other));
  return byRow;
}
