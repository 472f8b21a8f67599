// The page: which view is shown, the theme, and the keys.

import { here } from "./address.js";
import { changeKey, get, hasKey } from "./api.js";
import { at, many, say } from "./dom.js";
import { hide } from "./peek.js";
import * as ask from "./ask.js";
import * as library from "./library.js";
import * as measure from "./measure.js";
import * as reader from "./reader.js";
import * as search from "./search.js";

const VIEWS = { search, ask, library, measure };
const FIRST = { search: "query", ask: "question", library: "named", measure: "golden" };
const THEMES = ["system", "light", "dark"];
const LETTERS = "nestling.letters";

let shown = null;
// whether what stands in the head is so
let isKnown = true;

function route() {
  if (!isKnown) head();
  const { view, values } = here();
  const name = view in VIEWS ? view : "search";
  hide();
  for (const each of Object.keys(VIEWS)) at(each).hidden = each !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  VIEWS[name].show(values);
  reader.show(values.open);
  library.settle();
  if (shown !== name && shown !== null && !values.open) at("main").focus({ preventScroll: true });
  shown = name;
}

async function head() {
  try {
    const { nest, documents } = await get("/v1/stats");
    say(at("nest"), `${nest}, ${many(documents, "document")}`);
    search.holds(documents);
    isKnown = true;
  } catch (error) {
    say(at("nest"), error.status === 401 ? "no key" : "no answer", true);
    isKnown = false;
  }
  at("key-button").hidden = !hasKey();
}

// --- theme

const theme = () => document.documentElement.dataset.theme ?? "system";

function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  localStorage.setItem("nestling.theme", name);
  at("theme").textContent = `Theme: ${name}`;
}

// --- keys

const KEYS = {
  "/": () => at(FIRST[shown]).focus(),
  "?": () => at("help").showModal(),
  1: () => { location.hash = "search"; },
  2: () => { location.hash = "ask"; },
  3: () => { location.hash = "library"; },
  4: () => { location.hash = "measure"; },
  j: () => step(1),
  k: () => step(-1),
  o: () => focused()?.querySelector("a.open")?.click(),
  e: () => {
    const why = focused()?.querySelector("details.why");
    if (why) why.open = !why.open;
  },
  u: () => library.restore(),
};

const lines = () => [...at(shown).querySelectorAll(".cards > li, .documents > li")];
const focused = () => document.activeElement?.closest(".cards > li, .documents > li");

function step(by) {
  const all = lines();
  const now = all.indexOf(focused());
  const next = all[now < 0 ? 0 : Math.max(0, Math.min(all.length - 1, now + by))];
  const link = next?.querySelector("a.open");
  if (!link) return;
  link.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && hide()) {
    event.preventDefault();
    return;
  }
  const typing = event.target.closest("input:not([type=checkbox]):not([type=file]), textarea, select");
  if (event.key === "Escape" && typing && !typing.closest("dialog")) typing.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !at("letters").checked) return;
  if (at("reader").open) {
    if (event.key === "n") reader.drawNest();
    return;
  }
  if (document.querySelector("dialog[open]") || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

// --- beginning

at("theme").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]));
at("theme").textContent = `Theme: ${theme()}`;
at("key-button").addEventListener("click", async () => { if (await changeKey()) location.reload(); });
at("help-button").addEventListener("click", () => at("help").showModal());
at("help-close").addEventListener("click", () => at("help").close());
at("letters").checked = localStorage.getItem(LETTERS) !== "off";
at("letters").addEventListener("change", (event) => {
  localStorage.setItem(LETTERS, event.target.checked ? "on" : "off");
});
at("skip").addEventListener("click", (event) => {
  event.preventDefault();
  at("main").focus();
});
addEventListener("hashchange", route);
addEventListener("nest-changed", head);
route();
head();
