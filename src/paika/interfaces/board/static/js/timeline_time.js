// @ts-check
// Time on the timeline: instants are seconds since 1970, shown in the site's zone whatever zone the reader sits in.

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;
const MONDAY = 4 * DAY; // 1970-01-05, so that weeks begin on Mondays
const STEPS = [5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY];
const TICK_PX = 64; // ticks are no closer than this
const SAME_OFFSET_S = 900; // zones change at quarters of an hour at most

/**
 * @typedef {object} Tick
 * @property {number} at
 * @property {boolean} day a day begins here
 * @property {string} text
 */

const two = (/** @type {number} */ number) => String(number).padStart(2, "0");

export class SiteTime {
  /** @param {string} zone IANA name @param {string} lang */
  constructor(zone, lang) {
    const parts = /** @type {const} */ ({ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" });
    this.parts = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", ...parts });
    this.weekday = new Intl.DateTimeFormat(lang, { timeZone: "UTC", weekday: "short" });
    /** @type {Map<number, number>} */
    this.offsets = new Map();
  }

  /** Seconds that the site's clock is ahead of UTC. @param {number} at */
  offset(at) {
    const key = Math.floor(at / SAME_OFFSET_S);
    let known = this.offsets.get(key);
    if (known === undefined) {
      const base = key * SAME_OFFSET_S;
      const told = Object.fromEntries(this.parts.formatToParts(base * 1000).map((part) => [part.type, Number(part.value)]));
      known = Date.UTC(told.year, told.month - 1, told.day, told.hour, told.minute, told.second) / 1000 - base;
      this.offsets.set(key, known);
    }
    return known;
  }

  /** The site's clock as a Date whose UTC fields are the local ones. @param {number} at */
  local(at) {
    return new Date((at + this.offset(at)) * 1000);
  }

  /** '14:20'. @param {number} at */
  clock(at) {
    const local = this.local(at);
    return `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}`;
  }

  /** '03-02'. @param {number} at */
  date(at) {
    const local = this.local(at);
    return `${two(local.getUTCMonth() + 1)}-${two(local.getUTCDate())}`;
  }

  /** '03-02 周一'. @param {number} at */
  day(at) {
    return `${this.date(at)} ${this.weekday.format(this.local(at))}`;
  }

  /** As short as today allows. @param {number} at @param {number} now */
  when(at, now) {
    const [there, here] = [this.local(at), this.local(now)];
    if (there.getUTCFullYear() !== here.getUTCFullYear()) return `${there.getUTCFullYear()}-${this.date(at)} ${this.clock(at)}`;
    return this.date(at) === this.date(now) ? this.clock(at) : `${this.date(at)} ${this.clock(at)}`;
  }

  /**
   * Ticks at round local times, no closer than TICK_PX.
   * @param {number} from @param {number} span @param {number} width
   * @returns {Tick[]}
   */
  ticks(from, span, width) {
    const least = (span / Math.max(1, width)) * TICK_PX;
    const step = STEPS.find((one) => one >= least) ?? 14 * DAY;
    const shift = step % (7 * DAY) === 0 ? MONDAY : 0;
    const found = [];
    let at = from;
    while (found.length < 400) {
      const clock = at + this.offset(at);
      const round = Math.ceil((clock - shift) / step) * step + shift;
      const next = at + round - clock;
      if (next > from + span) break;
      // Where the clock was set forward or back, the round time is found again with the new offset.
      const exact = round - this.offset(next);
      const day = round % DAY === 0;
      if (exact >= from && exact <= from + span) found.push({ at: exact, day, text: step < DAY ? this.clock(exact) : this.date(exact) });
      at = Math.max(next, exact) + Math.min(step, HOUR) / 2;
    }
    return found;
  }

  /** Where days begin in the window. @param {number} from @param {number} span @returns {number[]} */
  midnights(from, span) {
    const found = [];
    let at = from;
    while (found.length < 100) {
      const clock = at + this.offset(at);
      const round = Math.ceil(clock / DAY) * DAY;
      const next = round - this.offset(at + round - clock);
      if (next > from + span) break;
      if (next >= from) found.push(next);
      at = Math.max(at, next) + HOUR * 2;
    }
    return found;
  }
}
