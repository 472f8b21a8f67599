// Ask: an answer as it is written, with chips for what it cites, and marks where it says more than the passages.

import { go, opening } from "./address.js";
import { documentPath, events, get } from "./api.js";
import { at, button, details, foreign, make, many, say, told } from "./dom.js";
import { hide, isShownFor, peeks } from "./peek.js";
import { Points, joined, marked } from "./points.js";
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
const AROUND = 300;

let running = null;
let lastTouch = false;

/** Bring the view to what the address says; asking again is left to the reader. */
export function show(values) {
  document.title = values.q ? `${values.q} – Ask – Nestling` : "Ask – Nestling";
  if (values.q && !at("question").value) at("question").value = values.q;
}

async function ask(question) {
  running?.abort();
  const mine = (running = new AbortController());
  const answer = at("answer");
  let text = "";
  answer.hidden = false;
  answer.setAttribute("aria-busy", "true");
  answer.replaceChildren();
  at("answered-from").replaceChildren();
  at("stop").hidden = false;
  say(at("ask-status"), "Answering …");
  try {
    const hear = (name, data) => {
      if (name !== "text" || mine.signal.aborted) return;
      text += data.text;
      answer.replaceChildren(make("p", { class: "said", dir: "auto" }, ...provisional(text)));
    };
    const found = await events("/v1/ask", { question, context: true }, hear, mine.signal);
    draw(found);
  } catch (error) {
    if (running !== mine) return;
    if (!text) answer.hidden = true;
    if (error.name === "AbortError") say(at("ask-status"), "Stopped. What was written so far was not verified.");
    else say(at("ask-status"), error.message, true);
  } finally {
    if (running === mine) {
      at("stop").hidden = true;
      answer.removeAttribute("aria-busy");
    }
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
  const sentences = claims.filter((claim) => claim.kind === "sentence");
  const unsupported = claims.filter((claim) => claim.verdict !== "supported");
  if (found.abstained) {
    answer.replaceChildren(make("p", {}, make("strong", {}, "No answer: "), foreign(found.abstained)));
    say(at("ask-status"), "There is no answer.");
  } else {
    const numbers = numbered(citations);
    answer.replaceChildren(make("p", { class: "said", dir: "auto" }, ...written(found, numbers, passages)));
    say(at("ask-status"), `${many(sentences.length, "sentence")}, `
      + (unsupported.length ? `${many(unsupported.length, "claim")} not supported by the passages.` : "all supported.")
      + wrongly(citations));
  }
  const about = [found.model ? `Written by ${found.model}` : "Sentences of the passages, as they stand",
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

function wrongly(citations) {
  const bad = citations.filter((each) => each.standing !== "sound").length;
  return bad ? ` ${many(bad, "citation")} ${bad === 1 ? "does" : "do"} not count.` : "";
}

/** The answer's text: sentences, marked where they are not supported, with chips in place of markers. */
function written(found, numbers, passages) {
  const points = new Points(found.text);
  const { claims, citations } = found.verification;
  const chips = markersOf(citations);
  const bad = claims.filter((claim) => claim.verdict !== "supported");
  const cuts = new Set([0, points.length]);
  for (const each of [...claims, ...chips]) cuts.add(each.start).add(each.end);
  const places = [...cuts].sort((a, b) => a - b);
  const nodes = [];
  for (let i = 0; i + 1 < places.length; i++) {
    const [from, to] = [places[i], places[i + 1]];
    const chip = chips.find((each) => each.start <= from && to <= each.end);
    if (chip) {
      if (chip.start === from) nodes.push(...chip.citations.map((each) => chipOf(each, numbers, claims, passages)));
      continue;
    }
    const over = bad.filter((claim) => claim.start <= from && to <= claim.end);
    const text = points.slice(from, to);
    nodes.push(over.length && text.trim() ? make("span", { class: "unsupported" }, text) : text);
    // an inner one ends first
    for (const claim of bad.filter((each) => each.end === to).sort((a, b) => b.start - a.start)) {
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

/** The claims that a citation stands for: the sentence that it is in or after, and what is quoted there. */
function claimsOf(citation, claims) {
  const citing = claims.filter((claim) => claim.cites.includes(citation.id));
  const sentences = citing.filter((claim) => claim.kind === "sentence");
  const own = sentences.filter((claim) => claim.start <= citation.start).at(-1) ?? sentences[0];
  if (!own) return citing;
  return citing.filter((claim) => own.start <= claim.start && claim.end <= own.end);
}

function chipOf(citation, numbers, claims, passages) {
  const sound = citation.standing === "sound";
  const about = claimsOf(citation, claims);
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
  const said = make("p", { id: "peek-said", class: good ? "good" : "bad" }, `${good ? "✓" : "⚠"} ${verdict}`);
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
  const start = first && points.length > 3 * AROUND ? Math.max(0, first[0] - AROUND) : 0;
  const end = Math.min(points.length, (last ? last[1] : start + 2 * AROUND) + AROUND);
  const quote = make("p", { class: "text", dir: "auto" }, start ? "… " : "", ...marked(points, start, end, inside),
    end < points.length ? " …" : "");
  return [head, said, quote, make("p", { class: "quiet" }, "Press it to open the document.")];
}

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
      where ? foreign(`Found in ${where}.`, "p", { class: "quiet" }) : null,
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
