// @ts-check
// The end of a log, growing: short polling that asks only for what is new, and stops while paused or hidden.

const EVERY_MS = 2000;
const KEEP_CHARS = 400000; // the page keeps the end; the file keeps all

/**
 * @typedef {object} Piece
 * @property {string} text what came after `from`
 * @property {number} next the byte to ask from the next time
 * @property {number} skipped bytes left out before this piece
 * @property {boolean} over no more will come
 */

/** @param {HTMLElement} box */
function follow(box) {
  const pre = /** @type {HTMLElement} */ (box.querySelector("pre"));
  const pause = /** @type {HTMLButtonElement | null} */ (box.querySelector("[data-pause]"));
  const state = box.querySelector("[data-log-state]");
  let next = Number(box.dataset.next ?? "0");
  let paused = false;
  let over = box.dataset.over === "true";

  const atEnd = () => pre.scrollHeight - pre.scrollTop - pre.clientHeight < 40;
  const toEnd = () => {
    pre.scrollTop = pre.scrollHeight;
  };
  const say = (/** @type {string} */ key) => {
    if (state) state.textContent = box.dataset[key] ?? "";
  };

  const take = (/** @type {Piece} */ piece) => {
    const stay = atEnd();
    if (piece.skipped > 0) pre.append(`\n⋯ ${(box.dataset.gap ?? "").replace("{bytes}", String(piece.skipped))} ⋯\n`);
    if (piece.text) pre.append(piece.text);
    const text = pre.textContent ?? "";
    if (text.length > KEEP_CHARS) pre.textContent = text.slice(-KEEP_CHARS);
    if (stay) toEnd();
    next = piece.next;
    over = piece.over;
  };

  const ask = async () => {
    if (!box.isConnected || over) return say("ended");
    if (!paused && !document.hidden) {
      try {
        const answer = await fetch(`${box.dataset.log}${box.dataset.log?.includes("?") ? "&" : "?"}start=${next}`, {
          headers: { "X-Paika": "1" },
        });
        if (answer.ok) {
          take(await answer.json());
          say(over ? "ended" : "following");
        } else say("failed");
      } catch {
        say("failed");
      }
    }
    window.setTimeout(ask, EVERY_MS);
  };

  pause?.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = (paused ? pause.dataset.go : pause.dataset.stop) ?? "";
    say(paused ? "paused" : "following");
  });
  toEnd();
  ask();
}

export function startLogs() {
  const start = () => {
    for (const box of document.querySelectorAll("[data-log]:not([data-followed])")) {
      box.setAttribute("data-followed", "");
      follow(/** @type {HTMLElement} */ (box));
    }
  };
  start();
  document.body.addEventListener("htmx:afterSettle", start);
}
