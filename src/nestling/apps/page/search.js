// Search: passages as cards, evidence in place, and why each was found.

import { address, go, here, opening } from "./address.js";
import { send } from "./api.js";
import { at, button, details, foreign, make, many, say, table, told } from "./dom.js";
import { Filters, parsedWhere, unread } from "./filters.js";
import { Points, joined, marked, wordEnd, wordStart } from "./points.js";
import { remember } from "./reader.js";

const PASSAGES = 10;
// A passage is shown in parts where it is longer than this, with so much around its evidence.
const LONG = 700;
const AROUND = 160;
// Characters that this may be shorter or longer, not to cut a word.
const WORD = 24;
const LISTS = ["document", "parent", "child"].flatMap((level) => ["dense", "lexical"].map((channel) => [level, channel]));

let asked = null;
let running = null;

const filters = new Filters(at("search-filters"), at("search-active"), (where) => {
  const { values } = here();
  go("search", { ...values, where: Object.keys(where).length ? JSON.stringify(where) : "" });
});

const INVITING = "Ask in your own words: the passages of the documents that answer come back, best first.";
const EMPTY = "The nest is empty. Add files in the Library, then search here.";
let hint = INVITING;
let hinting = false;

/** Hear how many documents the nest holds. */
export function holds(documents) {
  hint = documents ? INVITING : EMPTY;
  if (hinting) say(at("search-status"), hint);
}

const number = (text) => (text === "" || text === undefined ? null : Number(text));

/** Bring the view to what the address says. */
export async function show(values) {
  document.title = values.q ? `${values.q} – Nestling` : "Nestling";
  const key = JSON.stringify([values.q, values.k, values.where, values.sim, values.cov]);
  if (key === asked) return;
  asked = key;
  at("query").value = values.q ?? "";
  at("k").value = values.k ?? PASSAGES;
  at("min-similarity").value = values.sim ?? "";
  at("min-coverage").value = values.cov ?? "";
  const where = parsedWhere(values.where);
  filters.show(where).catch((error) => say(at("search-status"), error.message, true));
  at("cards").replaceChildren();
  at("search-why").replaceChildren();
  at("more").hidden = true;
  say(at("search-status"), "");
  hinting = !values.q && !unread(values.where);
  if (unread(values.where)) say(at("search-status"), unread(values.where), true);
  else if (values.q) await more(bodyOf(values, where), 0);
  else say(at("search-status"), hint);
}

const bodyOf = (values, where) => ({
  query: values.q,
  k: number(values.k) ?? PASSAGES,
  where,
  min_similarity: number(values.sim),
  min_coverage: number(values.cov),
  explain: true,
});

async function more(body, offset) {
  running?.abort();
  const mine = (running = new AbortController());
  say(at("search-status"), "Searching …");
  try {
    const found = await send("POST", "/v1/search", { ...body, offset }, mine.signal);
    draw(found, body, offset);
  } catch (error) {
    if (error.name === "AbortError") return;
    asked = null; // the same address tries again
    say(at("search-status"), error.message, true);
  }
}

function draw(found, body, offset) {
  const { passages, explanation } = found;
  const cards = passages.map((passage, i) => card(passage, explanation.votes[passage.id] ?? [], offset + i + 1,
    explanation.reranked[passage.id]));
  at("cards").append(...cards);
  if (offset) cards[0]?.querySelector("a").focus();
  else at("search-why").replaceChildren(how(explanation));
  const count = offset + passages.length;
  say(at("search-status"), found.abstained ?? (count ? many(count, "passage") + nearest(passages, offset)
    : hint === EMPTY ? EMPTY : "No passage matches."));
  at("more").hidden = !passages.length || passages.length < body.k;
  at("more").onclick = () => more(body, count);
}

/** What has to be said where no word of the question was found. */
const nearest = (passages, offset) => (offset || passages.some((each) => each.coverage > 0) ? ""
  : ". None holds a word of the question: they are only the nearest in meaning.");

