// Library: the documents that there are; adding files, and deleting with a way back.

import { go, here, opening } from "./address.js";
import { documentPath, get, putFile, send } from "./api.js";
import { at, button, foreign, make, many, say, told } from "./dom.js";
import { Filters, forget, parsedWhere, unread } from "./filters.js";
import { close, current } from "./reader.js";

const PAGE = 50;
// Values of metadata that a line shows.
const SHOWN = 4;

let asked = null;
let next = null;
let count = 0;
let deleted = null;

const filters = new Filters(at("library-filters"), at("library-active"), (where) => {
  const { values } = here();
  go("library", { ...values, where: Object.keys(where).length ? JSON.stringify(where) : "" });
});

/** Bring the view to what the address says. */
export async function show(values) {
  document.title = "Library – Nestling";
  const key = JSON.stringify([values.q, values.where]);
  if (key === asked) return;
  asked = key;
  at("named").value = values.q ?? "";
  await list("");
}

async function list(after) {
  const { values } = here();
  const where = parsedWhere(values.where);
  const mine = asked;
  const query = new URLSearchParams({ limit: PAGE, after, named: values.q ?? "", where: JSON.stringify(where) });
  try {
    if (!after) await filters.show(where);
    const found = await get(`/v1/documents?${query}`);
    if (mine !== asked) return;
    const rows = found.documents.map(row);
    if (after) at("documents").append(...rows);
    else at("documents").replaceChildren(...rows);
    if (after) rows[0]?.querySelector("a").focus();
    next = found.next;
    count = found.total;
    tell();
  } catch (error) {
    if (mine !== asked) return;
    asked = null; // the same address tries again
    say(at("library-status"), error.message, true);
  }
}

function tell() {
  const { values } = here();
  const shown = at("documents").childElementCount;
  at("more-documents").hidden = next === null;
  const narrowed = values.q || values.where;
  if (unread(values.where)) say(at("library-status"), unread(values.where), true);
  else if (!count) say(at("library-status"), narrowed ? "No document fits." : "The nest is empty. Add files above, or drop them there.");
  else say(at("library-status"), shown < count ? `${shown} of ${many(count, "document")}` : many(count, "document"));
}

function row(info) {
  const link = make("a", { href: opening(info.id), class: "open" }, foreign(info.title || info.id));
  link.addEventListener("click", () => { link.href = opening(info.id); });
  const facts = [info.title && info.title !== info.id ? info.id : "", info.language,
    many(info.parents, "parent"), many(info.children, "child", "children"), many(info.characters, "character")];
  const entries = Object.entries(info.metadata);
  const values = entries.slice(0, SHOWN).map(([name, value]) => foreign(`${name}: ${told(value)}`, "span", { class: "tag" }));
  if (entries.length > SHOWN) values.push(make("span", { class: "tag" }, `and ${entries.length - SHOWN} more`));
  return make("li", { class: "row", "data-id": info.id },
    make("div", { class: "row-text" }, make("h2", {}, link),
      make("p", { class: "quiet" }, ...facts.filter(Boolean).flatMap((each) => [" · ", foreign(each)]).slice(1)),
      values.length ? make("p", { class: "tags" }, ...values) : null),
    button("Delete", () => remove(info.id), { class: "danger", "aria-label": `Delete ${info.title || info.id}` }));
}

// --- deleting, and undoing it

async function remove(id) {
  try {
    const { document: found } = await get(documentPath(id));
    await send("DELETE", documentPath(id));
    deleted = found;
    removed(id);
    const undo = button("Undo", restore);
    at("toast").replaceChildren(make("span", { class: "toast-text" }, "Deleted ", foreign(found.title || found.id), "."), undo,
      button("×", forgive, { "aria-label": "Leave it deleted", class: "plain" }));
    changed();
  } catch (error) {
    at("toast").replaceChildren(make("span", { class: "error" }, error.message), dismiss());
  }
}

const dismiss = () => button("×", () => at("toast").replaceChildren(), { "aria-label": "Close", class: "plain" });

function removed(id) {
  const line = [...at("documents").children].find((each) => each.dataset.id === id);
  if (!line) return;
  const after = line.nextElementSibling ?? line.previousElementSibling;
  const focused = line.contains(document.activeElement);
  line.remove();
  count -= 1;
  tell();
  if (focused) (after?.querySelector("a") ?? at("named")).focus();
}

function forgive() {
  deleted = null;
  at("toast").replaceChildren();
}

/** Store what was deleted last as it was. */
export async function restore() {
  if (!deleted) return;
  const { id, text, title, metadata, source } = deleted;
  try {
    await send("PUT", documentPath(id), { text, title, metadata, source });
    forgive();
    at("toast").replaceChildren(make("span", { class: "toast-text" }, foreign(title || id), " is back."), dismiss());
    changed();
    if (here().view === "library") await list("");
    [...at("documents").children].find((each) => each.dataset.id === id)?.querySelector("a").focus();
  } catch (error) {
    at("toast").replaceChildren(make("span", { class: "error" }, error.message), button("Undo", restore), dismiss());
  }
}

