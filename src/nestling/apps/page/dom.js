// Making elements. Text only ever becomes text: nothing here parses markup.

export const at = (id) => document.getElementById(id);

/** An element with attributes, listeners (functions under their event's name) and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Text of a document, set apart so that its direction and its bidi controls end with it. */
export const foreign = (text, tag = "bdi", attributes = {}) => make(tag, { dir: "auto", ...attributes }, text);

export const button = (label, click, attributes = {}) => make("button", { type: "button", click, ...attributes }, label);

/** Say something where a screen reader hears it; an error looks like one. */
export function say(element, text, isError = false) {
  element.textContent = text;
  element.classList.toggle("error", isError);
}

export const many = (n, one, more = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

/** A table that scrolls sideways where it must; rows are lists of text or elements, the first of each its head. */
export function table(heads, rows, label) {
  const head = make("tr", {}, ...heads.map((each) => make("th", { scope: "col" }, each)));
  const body = rows.map((row) =>
    make("tr", {}, ...row.map((cell, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, cell))));
  const whole = make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", { class: "wide", tabindex: "0", role: "group", "aria-label": label }, whole);
}

export const details = (summary, attributes, ...children) =>
  make("details", attributes, make("summary", {}, summary), ...children);

/** A value of metadata in a line. */
export const told = (value) => (typeof value === "string" ? value : JSON.stringify(value));
