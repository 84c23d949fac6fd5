// @ts-check
// Forms: empty fields stay out of addresses, a button cannot be pressed twice, a file can be dropped.

/** @param {Event} event */
function leaveOutEmpty(event) {
  // @ts-ignore detail is htmx's
  const { verb, parameters } = event.detail;
  if (verb !== "get") return;
  for (const name of Object.keys(parameters)) if (parameters[name] === "") delete parameters[name];
}

/** @param {HTMLElement} zone */
function dropInto(zone) {
  const field = /** @type {HTMLInputElement | null} */ (zone.querySelector("input[type=file]"));
  if (!field) return;
  const over = (/** @type {boolean} */ on) => (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    zone.classList.toggle("over", on);
  };
  zone.addEventListener("dragover", over(true));
  zone.addEventListener("dragleave", over(false));
  zone.addEventListener("drop", (event) => {
    over(false)(event);
    if (!event.dataTransfer?.files.length) return;
    field.files = event.dataTransfer.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

export function startForms() {
  document.body.addEventListener("htmx:configRequest", leaveOutEmpty);
  document.body.addEventListener("htmx:afterSettle", (event) => {
    // @ts-ignore detail is htmx's
    if (event.detail.requestConfig?.verb !== "post") return;
    const wrong = /** @type {HTMLElement | null} */ (document.querySelector("main [aria-invalid=true]"));
    wrong?.closest("details")?.setAttribute("open", "");
    wrong?.focus();
  });
  for (const zone of document.querySelectorAll(".drop")) dropInto(/** @type {HTMLElement} */ (zone));
}
