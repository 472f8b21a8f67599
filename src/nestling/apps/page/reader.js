// One document, whole, with the passage in view; its parents and children drawn over the text where wanted.

import { here, go } from "./address.js";
import { documentPath, get } from "./api.js";
import { at, foreign, make, many, say, told } from "./dom.js";
import { Points, joined, marked } from "./points.js";

let drawn = false;
let shown = null;
let wanted = null;
// What to mark in a passage, by its id: spans of the document.
const marks = new Map();

/** Remember what is to be marked when a passage is opened; what is open already is marked at once. */
export function remember(id, spans) {
  marks.set(id, spans);
  if (shown?.tree.id !== id || shown.marks.length || !spans.length) return;
  shown.marks = spans;
  draw();
}

/** Open a document or passage by its id, or close what is open where there is none. */
export async function show(id) {
  const dialog = at("reader");
  if (wanted === (id ?? null)) return;
  wanted = id ?? null;
  if (!id) {
    if (dialog.open) dialog.close();
    shown = null;
    return;
  }
  at("reader-title").replaceChildren(foreign(id));
  at("reader-about").replaceChildren();
  at("reader-legend").hidden = true;
  shown = null;
  withTools(false);
  say(at("reader-text"), "Loading …");
  if (!dialog.open) dialog.showModal();
  try {
    const tree = await get(documentPath(id));
    if (wanted !== id) return;
    shown = { tree, points: new Points(tree.document.text), marks: marks.get(id) ?? [] };
    withTools(true);
    draw();
  } catch (error) {
    if (wanted !== id) return;
    say(at("reader-text"), error.status === 404
      ? `There is no document or passage “${id}” in this nest. It may have been deleted, or stored by another id.`
      : error.message, true);
  }
  at("reader-text").focus({ preventScroll: true });
}

/** Whether there is a document that can be drawn and deleted. */
function withTools(are) {
  at("draw").hidden = at("reader-delete").hidden = !are;
}

/** Whether the parents and children are drawn from now on. */
export function drawNest(value) {
  drawn = value ?? !drawn;
  at("draw").setAttribute("aria-pressed", String(drawn));
  if (shown) draw();
}

/** The document that is open, as the API shows it, or null. */
export const current = () => shown?.tree ?? null;

function draw() {
  const { tree, points } = shown;
  const { document: found, parents } = tree;
  at("reader-title").replaceChildren(foreign(found.title || found.id));
  const about = [found.title ? found.id : "", found.source && found.source !== found.id ? found.source : ""];
  about.push(...Object.entries(found.metadata).map(([name, value]) => `${name}: ${told(value)}`));
  const parts = about.filter(Boolean).flatMap((each) => [foreign(each), " · "]).slice(0, -1);
  at("reader-about").replaceChildren(...parts);
  at("reader-text").classList.toggle("drawn", drawn);
  at("reader-text").replaceChildren(...(drawn ? nest() : [plain()]));
  const children = parents.reduce((sum, parent) => sum + parent.children.length, 0);
  at("reader-legend").hidden = !drawn;
  say(at("reader-legend"), `${many(parents.length, "parent")} (framed), ${many(children, "child", "children")} `
    + `(tinted by turns, numbered where they begin), ${many(points.length, "character")}.`);
  intoView();
}

/** The text as it is, the passage set off. */
function plain() {
  const { tree, points, marks: spans } = shown;
  const { start, end } = tree;
  const whole = start === 0 && end === points.length;
  const text = make("div", { class: "plain-text", dir: "auto" }, ...marked(points, 0, start, []));
  const passage = make("span", { class: whole ? "" : "passage", id: "passage" }, ...marked(points, start, end, spans));
  text.append(passage, ...marked(points, end, points.length, []));
  return text;
}

/** Every parent framed, every child tinted. */
function nest() {
  const { tree, points } = shown;
  let before = 0;
  return tree.parents.map((parent) => {
    // where parents overlap, text is shown once
    const start = Math.max(before, parent.start);
    before = Math.max(before, parent.end);
    const isPassage = parent.id === tree.id && tree.parents.length > 1;
    const head = make("p", { class: "parent-head" }, foreign(parent.id), " ",
      foreign(parent.heading.join(" › ")), ` · ${many(parent.end - parent.start, "character")}`);
    const list = make("details", { class: "children", toggle: listed }, make("summary", {},
      many(parent.children.length, "child", "children")));
    function listed() {
      if (list.childElementCount > 1) return;
      list.append(make("ul", {}, ...parent.children.map((child) => foreign(childTold(child), "li"))));
    }
    const body = make("div", { class: "parent-text", dir: "auto" }, ...childrenOf(parent, start));
    return make("section", { class: isPassage ? "parent passage" : "parent", id: isPassage ? "passage" : null,
      "aria-label": `Parent ${parent.id}` }, head, list, body);
  });

  function childrenOf(parent, start) {
    const cuts = new Set([start, parent.end]);
    for (const child of parent.children) cuts.add(child.start).add(child.end);
    const places = [...cuts].filter((cut) => cut >= start && cut <= parent.end).sort((a, b) => a - b);
    return places.slice(0, -1).map((from, i) => {
      const to = places[i + 1];
      const inside = parent.children.flatMap((child, n) => (child.start <= from && to <= child.end ? [n] : []));
      const kind = inside.length > 1 ? "overlap" : inside.length ? (inside[0] % 2 ? "odd" : "even") : "";
      const title = inside.map((n) => childTold(parent.children[n])).join("\n");
      const number = inside.length && parent.children[inside.at(-1)].start === from ? inside.at(-1) : null;
      return make("span", { class: `child ${kind}`, title: title || null, "data-number": number }, ...marked(points, from, to, shown.marks));
    });
  }
}

const childTold = (child) =>
  `${child.id}: ${many(child.end - child.start, "character")}${child.lead ? `, lead “${child.lead}”` : ""}`;

function intoView() {
  const { tree, marks: spans } = shown;
  const place = at("passage");
  const text = at("reader-text");
  if (!place || (tree.start === 0 && !joined(spans, tree.start, tree.end).length)) {
    text.scrollTop = 0;
    return;
  }
  const target = place.querySelector("mark") ?? place;
  // a passage that fits is shown from its beginning
  const tall = place.getBoundingClientRect().height > text.clientHeight;
  (tall ? target : place).scrollIntoView({ block: tall ? "center" : "start" });
}

/** Close, which is a step back where opening was a step. */
export function close() {
  at("reader").close();
  const { view, values } = here();
  go(view, { ...values, open: "" });
}

at("draw").addEventListener("click", () => drawNest());
at("reader-close").addEventListener("click", close);
at("reader").addEventListener("cancel", (event) => {
  event.preventDefault();
  close();
});
