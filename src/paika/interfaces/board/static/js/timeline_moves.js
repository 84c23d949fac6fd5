// @ts-check
// Moving about in the timeline: keys, wheel, drag, two fingers, buttons.

/** @typedef {import("./timeline.js").Timeline} Timeline */
/** @typedef {import("./timeline_data.js").Block} Block */

const KEY_PAN = 0.1;
const DRAG_PX = 4; // less is a click
const WHEEL = 0.0015;
const WHEEL_MOST = 240;
const LINE_PX = 16;

/** @param {Timeline} page */
export function startMoves(page) {
  startButtons(page);
  startKeys(page);
  startWheel(page);
  startDrag(page);
}

/** @param {Timeline} page */
function startButtons(page) {
  const acts = /** @type {Record<string, () => void>} */ ({
    earlier: () => page.pan(-0.5),
    later: () => page.pan(0.5),
    now: () => page.toNow(),
    in: () => page.step(-1),
    out: () => page.step(1),
  });
  page.root.addEventListener("click", (event) => {
    const button = /** @type {Element} */ (event.target).closest("button");
    acts[button?.getAttribute("data-do") ?? ""]?.();
    const span = Number(button?.getAttribute("data-span") ?? 0);
    if (span) page.zoom(span / page.window.span);
  });
}

/** @param {Timeline} page */
function startKeys(page) {
  const anywhere = /** @type {Record<string, () => void>} */ ({
    "+": () => page.step(-1),
    "=": () => page.step(-1),
    "-": () => page.step(1),
    "−": () => page.step(1),
    n: () => page.toNow(),
    N: () => page.toNow(),
    Home: () => page.toNow(),
    ArrowLeft: () => page.pan(-KEY_PAN),
    ArrowRight: () => page.pan(KEY_PAN),
  });
  // While capturing, so that "n" means now here and not a new task.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || elsewhere(page, event)) return;
    const bar = /** @type {Element} */ (event.target).closest(".strip");
    const act = bar && event.key.startsWith("Arrow") ? () => walk(page, bar, event.key) : anywhere[event.key];
    if (act) act();
    else if (event.key === "Escape" && bar) page.chart.scroller.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
}

/** Whether the key belongs to something else on the page. @param {Timeline} page @param {KeyboardEvent} event */
function elsewhere(page, event) {
  const at = /** @type {HTMLElement} */ (event.target);
  if (document.querySelector("dialog[open]") || /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName)) return true;
  return !(page.root.contains(at) || at === document.body || at.id === "main");
}

/** From bar to bar: along the card, or to the nearest in time on the card above or below. @param {Timeline} page @param {Element} bar @param {string} key */
function walk(page, bar, key) {
  const block = page.chart.drawn.get(bar.getAttribute("data-key") ?? "")?.block;
  const picture = page.chart.picture;
  if (!block || !picture) return;
  const next = key === "ArrowLeft" || key === "ArrowRight" ? beside() : beyond();
  if (next) page.focus(next);

  /** @returns {Block | undefined} */
  function beside() {
    const row = /** @type {import("./timeline_data.js").Picture} */ (picture).byRow[/** @type {Block} */ (block).row];
    return row[row.indexOf(/** @type {Block} */ (block)) + (key === "ArrowLeft" ? -1 : 1)];
  }

  /** @returns {Block | undefined} */
  function beyond() {
    const { byRow } = /** @type {import("./timeline_data.js").Picture} */ (picture);
    const own = /** @type {Block} */ (block);
    const way = key === "ArrowUp" ? -1 : 1;
    const middle = (/** @type {Block} */ one) => ((one.since ?? page.window.from) + (one.until ?? page.window.from + page.window.span)) / 2;
    for (let row = way < 0 ? own.row - 1 : own.row + own.rows; row >= 0 && row < byRow.length; row += way) {
      const others = byRow[row].filter((one) => one !== own);
      others.sort((one, other) => Math.abs(middle(one) - middle(own)) - Math.abs(middle(other) - middle(own)));
      if (others.length > 0) return others[0];
    }
    return undefined;
  }
}

/** Ctrl and wheel zooms anywhere, the wheel alone over the axis, or where there is nothing to scroll. @param {Timeline} page */
function startWheel(page) {
  const { scroller } = page.chart;
  scroller.addEventListener("wheel", (event) => {
    const size = event.deltaMode === 1 ? LINE_PX : 1;
    const [right, down] = event.shiftKey && !event.deltaX ? [event.deltaY * size, 0] : [event.deltaX * size, event.deltaY * size];
    const still = scroller.scrollHeight <= scroller.clientHeight + 1 && document.documentElement.scrollHeight <= innerHeight + 1;
    const zooms = event.ctrlKey || event.metaKey || /** @type {Element} */ (event.target).closest("[data-axis]") !== null || still;
    if (Math.abs(right) > Math.abs(down)) page.pan(right / page.chart.width);
    else if (zooms) page.zoom(Math.exp(Math.max(-WHEEL_MOST, Math.min(WHEEL_MOST, down)) * WHEEL), part(page, event.clientX));
    else return;
    event.preventDefault();
  }, { passive: false });
}

/** Where in the width a point lies, 0 to 1. @param {Timeline} page @param {number} x */
function part(page, x) {
  const box = page.chart.plot.getBoundingClientRect();
  return Math.max(0, Math.min(1, (x - box.left) / page.chart.width));
}

/** One finger or button pans, two fingers zoom. @param {Timeline} page */
function startDrag(page) {
  const { scroller } = page.chart;
  /** @type {Map<number, number>} */
  const down = new Map();
  let [begun, from, span, moved] = [0, 0, 0, false];
  const grip = () => {
    [begun, from, span] = [middle(), page.window.from, page.window.span];
    width = spread();
  };
  const middle = () => Array.from(down.values()).reduce((sum, x) => sum + x, 0) / down.size;
  const spread = () => Math.max(24, Math.max(...down.values()) - Math.min(...down.values()));
  let width = 0;
  scroller.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !(/** @type {Element} */ (event.target).closest("[data-plot], [data-axis]"))) return;
    down.set(event.pointerId, event.clientX);
    moved = down.size > 1;
    grip();
  });
  window.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    down.set(event.pointerId, event.clientX);
    if (!moved && Math.abs(middle() - begun) < DRAG_PX) return;
    if (!moved) scroller.setPointerCapture(event.pointerId);
    moved = page.busy = true;
    scroller.classList.add("dragged");
    const wide = down.size > 1 ? (span * width) / spread() : span;
    const held = from + part(page, begun) * span;
    page.look(held - part(page, middle()) * wide - over(page, middle(), wide), wide);
  });
  const up = (/** @type {PointerEvent} */ event) => {
    if (!down.delete(event.pointerId)) return;
    if (down.size > 0) return grip();
    page.busy = false;
    scroller.classList.remove("dragged");
  };
  window.addEventListener("pointerup", up);
  window.addEventListener("pointercancel", up);
  scroller.addEventListener("dragstart", (event) => event.preventDefault());
  scroller.addEventListener("click", (event) => {
    if (moved) event.preventDefault();
    moved = false;
  }, true);
}

/** What `part` cuts off when the pointer has left the chart, in seconds. @param {Timeline} page @param {number} x @param {number} wide */
function over(page, x, wide) {
  const box = page.chart.plot.getBoundingClientRect();
  return ((x - box.left) / page.chart.width - part(page, x)) * wide;
}
