// A card beside what has the focus or the pointer: a passage, or a verdict.

import { at } from "./dom.js";

// Milliseconds for the pointer to go from the mark to its card.
const PATIENCE = 200;
const GAP = 6;

const card = at("peek");
let owner = null;
let leaving = 0;

/** Let an element show a card; `content` makes its nodes, one of them with the id `peek-said`. */
export function peeks(element, content) {
  const come = () => show(element, content);
  // a finger comes and leaves at once: a touch shows by the focus
  const hovering = (act) => (event) => { if (event.pointerType !== "touch") act(); };
  element.addEventListener("pointerenter", hovering(come));
  element.addEventListener("pointerleave", hovering(leave));
  element.addEventListener("focus", come);
  element.addEventListener("blur", hide);
}

export const isShownFor = (element) => owner === element;

async function show(element, content) {
  clearTimeout(leaving);
  if (owner === element) return;
  owner = element;
  const nodes = await content();
  if (owner !== element) return;
  card.replaceChildren(...nodes);
  element.setAttribute("aria-describedby", "peek-said");
  if (!card.matches(":popover-open")) card.showPopover();
  place(element);
}

function place(element) {
  const box = element.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const below = innerHeight - box.bottom - GAP;
  const top = below >= height || below >= box.top ? box.bottom + GAP : Math.max(GAP, box.top - height - GAP);
  card.style.top = `${top}px`;
  card.style.left = `${Math.max(GAP, Math.min(box.left, innerWidth - width - GAP))}px`;
}

function leave() {
  clearTimeout(leaving);
  if (document.activeElement === owner) return;
  leaving = setTimeout(hide, PATIENCE);
}

/** Put the card away; gives whether there was one. */
export function hide() {
  if (!owner) return false;
  owner.removeAttribute("aria-describedby");
  owner = null;
  if (card.matches(":popover-open")) card.hidePopover();
  return true;
}

card.addEventListener("pointerenter", () => clearTimeout(leaving));
card.addEventListener("pointerleave", leave);
addEventListener("scroll", () => owner && place(owner), { passive: true });
