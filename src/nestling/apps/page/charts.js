// The plots of an evaluation, which the server draws. Only shapes and letters of a plot are taken over.

import { make, table } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = new Set(["svg", "g", "title", "text", "line", "polyline", "path", "rect", "circle"]);
const LOOKS = new Set(["class", "viewBox", "role", "aria-label", "points", "d", "x", "y", "x1", "x2", "y1", "y2",
  "cx", "cy", "r", "rx", "ry", "width", "height", "text-anchor"]);
const PART = /<(\/?)([\w-]+)((?:\s+[\w:-]+="[^"]*")*)\s*(\/?)>|([^<]+)/g;
const ATTRIBUTE = /([\w:-]+)="([^"]*)"/g;
const LETTERS = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'" };

const plain = (text) => text.replace(/&([#\w]+);/g, (whole, name) => LETTERS[name] ?? whole);

/** A plot as elements; what is no shape of a plot is left out. */
export function drawn(svg) {
  const root = make("div", { class: "plot" });
  const open = [root];
  for (const [, closing, name, attributes, empty, text] of svg.matchAll(PART)) {
    if (text !== undefined) open.at(-1).append(plain(text));
    else if (closing) open.pop();
    else {
      const element = SHAPES.has(name) ? document.createElementNS(SVG, name) : make("span", { hidden: true });
      for (const [, key, value] of attributes.matchAll(ATTRIBUTE)) {
        if (LOOKS.has(key)) element.setAttribute(key, plain(value));
      }
      open.at(-1).append(element);
      if (!empty) open.push(element);
    }
  }
  return root;
}

/** A plot with its title, its sentence, and its numbers. */
export const figure = (chart) => make("figure", {},
  make("h3", {}, chart.title),
  make("figcaption", {}, chart.caption),
  drawn(chart.svg),
  make("details", {}, make("summary", {}, "In numbers"), table(chart.heads, chart.rows, `${chart.title}, in numbers`)));
