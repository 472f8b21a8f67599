// Ask: an answer as it is written, with chips for what it cites, and marks where it says more than the passages.

import { address, go, opening } from "./address.js";
import { documentPath, events, get } from "./api.js";
import { at, button, details, foreign, make, many, say, told } from "./dom.js";
import { hide, isShownFor, peeks } from "./peek.js";
import { Points, joined, marked, wordEnd, wordStart } from "./points.js";
import { remember } from "./reader.js";

// As answers are written: see docs/asking.md.
const MARKER = /\[\s*cite\s*:([^[\]]*)\]/gi;
const VERDICTS = {
  supported: "supported",
  misattributed: "found in another passage",
  stitched: "put together from separate passages",
  fabricated: "not in the passages",
  uncited: "cites nothing, and not found",
};
const STANDINGS = {
  outside: "not among the passages that it was answered from",
  unknown: "there is no such passage",
  document: "a document, and no passage of it",
  child: "a child, and no passage",
  malformed: "not readable as a citation",
};
// Code points that a card shows around what is marked, and how far it looks not to cut a word.
const AROUND = 180;
const WORD = 24;
const STOP = /^[.,;:!?…]*/;
const CLOSING = /["'”’»“«」]/;
const HINT = "The answer is made from the documents, and every sentence of it is checked against them.";

let running = null;
let lastTouch = false;
let asked = null;
// answers of this visit, to go back to
const answers = new Map();

/** Bring the view to what the address says; a question that was not asked yet is left to the reader to ask. */
export function show(values) {
  document.title = values.q ? `${values.q} – Ask – Nestling` : "Ask – Nestling";
  if (asked === null) say(at("ask-status"), HINT);
  if (!values.q || values.q === asked) return;
  running?.abort();
  running = null;
  ended();
  asked = values.q;
  at("question").value = values.q;
  const found = answers.get(values.q);
  if (found) {
    draw(found);
    return;
  }
  at("answer").hidden = true;
  at("answered-from").replaceChildren();
  say(at("ask-status"), `Not asked yet: press Ask. ${HINT}`);
}

function ended() {
  if (document.activeElement === at("stop")) at("question").focus();
  at("stop").hidden = true;
  at("answer").removeAttribute("aria-busy");
}

async function ask(question) {
  running?.abort();
  const mine = (running = new AbortController());
  const answer = at("answer");
  let text = "";
  asked = question;
  answer.hidden = true;
  answer.setAttribute("aria-busy", "true");
  answer.replaceChildren();
  at("answered-from").replaceChildren();
  at("stop").hidden = false;
  say(at("ask-status"), "Answering …");
  try {
    const hear = (name, data) => {
      if (name !== "text" || mine.signal.aborted) return;
      text += data.text;
      answer.hidden = false;
      answer.replaceChildren(make("p", { class: "said", dir: "auto" }, ...provisional(text)));
    };
    const found = await events("/v1/ask", { question, context: true }, hear, mine.signal);
    if (running !== mine) return;
    answers.set(question, found);
    draw(found);
  } catch (error) {
    if (running !== mine) return;
    const unverified = text ? " What was written so far was not verified." : "";
    if (error.name === "AbortError") say(at("ask-status"), `Stopped.${unverified}`);
    else say(at("ask-status"), `${error.message}${unverified}`, true);
  } finally {
    if (running === mine) ended();
  }
}

/** Text that is still being written: its markers as chips that say nothing yet. */
function provisional(text) {
  const nodes = [];
  let last = 0;
  for (const found of text.matchAll(MARKER)) {
    nodes.push(text.slice(last, found.index), make("span", { class: "chip", "aria-hidden": "true" }, "…"));
    last = found.index + found[0].length;
  }
  // a marker that is not whole yet
  return [...nodes, text.slice(last).replace(/\[[^[\]]*$/, "")];
}

function draw(found) {
  const { claims, citations } = found.verification;
  const answer = at("answer");
  const passages = new Map(found.context.passages.map((each) => [each.id, each]));
  answer.hidden = false;
  if (found.abstained) {
    answer.replaceChildren(make("p", {}, make("strong", {}, "No answer: "), foreign(found.abstained)),
      make("p", {}, make("a", { href: address("search", { q: found.question }) }, "Search for it"), " to see what is nearest."));
    say(at("ask-status"), "There is no answer.");
  } else {
    const numbers = numbered(citations);
    answer.replaceChildren(make("p", { class: "said", dir: "auto" }, ...written(found, numbers, passages)));
    say(at("ask-status"), judged(claims) + wrongly(citations));
  }
  const writer = found.model ? `Written by ${found.model}` : "Sentences of the passages, as they stand";
  const about = [found.abstained ? "" : writer,
    found.tier === "lexical only" ? "found by words only" : "", ...found.notes];
  answer.append(foreign(about.filter(Boolean).join(" · "), "p", { class: "quiet about" }));
  at("answered-from").replaceChildren(...from(found.context.passages));
}

/** One number for each thing that is cited, in the order of the text. */
function numbered(citations) {
  const numbers = new Map();
  const nameOf = (each) => each.id || each.marker;
  for (const each of citations) if (!numbers.has(nameOf(each))) numbers.set(nameOf(each), numbers.size + 1);
  return (each) => numbers.get(nameOf(each));
}

/** How many of the claims hold. */
function judged(claims) {
  if (!claims.length) return "It claims nothing that could be checked.";
  const bad = claims.filter((claim) => claim.verdict !== "supported").length;
  if (!bad) return `${many(claims.length, "claim")}, all supported.`;
  return `${bad} of ${many(claims.length, "claim")} not supported by the passages.`;
}

function wrongly(citations) {
  const bad = citations.filter((each) => each.standing !== "sound").length;
  return bad ? ` ${many(bad, "citation")} ${bad === 1 ? "does" : "do"} not count.` : "";
}

/** The answer's text: sentences, marked where they are not supported, with chips in place of markers. */
function written(found, numbers, passages) {
  const points = new Points(found.text);
  const { claims, citations } = found.verification;
  const chips = markersOf(citations);
  // what is said of a quote stands after its quotation mark
  const after = ({ kind, end }) => (kind === "quote" && CLOSING.test(points.slice(end, end + 1)) ? end + 1 : end);
  const bad = claims.filter((claim) => claim.verdict !== "supported").map((claim) => ({ ...claim, after: after(claim) }));
  const cuts = new Set([0, points.length, ...bad.map((claim) => claim.after)]);
  for (const each of [...claims, ...chips]) cuts.add(each.start).add(each.end);
  const stops = new Map(chips.map(({ end }) => [end, end + STOP.exec(points.slice(end, end + 8))[0].length]));
  for (const stop of stops.values()) cuts.add(stop);
  const places = [...cuts].sort((a, b) => a - b);
  const nodes = [];
  for (let i = 0; i + 1 < places.length; i++) {
    const [from, to] = [places[i], places[i + 1]];
    const chip = chips.find((each) => each.start <= from && to <= each.end);
    if (chip) {
      if (chip.start === from) nodes.push(...chip.citations.map((each) => chipOf(each, numbers, claimsOf(each, claims, chips), passages)));
      continue;
    }
    const over = bad.filter((claim) => claim.start <= from && to <= claim.end);
    const text = points.slice(from, to);
    const node = over.length && text.trim() ? make("span", { class: "unsupported" }, text) : text;
    // no line begins with the full stop after a chip
    if (stops.get(from) === to) nodes.push(make("span", { class: "whole" }, nodes.pop(), node));
    else nodes.push(node);
    // an inner one ends first
    for (const claim of bad.filter((each) => each.after === to).sort((a, b) => b.start - a.start)) {
      nodes.push(verdictOf(claim));
    }
  }
  return nodes;
}

/** The markers of a text: each with the citations that stand in it. */
function markersOf(citations) {
  const chips = new Map();
  for (const each of citations) {
    const chip = chips.get(each.start) ?? { start: each.start, end: each.end, citations: [] };
    chip.citations.push(each);
    chips.set(each.start, chip);
  }
  return [...chips.values()];
}

/** The claims that a citation stands for: what it ends, back to the marker before; where it leads, what follows. */
function claimsOf(citation, claims, chips) {
  const citing = claims.filter((claim) => claim.cites.includes(citation.id));
  const before = citing.filter((claim) => claim.start <= citation.start);
  const pool = before.length ? before : citing.slice(0, 1);
  if (!pool.length) return [];
  const own = pool.reduce((last, claim) => (claim.end > last.end ? claim : last));
  const from = Math.max(0, ...chips.filter((chip) => chip.end <= own.start).map((chip) => chip.end));
  return pool.filter((claim) => claim.start >= from);
}

function chipOf(citation, numbers, about, passages) {
  const sound = citation.standing === "sound";
  const verdict = sound ? worst(about) : STANDINGS[citation.standing];
  const spans = about.flatMap((claim) => claim.support).filter((each) => each.id === citation.id)
    .map((each) => [each.start, each.end]);
  const name = citation.title || citation.id || citation.marker;
  const chip = button(`${numbers(citation)}${sound ? "" : "!"}`, (event) => open(event, citation, spans), {
    class: sound ? "chip" : "chip wrong",
    "aria-label": `Source ${numbers(citation)}, ${name}: ${verdict}`,
    pointerdown: (event) => { lastTouch = event.pointerType === "touch" && !isShownFor(event.currentTarget); },
  });
  peeks(chip, () => passageCard(citation, verdict, spans, about, passages));
  return chip;
}

/** What is said of claims together: the first that is not supported. */
function worst(claims) {
  const bad = claims.find((claim) => claim.verdict !== "supported");
  return bad ? VERDICTS[bad.verdict] : claims.length ? VERDICTS.supported : "nothing is said by it";
}

function open(event, citation, spans) {
  // the first touch shows the card
  if (lastTouch || !citation.document_id) {
    lastTouch = false;
    return;
  }
  hide();
  const id = citation.standing === "sound" || citation.standing === "outside" ? citation.id : citation.document_id;
  remember(id, spans);
  location.hash = opening(id);
}

async function passageCard(citation, verdict, spans, claims, passages) {
  const heading = [...citation.heading.filter((each, i) => i || each !== citation.title)];
  if (citation.page !== null) heading.push(`page ${told(citation.page)}`);
  const head = make("p", { class: "peek-head" }, make("strong", {}, foreign(citation.title || citation.id || citation.marker)),
    " ", foreign(heading.join(" › "), "bdi", { class: "quiet" }));
  const good = citation.standing === "sound" && claims.every((claim) => claim.verdict === "supported");
  const said = make("div", { id: "peek-said" },
    make("p", { class: good ? "good" : "bad" }, `${good ? "✓" : "⚠"} ${verdict}`),
    ...(citation.standing === "sound" ? reasons(claims) : []));
  let text;
  try {
    text = await textOf(citation, passages);
  } catch (error) {
    return [head, said, make("p", { class: "error" }, error.message)];
  }
  if (text === null) return [head, said];
  const points = new Points(text);
  const offset = citation.passage_start;
  const inside = spans.map(([start, end]) => [start - offset, end - offset]);
  const [first] = joined(inside, 0, points.length);
  const last = joined(inside, 0, points.length).at(-1);
  const start = first && points.length > 3 * AROUND ? wordStart(points, Math.max(0, first[0] - AROUND), WORD) : 0;
  const end = wordEnd(points, Math.min(points.length, (last ? last[1] : start + AROUND) + AROUND), WORD);
  const quote = make("p", { class: "text", dir: "auto" }, start ? "… " : "", ...marked(points, start, end, inside),
    end < points.length ? " …" : "");
  return [head, said, quote, make("p", { class: "quiet hint" }, "Press it to open the document.")];
}

/** Why claims are not supported, each reason once. */
const reasons = (claims) =>
  [...new Set(claims.map((claim) => claim.reason).filter(Boolean))].map((each) => foreign(each, "p"));

/** The text of the passage that is cited, or null where there is none. */
async function textOf(citation, passages) {
  const passage = passages.get(citation.id);
  if (passage) return passage.text;
  if (citation.standing !== "outside") return null;
  const { document: found, start, end } = await get(documentPath(citation.id));
  return new Points(found.text).slice(start, end);
}

function verdictOf(claim) {
  const mark = button(`⚠ ${VERDICTS[claim.verdict]}`, () => {
    if (!claim.support.length) return;
    hide();
    remember(claim.support[0].id, claim.support.map((each) => [each.start, each.end]));
    location.hash = opening(claim.support[0].id);
  }, { class: "verdict" });
  peeks(mark, () => {
    const where = claim.support.map((each) => each.id).join(", ");
    return [
      make("p", { id: "peek-said", class: "bad" }, `⚠ ${claim.kind === "quote" ? "This quote" : "This sentence"}: `
        + VERDICTS[claim.verdict]),
      claim.reason ? foreign(claim.reason, "p") : null,
      make("p", { class: "quiet" }, `The best place holds ${Math.round(100 * claim.share)} % of its words.`),
      where ? foreign(`Found in ${where}. Press it to open that.`, "p", { class: "quiet" }) : null,
    ].filter(Boolean);
  });
  return mark;
}

function from(passages) {
  if (!passages.length) return [];
  const items = passages.map((each) => make("li", {},
    make("a", { href: opening(each.id) }, foreign(each.title || each.id)), " ",
    foreign(each.heading.join(" › "), "bdi", { class: "quiet" })));
  return [details(`Answered from ${many(passages.length, "passage")}`, { class: "how" }, make("ul", {}, ...items))];
}

at("ask-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = at("question").value.trim();
  if (!question) return;
  go("ask", { q: question });
  ask(question);
});
at("question").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  at("ask-form").requestSubmit();
});
at("stop").addEventListener("click", () => running?.abort());
