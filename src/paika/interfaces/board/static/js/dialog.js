// @ts-check
// Dialogs: a button fetches one into #dialog; it opens when it is there and closes when the act is done.

export function startDialogs() {
  const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("dialog"));
  document.addEventListener("click", (event) => {
    const at = /** @type {HTMLElement} */ (event.target);
    if (at.closest("[data-close]")) at.closest("dialog")?.close();
    if (at.tagName === "DIALOG" && !at.querySelector("input, textarea, select")) {
      /** @type {HTMLDialogElement} */ (at).close();
    }
  });
  if (!dialog) return;
  document.body.addEventListener("htmx:afterSwap", (event) => {
    if (event.target !== dialog || dialog.childElementCount === 0) return;
    if (!dialog.open) dialog.showModal();
    /** @type {HTMLElement | null} */ (dialog.querySelector("[aria-invalid=true], [autofocus]"))?.focus();
  });
  document.body.addEventListener("paika:done", () => dialog.close());
  dialog.addEventListener("close", () => dialog.replaceChildren());
}