/** Put away what was told in passing, where nothing can be done about it any more. */
export function settle() {
  if (!deleted) at("toast").replaceChildren();
}

/** What was known of the nest is out of date. */
function changed() {
  forget();
  dispatchEvent(new Event("nest-changed"));
}

// --- adding

async function upload(files) {
  if (!files.length) {
    say(at("upload-status"), "There is no file in it; drop files or folders.", true);
    return;
  }
  const all = files.map((each) => ({ ...each, ...line(each.name) }));
  at("uploads").replaceChildren(...all.map((each) => each.element));
  const sum = { stored: 0, unchanged: 0, failed: 0 };
  const lines = all.filter((each) => isRead(each) || each.skip());
  for (const each of lines) {
    say(at("upload-status"), `Adding ${many(lines.length, "file")} …`);
    try {
      const report = await putFile(each.name, each.file, (sent, total) => each.sent(sent / (total || 1)), each.progress);
      const stored = report.added.length + report.updated.length;
      sum.stored += stored;
      sum.unchanged += report.unchanged.length;
      sum.failed += report.failed.length;
      each.done(report);
    } catch (error) {
      sum.failed += 1;
      each.failed([error.message]);
    }
  }
  changed();
  const parts = [`${many(sum.stored, "document")} stored`];
  if (sum.unchanged) parts.push(`${sum.unchanged} unchanged`);
  if (sum.failed) parts.push(`${sum.failed} failed`);
  if (lines.length < all.length) parts.push(`${all.length - lines.length} skipped`);
  say(at("upload-status"), `${parts.join(", ")}.`, sum.failed > 0);
  await list("");
}

/** Whether a file is of a kind that is read; one that was not met in a folder is tried. */
function isRead({ name, isInFolder }) {
  const suffix = /(?<=[^/])\.[^./]*$/.exec(name)?.[0].toLowerCase() ?? "";
  return !isInFolder || !suffix || at("files").dataset.kinds.split(/\s+/).includes(suffix);
}

function line(name) {
  const bar = make("progress", { max: 1, value: 0, "aria-label": `Adding ${name}` });
  const state = make("span", { class: "quiet" }, "waits");
  const element = make("li", {}, foreign(name), " ", bar, " ", state);
  const ended = (text, isError) => {
    bar.remove();
    state.className = isError ? "error" : "quiet";
    state.textContent = text;
  };
  const failed = (reasons) => ended(reasons.join(" "), true);
  return {
    element,
    sent: (share) => {
      bar.value = share / 2;
      say(state, share < 1 ? `${Math.round(100 * share)} % sent` : "being read");
    },
    progress: (event, data) => {
      if (event !== "progress") return;
      if (data.total > 1) bar.value = 0.5 + data.documents / data.total / 2;
      else bar.removeAttribute("value"); // how long one document takes is not known
      say(state, `${many(data.children, "child", "children")} embedded`);
    },
    done: (report) => {
      const { added, updated, unchanged, empty } = report;
      const what = [[added, "added"], [updated, "replaced"], [unchanged, "unchanged"], [empty, "empty"]];
      const told = what.filter(([ids]) => ids.length).map(([ids, how]) => (ids.length > 1 ? `${ids.length} ${how}` : how));
      const wrong = report.failed.map((each) => `${each.name}: ${each.reason}`.replace(`${name}: `, ""));
      if (!wrong.length) ended(told.join(", ") || "holds no document", false);
      else ended([...told, ...wrong].join("; "), true);
    },
    skip: () => ended("skipped: files of this kind are not read", false),
    failed,
  };
}

/** Files that were dropped, those of folders with their path in it. */
async function dropped(items) {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  return (await Promise.all(entries.map((entry) => filesOf(entry, "")))).flat();
}

async function filesOf(entry, above) {
  const name = above + entry.name;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => { entry.file(resolve, reject); });
    return [{ name, file, isInFolder: above !== "" }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // a folder is read in parts
    const some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    if (!some.length) break;
    // what add leaves out of a folder, too
    found.push(...some.filter((each) => !each.name.startsWith(".")));
  }
  return (await Promise.all(found.map((each) => filesOf(each, `${name}/`)))).flat();
}

// a file that misses its place must not replace the page
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => event.preventDefault());
const drop = at("drop");
drop.addEventListener("dragover", () => drop.classList.add("over"));
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", async (event) => {
  drop.classList.remove("over");
  try {
    await upload(await dropped(event.dataTransfer.items));
  } catch (error) {
    say(at("upload-status"), `What was dropped cannot be read: ${error.message}`, true);
  }
});
at("files").addEventListener("change", async (event) => {
  const files = [...event.target.files].map((file) => ({ name: file.name, file }));
  await upload(files);
  event.target.value = "";
});
at("library-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const where = filters.where();
  go("library", { q: at("named").value.trim(), where: Object.keys(where).length ? JSON.stringify(where) : "" });
});
at("more-documents").addEventListener("click", () => list(next));
at("reader-delete").addEventListener("click", async () => {
  const { document: found } = current() ?? {};
  if (!found) return;
  close();
  await remove(found.id);
});
