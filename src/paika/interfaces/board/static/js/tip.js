// @ts-check
// What a card knows, in full, beside it: on hover and on keyboard focus. The words come from a <template> inside.

const GAP = 8;

/** @param {HTMLElement} tip @param {{left: number, top: number, bottom: number}} box what it is beside, in the viewport */
export function place(tip, box) {
  const left = Math.min(Math.max(GAP, box.left), innerWidth - tip.offsetWidth - GAP);
  const below = box.bottom + GAP + tip.offsetHeight <= innerHeight;
  const top = below ? box.bottom + GAP : Math.max(GAP, box.top - GAP - tip.offsetHeight);
  tip.style.left = `${Math.max(GAP, left)}px`;
  tip.style.top = `${top}px`;
}

export function startTips() {
  const tip = document.getElementById("tip");
  if (!tip) return;
  const hide = () => {
    tip.hidden = true;
  };
  const show = (/** @type {Event} */ event) => {
    const anchor = /** @type {Element} */ (event.target).closest?.("[data-tip]");
    const words = anchor?.querySelector("template");
    if (!anchor || !words) return;
    tip.replaceChildren(words.content.cloneNode(true));
    tip.hidden = false;
    place(tip, anchor.getBoundingClientRect());
  };
  document.addEventListener("pointerover", (event) => event.pointerType !== "touch" && show(event));
  document.addEventListener("pointerout", (event) => {
    const to = /** @type {Element | null} */ (event.relatedTarget);
    if (!to?.closest?.("[data-tip]")) hide();
  });
  document.addEventListener("focusin", (event) => {
    if (/** @type {Element} */ (event.target).matches(":focus-visible")) show(event);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("scroll", hide, { passive: true, capture: true });
}
