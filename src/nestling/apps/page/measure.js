// Measure: golden questions asked of an edition, and of two, question by question.

import { events, get, send } from "./api.js";
import { figure } from "./charts.js";
import { at, button, details, foreign, make, many, say, table } from "./dom.js";

// Questions named of those that found least.
const WORST = 20;
const FOUND = 3;
const SAVED = "saved";
// Figures of which less is better.
const LOWER = ["tokens", "seconds"];

let running = null;
let editionsShown = false;

/** Bring the view up; the editions are asked for once. */
export async function show() {
  document.title = "Measure – Nestling";
  if (editionsShown) return;
  editionsShown = true;
  try {
    const { editions } = await get("/v1/editions");
    const options = () => editions.map((each) => make("option", { value: each.number }, nameOf(each)));
    at("edition-b").replaceChildren(...options());
    at("edition-b").value = editions.find((each) => each.state === "live").number;
    at("edition-a").replaceChildren(make("option", { value: "" }, "nothing"), ...options(),
      make("option", { value: SAVED }, "a saved evaluation"));
    if (at("measure-status").classList.contains("error")) say(at("measure-status"), "");
  } catch (error) {
    editionsShown = false;
    say(at("measure-status"), error.message, true);
  }
}

const nameOf = (edition) => `${edition.number}: ${edition.state}, ${edition.recipe.child_size}/`
  + `${edition.recipe.parent_size} ${edition.recipe.unit}, ${edition.embedder}`;

async function measure() {
  running?.abort();
  const mine = (running = new AbortController());
  at("comparison").replaceChildren();
  at("evaluation").replaceChildren();
  at("measure-stop").hidden = false;
  try {
    const file = at("golden").files[0];
    const questions = await golden(file);
    const [a, b] = [at("edition-a").value, at("edition-b").value];
    const before = a === SAVED ? await saved() : a ? await evaluated(questions, file.name, a, mine.signal) : null;
    const found = await evaluated(questions, file.name, b, mine.signal);
    if (before) await compare(before, found, [a === SAVED ? "saved" : `edition ${a}`, `edition ${b}`]);
    draw(found);
    const skipped = found.skipped.length ? `, ${found.skipped.length} not counted` : "";
    say(at("measure-status"), `${many(found.questions.length, "question")} asked${skipped}.`);
  } catch (error) {
    if (error.name === "AbortError") say(at("measure-status"), "Stopped.");
    else say(at("measure-status"), error.message, true);
  } finally {
    if (running === mine) {
      if (document.activeElement === at("measure-stop")) document.querySelector("#measure-form .main").focus();
      at("measure-stop").hidden = at("measure-progress").hidden = true;
    }
  }
}

/** The questions in a file: one JSON object a line, or a list of them. */
async function golden(file) {
  if (!file) throw new Error("Choose a file of golden questions first.");
  const text = (await file.text()).replace(/^\ufeff/, "");
  if (text.trimStart().startsWith("[")) return parsed(text, file.name);
  return text.split("\n").flatMap((line, i) => (line.trim() ? [parsed(line, `${file.name}, line ${i + 1}`)] : []));
}

