// Filters made of the metadata that exists, as the API's `where`.

import { get } from "./api.js";
import { button, foreign, make, told } from "./dom.js";

// Numbers with more values than this are filtered by from and to; others with more are typed.
const FEW_NUMBERS = 12;
const FEW = 50;

let fields = null;

/** The fields that exist, asked for once until `forget`. */
const known = () => (fields ??= get("/v1/metadata").then((found) => found.fields, (error) => {
  fields = null;
  throw error;
}));

export const forget = () => { fields = null; };

export class Filters {
  /** `place` gets the fields, `active` a button for each filter that is set; `changed` hears of a new filter. */
  constructor(place, active, changed) {
    this.place = place;
    this.active = active;
    this.changed = changed;
    this.controls = [];
    this.rest = {};
  }

  /** Draw the fields, holding what `where` says; what no field can hold is kept as it is. */
  async show(where) {
    const found = await known();
    this.rest = { ...where };
    const controls = found.map(controlOf);
    for (const control of controls) {
      if (control.name in this.rest && control.set(this.rest[control.name])) delete this.rest[control.name];
    }
    const focused = this.controlled(document.activeElement);
    this.controls = controls;
    this.place.replaceChildren(...this.controls.map((control) => control.element));
    this.controls.find((control) => control.name === focused)?.element.querySelector("select, input").focus();
    if (!found.length) this.place.append(make("p", { class: "quiet" }, "No document has metadata to filter by."));
    const wasAmong = this.active.contains(document.activeElement);
    this.active.replaceChildren(...Object.entries(where).map(([name, value]) => this.chip(name, value, where)));
    if (wasAmong) (this.active.querySelector("button") ?? this.place.closest("details").querySelector("summary")).focus();
  }

  /** The name of the field that an element is in. */
  controlled(element) {
    return this.controls.find((control) => control.element.contains(element))?.name;
  }

  chip(name, value, where) {
    const { [name]: _, ...others } = where;
    const text = `${name}: ${shown(value)}`;
    return button(foreign(`${text} ×`), () => this.changed(others),
      { class: "filter", "aria-label": `Remove the filter ${text}` });
  }

  /** What is set now. */
  where() {
    const where = { ...this.rest };
    for (const control of this.controls) {
      const value = control.get();
      if (value !== undefined) where[control.name] = value;
    }
    return where;
  }
}

/** The filter in an address; an empty one where it cannot be read. */
export const parsedWhere = (text) => readWhere(text) ?? {};

/** What to say where the filter in an address cannot be read, else nothing. */
export const unread = (text) => (readWhere(text) ? "" : `The filter in the address is not one: ${text}`);

function readWhere(text) {
  try {
    const found = JSON.parse(text || "{}");
    return found && typeof found === "object" && !Array.isArray(found) ? found : null;
  } catch {
    return null;
  }
}

function shown(value) {
  if (value === null || typeof value !== "object") return told(value);
  const { $gte, $lte, ...others } = value;
  if (Object.keys(others).length) return JSON.stringify(value);
  if ($gte === undefined) return `to ${$lte}`;
  return $lte === undefined ? `from ${$gte}` : `${$gte} to ${$lte}`;
}

function controlOf(field) {
  if (field.least !== null && field.distinct > FEW_NUMBERS) return range(field);
  return field.distinct <= FEW ? choice(field) : typed(field);
}

const labelled = (name, ...inputs) => make("label", {}, foreign(name), ...inputs);

function choice(field) {
  const option = (value, label) => make("option", { value }, label);
  const options = field.values.map((each) =>
    option(JSON.stringify(each.value), `${told(each.value)} (${each.documents.toLocaleString("en")})`));
  const select = make("select", {}, option("", "any"), ...options);
  const set = (value) => {
    select.value = JSON.stringify(value);
    if (select.selectedIndex < 0) select.value = "";
    return select.value !== "";
  };
  const get = () => (select.value ? JSON.parse(select.value) : undefined);
  return { name: field.name, element: labelled(field.name, select), get, set };
}

function range(field) {
  const input = (what, placeholder) =>
    make("input", { type: "number", step: "any", placeholder, "aria-label": `${field.name}, ${what}` });
  const [from, to] = [input("from", field.least), input("to", field.most)];
  const get = () => {
    const bounds = {};
    if (from.value) bounds.$gte = Number(from.value);
    if (to.value) bounds.$lte = Number(to.value);
    return Object.keys(bounds).length ? bounds : undefined;
  };
  const set = (value) => {
    const bounds = typeof value === "number" ? { $gte: value, $lte: value } : value;
    const names = bounds && typeof bounds === "object" ? Object.keys(bounds) : [""];
    if (!names.every((name) => ["$gte", "$lte"].includes(name))) return false;
    from.value = bounds.$gte ?? "";
    to.value = bounds.$lte ?? "";
    return true;
  };
  const element = make("fieldset", {}, make("legend", {}, foreign(field.name)), from, " – ", to);
  return { name: field.name, element, get, set };
}

let lists = 0;

function typed(field) {
  const list = `values-${++lists}`;
  const input = make("input", { list, autocomplete: "off", dir: "auto" });
  const options = field.values.map((each) => make("option", { value: told(each.value) }));
  const get = () => {
    if (!input.value) return undefined;
    const among = field.values.find((each) => told(each.value) === input.value);
    return among ? among.value : field.least === null ? input.value : Number(input.value);
  };
  const set = (value) => {
    if (value === null || typeof value === "object") return false;
    input.value = told(value);
    return true;
  };
  return { name: field.name, element: labelled(field.name, input, make("datalist", { id: list }, ...options)), get, set };
}
