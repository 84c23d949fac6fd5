// @ts-check
// One event stream a page. Each event asks the regions marked data-live to fetch themselves again and morph.
// Nothing moves under the pointer: while it is over a list (data-quiet), or a dialog is open, changes are
// counted and wait.

const SETTLE_MS = 250; // events closer together than this become one refresh
const LEAST_MS = 1000; // and there is at most one refresh in this time
const TICK_MS = 60000; // ages and "in 20 min" move even when nothing happens
const RETRY_MS = 3000;
const QUIET = new Set(["hello", "records", "log"]); // no news for a page by themselves

/** @type {Map<string, string>} what the cells marked data-flash said before the swap */
const before = new Map();
let waiting = 0;
let last = 0;
/** @type {number | undefined} */
let timer;
/** @type {Date | undefined} */
let heard;

/** @returns {HTMLElement[]} */
const regions = () => Array.from(document.querySelectorAll("[data-live]"));

/** Whether a change now would move something that a person is about to click or is reading in a dialog. */
function busy() {
  if (document.querySelector("dialog[open]")) return true;
  if (document.activeElement?.closest("[data-quiet]")?.matches(":focus-within") && isTyping()) return true;
  return matchMedia("(hover: hover)").matches && document.querySelector("[data-quiet]:hover") !== null;
}

function isTyping() {
  return /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
}

/** @param {boolean} [insist] */
export function refresh(insist = false) {
  window.clearTimeout(timer);
  if (!insist && busy()) {
    showWaiting();
    return;
  }
  waiting = 0;
  last = Date.now();
  showWaiting();
  for (const region of regions()) region.dispatchEvent(new CustomEvent("paika:refresh"));
}

function changed() {
  waiting += 1;
  window.clearTimeout(timer);
  timer = window.setTimeout(() => refresh(), Math.max(SETTLE_MS, last + LEAST_MS - Date.now()));
}

function showWaiting() {
  const note = document.getElementById("pending");
  if (!note) return;
  note.hidden = waiting === 0;
  note.textContent = (note.dataset.words ?? "{count}").replace("{count}", String(waiting));
}

/** @param {"waiting" | "live" | "lost"} state */
function showState(state) {
  const pulse = document.getElementById("pulse");
  if (!pulse) return;
  pulse.dataset.state = state;
  const at = heard ? heard.toLocaleTimeString(document.documentElement.lang, { hour12: false }) : "—";
  pulse.textContent = (pulse.dataset[state] ?? "").replace("{at}", at);
}

/** @param {string} address */
function listen(address) {
  const feed = new EventSource(address);
  let open = false;
  const cares = (document.body.dataset.cares ?? "").split(" ").filter(Boolean);
  const hear = (/** @type {MessageEvent} */ event) => {
    heard = new Date();
    const names = /** @type {string[]} */ (JSON.parse(event.data).changed).filter((name) => !QUIET.has(name));
    if (names.length > 0 && (cares.length === 0 || names.some((name) => cares.includes(name)))) changed();
  };
  feed.onopen = () => {
    const news = !open;
    open = true;
    heard = new Date();
    showState("live");
    if (news) changed(); // what was missed between the page and the line, or while the line was down
  };
  feed.addEventListener("change", hear);
  feed.onerror = () => {
    open = false;
    showState("lost");
    if (feed.readyState === EventSource.CLOSED) window.setTimeout(() => listen(address), RETRY_MS);
  };
  window.addEventListener("pagehide", () => feed.close(), { once: true });
}

function remember() {
  before.clear();
  for (const cell of document.querySelectorAll("[data-flash]")) {
    before.set(cell.getAttribute("data-flash") ?? "", cell.textContent ?? "");
  }
}

function flash() {
  if (before.size === 0) return;
  for (const cell of document.querySelectorAll("[data-flash]")) {
    const key = cell.getAttribute("data-flash") ?? "";
    if (before.get(key) === (cell.textContent ?? "")) continue;
    cell.classList.remove("flashed");
    requestAnimationFrame(() => cell.classList.add("flashed"));
    window.setTimeout(() => cell.classList.remove("flashed"), 1600);
  }
  before.clear();
}

/** What a person opened stays open when the server's page is laid over it. */
function keepOpened() {
  // @ts-ignore Idiomorph is a plain script
  const defaults = window.Idiomorph?.defaults;
  if (!defaults) return;
  defaults.callbacks.beforeAttributeUpdated = (/** @type {string} */ name, /** @type {Element} */ node) =>
    !(name === "open" && node.tagName === "DETAILS");
  // A log follows itself, and what was fetched when somebody looked stays until its id says that it is old.
  defaults.callbacks.beforeNodeMorphed = (/** @type {HTMLElement} */ old, /** @type {HTMLElement} */ now) =>
    !(old.dataset?.lazy !== undefined && old.id === now.id);
}

export function startLive() {
  keepOpened();
  document.body.addEventListener("paika:done", () => refresh(true));
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    const live = /** @type {HTMLElement} */ (event.target).matches("[data-live]");
    // @ts-ignore detail is htmx's
    const calm = event.detail.requestConfig?.triggeringEvent?.type === "paika:refresh";
    if (live && calm) remember();
  });
  document.body.addEventListener("htmx:afterSettle", flash);
  document.addEventListener("pointerout", (event) => {
    const from = /** @type {Element} */ (event.target).closest?.("[data-quiet]");
    const to = /** @type {Element | null} */ (event.relatedTarget);
    if (waiting > 0 && from && !to?.closest?.("[data-quiet]")) window.setTimeout(() => refresh(), 0);
  });
  document.addEventListener("close", () => waiting > 0 && refresh(), true);
  document.getElementById("pending")?.addEventListener("click", () => refresh(true));
  window.setInterval(() => !document.hidden && !busy() && refresh(), TICK_MS);
  const address = document.body.dataset.feed;
  if (address) listen(address);
}