function parsed(text, name) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not JSON (${error.message}); write one question a line, as a JSON object.`,
      { cause: error });
  }
}

async function saved() {
  const file = at("saved").files[0];
  if (!file) throw new Error("Choose the saved evaluation to compare with.");
  return parsed(await file.text(), file.name);
}

/** Ask the questions of an edition, or of the live one where the editions are not known yet. */
async function evaluated(questions, name, edition, signal) {
  const number = (id) => (at(id).value === "" ? null : Number(at(id).value));
  const bar = at("measure-progress");
  bar.hidden = false;
  bar.removeAttribute("value");
  say(at("measure-status"), `Asking ${edition ? `edition ${edition}` : "the live edition"} …`);
  const body = { questions, name, edition: Number(edition) || null, charts: true,
    min_similarity: number("measure-similarity"), min_coverage: number("measure-coverage") };
  return events("/v1/evaluate", body, (event, data) => {
    if (event === "progress") [bar.max, bar.value] = [data.total, data.done];
  }, signal);
}

// --- one evaluation

function draw(found) {
  const all = found.summary.filter((each) => each.tag === null);
  at("evaluation").replaceChildren(
    make("h2", {}, "Figures of ", foreign(found.settings.golden)),
    tiles(found, all),
    make("p", {}, button("Save the evaluation", () => save(found))),
    make("h2", {}, "Plots"),
    make("div", { class: "plots" }, ...(found.charts ?? []).map(figure)),
    ...worst(found),
    details("All figures", {}, table(["figure", "mean", "95 % interval", "n"], all.map((each) =>
      [each.figure, told(each, each.mean), interval(each), each.n.toLocaleString("en")]), "All figures")),
    ...notCounted(found),
  );
}

function told(figure, value) {
  if (figure.figure.startsWith("latency")) return `${(1000 * value).toFixed(0)} ms`;
  return figure.figure.startsWith("tokens") ? value.toFixed(0) : value.toFixed(3);
}

const interval = (each) => (each.low === null ? "" : `${told(each, each.low)} to ${told(each, each.high)}`);

function tiles(found, all) {
  const last = Math.max(0, ...found.settings.k);
  const wanted = ["evidence recall", `document/nDCG@${last}`, `document/hit@${last}`, `parent/nDCG@${last}`,
    "gate precision", "gate recall", "latency p50"];
  const shown = wanted.map((name) => all.find((each) => each.figure === name)).filter(Boolean);
  return make("dl", { class: "tiles" }, ...shown.map((each) => make("div", {},
    make("dt", {}, ...each.figure.split(/(?<=\/)/).flatMap((part) => [part, make("wbr")]).slice(0, -1)),
    make("dd", { class: "value" }, told(each, each.mean)),
    make("dd", { class: "quiet" }, interval(each) ? make("span", { class: "whole" }, interval(each)) : null, " ",
      make("span", { class: "whole" }, `n = ${each.n.toLocaleString("en")}`)))));
}

/** The one figure to judge a question by, as the report takes it. */
function headline(question) {
  const { figures } = question;
  if ("evidence recall" in figures) return figures["evidence recall"];
  const cut = (name) => Number(name.split("@")[1] ?? 0);
  for (const level of ["document", "parent"]) {
    const names = Object.keys(figures).filter((each) => each.startsWith(`${level}/nDCG@`) || each === `${level}/MRR`);
    if (names.length) return figures[names.sort((a, b) => cut(b) - cut(a))[0]];
  }
  return null;
}

function worst(found) {
  const scored = found.questions.map((each) => [headline(each), each])
    .filter(([value, each]) => each.answerable && value !== null && value < 1 - 1e-9)
    .sort((a, b) => a[0] - b[0]).slice(0, WORST);
  if (!scored.length) return [];
  const items = scored.map(([value, each]) => make("li", { class: "card" },
    make("h3", {}, foreign(each.question)),
    make("p", { class: "quiet" }, foreign(each.id), ` · ${value.toFixed(2)}`), passages(each)));
  return [make("h2", {}, "Worst questions, and what was found instead"), make("ul", { class: "cards" }, ...items)];
}

function passages(question) {
  if (!question.found.length) return make("p", {}, "Nothing was found.");
  return make("ol", {}, ...question.found.slice(0, FOUND).map((each) => make("li", {},
    make("strong", {}, foreign(each.title || each.id)), " ", foreign(each.text))));
}

function notCounted(found) {
  if (!found.skipped.length) return [];
  const items = found.skipped.map((each) => make("li", {}, foreign(`${each.id}: ${each.reason}`)));
  return [details(`${many(found.skipped.length, "question")} not counted`, {}, make("ul", {}, ...items))];
}

function save(found) {
  const { charts: _, ...kept } = found;
  const url = URL.createObjectURL(new Blob([JSON.stringify(kept, null, 2)], { type: "application/json" }));
  const name = `${found.settings.golden.replace(/\.\w+$/, "") || "evaluation"}.evaluation.json`;
  make("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

// --- two evaluations

async function compare(before, after, names) {
  const strip = ({ charts: _, ...kept }) => kept;
  const found = await send("POST", "/v1/compare", { a: strip(before), b: strip(after), names });
  const [first] = found.rows;
  const signed = (value) => (value === null ? "" : `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`);
  const rows = found.rows.map((row) => [row.figure, row.a.toFixed(3), row.b.toFixed(3), signed(row.difference),
    row.low === null ? "" : `${signed(row.low)} to ${signed(row.high)}`, String(row.n),
    String(row.wins), String(row.losses), String(row.ties)]);
  const heads = ["figure", ...names, "difference", "95 % interval", "n", `${names[1]} better`, `${names[0]} better`, "equal"];
  const decided = (row) => row.low !== null && (row.low > 0 || row.high < 0);
  const clear = found.rows.filter((row) => row !== first && decided(row));
  at("comparison").replaceChildren(
    make("h2", {}, `${names[1]} against ${names[0]}`),
    foreign(first ? `${first.figure}: ${first.verdict}` : "They have no figure in common.", "p", { class: "verdict-line" }),
    make("ul", {}, ...clear.map((row) => foreign(`${row.figure}: ${row.verdict}`, "li"))),
    ...scope(found, names),
    details(`All ${rows.length} figures of both`, {}, table(heads, rows, "Both evaluations, figure by figure")),
    ...questionByQuestion(before, after, found.rows.map((row) => row.figure), names),
  );
}

function scope(found, names) {
  const differing = Object.entries(found.differing).map(([name, [a, b]]) =>
    make("li", {}, foreign(`${name}: ${JSON.stringify(a)} → ${JSON.stringify(b)}`)));
  const left = [[found.only_a, `only in ${names[0]}`], [found.only_b, `only in ${names[1]}`],
    [found.reworded, "not compared, since their text differs"]].filter(([ids]) => ids.length);
  const items = [...differing, ...left.map(([ids, what]) => make("li", {}, foreign(`${what}: ${ids.join(", ")}`)))];
  return items.length ? [details(`What differs (${items.length})`, {}, make("ul", {}, ...items))] : [];
}

/** Every question in both, those that changed most first, each with what either found. */
function questionByQuestion(before, after, figures, names) {
  if (!figures.length) return [];
  const place = make("div", {});
  const draw = (name) => place.replaceChildren(...pairsBy(before, after, name, names));
  const options = figures.map((each) => make("option", { value: each }, each));
  const select = make("select", { change: (event) => draw(event.target.value) }, ...options);
  draw(figures[0]);
  return [make("h2", {}, "Question by question"), make("div", { class: "fields" }, make("label", {}, "Figure", select)), place];
}

function pairsBy(before, after, figureName, names) {
  const valueOf = (question) => question.figures[figureName]
    ?? (figureName === "seconds" ? question.seconds : figureName === "tokens" ? tokensOf(question) : undefined);
  const known = new Map(before.questions.map((each) => [each.id, each]));
  const pairs = after.questions.flatMap((b) => {
    const a = known.get(b.id);
    const both = a?.question === b.question && [valueOf(a), valueOf(b)];
    return both && both.every((each) => each !== undefined) ? [{ a, b, values: both, change: both[1] - both[0] }] : [];
  }).sort((one, other) => Math.abs(other.change) - Math.abs(one.change) || other.change - one.change);
  const items = pairs.map((pair) => make("li", {}, questionPair(pair, names, LOWER.includes(figureName))));
  const changed = pairs.filter((pair) => Math.abs(pair.change) > 1e-9).length;
  const list = make("ul", { class: "pairs" }, ...items.slice(0, changed));
  const rest = details(`${many(pairs.length - changed, "question")} without a change`, {},
    make("ul", { class: "pairs" }, ...items.slice(changed)));
  return [make("p", { class: "quiet" }, `${names[0]} → ${names[1]}: ${changed} of ${many(pairs.length, "question")} changed.`),
    list, ...(pairs.length > changed ? [rest] : [])];
}

/** The mean size of a question's contexts. */
function tokensOf(question) {
  const sizes = Object.values(question.tokens);
  return sizes.length ? sizes.reduce((sum, each) => sum + each, 0) / sizes.length : undefined;
}

function questionPair({ a, b, values, change }, names, lower) {
  const gain = lower ? -change : change;
  const kind = gain > 1e-9 ? "better" : gain < -1e-9 ? "worse" : "equal";
  const sign = { better: "▲ better", worse: "▼ worse", equal: "= equal" }[kind];
  const summary = make("summary", {}, make("span", { class: `change ${kind}` }, sign), " ",
    `${values[0].toFixed(2)} → ${values[1].toFixed(2)} `, foreign(b.question));
  return make("details", {}, summary, make("div", { class: "sides" },
    make("div", {}, make("h3", {}, names[0]), passages(a)),
    make("div", {}, make("h3", {}, names[1]), passages(b))));
}

at("measure-form").addEventListener("submit", (event) => {
  event.preventDefault();
  measure();
});
at("measure-stop").addEventListener("click", () => running?.abort());
at("edition-a").addEventListener("change", (event) => {
  at("saved-field").hidden = event.target.value !== SAVED;
});
