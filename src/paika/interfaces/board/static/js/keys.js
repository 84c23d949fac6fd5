// @ts-check
// Keyboard: "/" to the filter, "g" and a letter to a page, "n" a new task, "?" what the keys do.

const CHORD_MS = 1500;
let chord = 0;

/** @param {Event} event */
function typing(event) {
  const at = /** @type {HTMLElement} */ (event.target);
  return at.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName);
}

/** @param {string} key */
function go(key) {
  const link = /** @type {HTMLAnchorElement | null} */ (document.querySelector(`a[data-key="${CSS.escape(key)}"]`));
  link?.click();
  return link !== null;
}

export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    if (document.querySelector("dialog[open]")) return;
    const second = Date.now() - chord < CHORD_MS;
    chord = 0;
    if (second && go(`g ${event.key}`)) event.preventDefault();
    else if (event.key === "g") chord = Date.now();
    else if (event.key === "/") {
      const field = /** @type {HTMLInputElement | null} */ (document.querySelector("[data-filter]"));
      field?.focus();
      field?.select();
      if (field) event.preventDefault();
    } else if (event.key === "?") {
      /** @type {HTMLDialogElement | null} */ (document.getElementById("help"))?.showModal();
      event.preventDefault();
    } else if (event.key === "n") go("n");
  });
}