function card(passage, votes, position, reranked) {
  const points = new Points(passage.text);
  const best = Math.max(...passage.evidence.map((each) => each.score));
  const spans = passage.evidence.map((each) => [each.start, each.end, each.score === best]);
  remember(passage.id, passage.evidence.map((each) => [each.document_start, each.document_end, each.score === best]));
  const text = make("p", { class: "text", dir: "auto" });
  const whole = () => text.replaceChildren(...marked(points, 0, points.length, spans));
  const parts = points.length > LONG ? around(points, spans) : [[0, points.length]];
  const all = parts.length === 1 && parts[0][0] === 0 && parts[0][1] === points.length;
  text.append(...excerpt(points, parts, spans));
  const rest = all ? null : button("Whole passage", (event) => {
    whole();
    event.target.remove();
  }, { class: "plain" });
  const heading = passage.heading.filter((each, i) => i || each !== passage.title);
  const page = passage.metadata.page;
  const place = [passage.title ? passage.id : null, heading.join(" › ") || null,
    page === undefined ? null : `page ${told(page)}`].filter(Boolean);
  const title = make("a", { href: opening(passage.id), class: "open" }, foreign(passage.title || passage.id));
  // the address may have changed since the card was made
  title.addEventListener("click", () => { title.href = opening(passage.id); });
  return make("li", {}, make("article", { class: "card", "aria-label": `${position}: ${passage.title || passage.id}` },
    make("h2", {}, title),
    make("p", { class: "place quiet" }, ...place.flatMap((each) => [" · ", foreign(each)]).slice(1)),
    text, rest, why(passage, votes, reranked)));
}

/** The parts of a passage to show: evidence with what stands around it. */
function around(points, spans) {
  const wide = spans.map(([start, end]) => [start - AROUND, end + AROUND]);
  return joined(wide.length ? wide : [[0, LONG]], 0, points.length)
    .map(([start, end]) => [wordStart(points, start, WORD), wordEnd(points, end, WORD)]);
}

function excerpt(points, parts, spans) {
  const nodes = parts.flatMap(([start, end], i) => [i ? " … " : start ? "… " : "", ...marked(points, start, end, spans)]);
  return parts.at(-1)[1] < points.length ? [...nodes, " …"] : nodes;
}

const WHY = "The score orders the passages of this question. Similarity is how near the meaning is, at most 1; coverage, how "
  + "much of the question’s words stands here. The best child’s place in six lists, by vectors and by words, makes the score: "
  + "each adds its vote times its weight.";

const three = (value) => value.toFixed(3);

/** Why a passage was found: its figures, and the six lists. */
function why(passage, votes, reranked) {
  const similarity = passage.similarity === null ? "vectors did not vote" : `similarity ${three(passage.similarity)}`;
  const figures = `score ${three(passage.score)} · ${similarity} · coverage ${three(passage.coverage)}`
    + ` · ${many(passage.hits, "child", "children")} matched`
    + (reranked ? ` · best child reranked from place ${reranked.before} to ${reranked.place}` : "");
  const rows = LISTS.map(([level, channel]) => {
    const vote = votes.find((each) => each.level === level && each.channel === channel);
    const name = `${level}, ${channel === "dense" ? "vectors" : "words"}`;
    if (!vote) return [name, "not in it", "", "", "", ""];
    const adds = vote.vote * vote.weight;
    const bar = make("meter", { min: 0, max: Math.max(passage.score, adds), value: adds, "aria-label": "share of the score" });
    return [name, String(vote.rank), three(vote.score), three(vote.vote), three(vote.weight),
      make("span", { class: "adds" }, bar, three(adds))];
  });
  const heads = ["list", "rank", "score", "vote", "weight", "adds"];
  return details(make("span", {}, "Why ", make("kbd", { "aria-hidden": "true" }, "e")), { class: "why" },
    make("p", { class: "quiet" }, figures), make("div", { class: "quiet" }, WHY),
    table(heads, rows, "What the six lists gave its best child"));
}

/** How the question was searched, and what was left out and why. */
function how(explanation) {
  const { language, terms, channels, notes, dropped } = explanation;
  const words = { dense: "vectors", lexical: "words" };
  const left = Object.entries(dropped);
  const lines = [
    `Language: ${language || "not told"}`,
    `Matched by: ${terms.join(" ") || "no words"}`,
    `Asked: ${channels.map((each) => words[each] ?? each).join(" and ") || "nothing"}`,
    ...notes,
  ];
  const items = left.map(([id, reason]) =>
    make("li", {}, make("a", { href: opening(id) }, foreign(id)), ": ", foreign(reason)));
  return details(left.length ? `How this was searched, and ${many(left.length, "passage")} left out`
    : "How this was searched", { class: "how", open: left.length > 0 && !at("cards").childElementCount },
  make("ul", {}, ...lines.map((each) => foreign(each, "li"))),
  ...(items.length ? [make("h2", {}, "Left out"), make("ul", {}, ...items)] : []));
}

// a search field empties itself otherwise
at("query").addEventListener("keydown", (event) => { if (event.key === "Escape") event.preventDefault(); });
at("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const where = filters.where();
  const k = at("k").value;
  const values = {
    q: at("query").value.trim(),
    k: Number(k) === PASSAGES ? "" : k,
    where: Object.keys(where).length ? JSON.stringify(where) : "",
    sim: at("min-similarity").value,
    cov: at("min-coverage").value,
  };
  if (address("search", values) !== location.hash) {
    go("search", values);
    return;
  }
  asked = null;
  show(here().values);
});
