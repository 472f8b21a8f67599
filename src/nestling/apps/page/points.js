// Offsets of the API count code points, strings of JavaScript UTF-16 units.

export class Points {
  constructor(text) {
    this.text = text;
    this.units = /[\ud800-\udbff][\udc00-\udfff]/.test(text) ? unitsOf(text) : null;
    this.length = this.units ? this.units.length - 1 : text.length;
    this.lined = null;
  }

  /** The spans where columns matter: fenced code, tables, and sessions of Python. */
  get columns() {
    return (this.lined ??= columnsOf(this.text).map((span) => span.map((unit) => this.point(unit))));
  }

  /** The text between two offsets in code points. */
  slice(start, end = this.length) {
    if (!this.units) return this.text.slice(start, end);
    return this.text.slice(this.unit(start), this.unit(end));
  }

  /** Where a code point begins in UTF-16 units. */
  unit(point) {
    const near = Math.max(0, Math.min(point, this.length));
    return this.units ? this.units[near] : near;
  }

  /** Which code point a UTF-16 offset is in. */
  point(unit) {
    if (!this.units) return unit;
    let low = 0;
    for (let high = this.length; low < high;) {
      const middle = (low + high + 1) >> 1;
      if (this.units[middle] <= unit) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const TABLE = /^\s*(?:\|.*\||\+[-=+]{3,})/;
const SESSION = /^\s*>>> /;

function columnsOf(text) {
  const spans = [];
  let fence = "";
  let isSession = false;
  for (const { 0: line, index } of text.matchAll(/[^\n]+\n?|\n/g)) {
    const mark = FENCE.exec(line)?.[1] ?? "";
    isSession = line.trim() !== "" && (isSession || SESSION.test(line));
    if (fence || mark || isSession || TABLE.test(line)) {
      if (spans.at(-1)?.[1] === index) spans.at(-1)[1] += line.length;
      else spans.push([index, index + line.length]);
    }
    if (!fence) fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = "";
  }
  return spans;
}

function unitsOf(text) {
  const units = [0];
  let at = 0;
  for (const character of text) units.push((at += character.length));
  return Uint32Array.from(units);
}

/** Spans clipped to a range, in order, those that touch joined. */
export function joined(spans, start, end) {
  const found = [];
  for (const [first, last] of [...spans].sort((a, b) => a[0] - b[0])) {
    const from = Math.max(first, start);
    const to = Math.min(last, end);
    if (from >= to) continue;
    const before = found.at(-1);
    if (before && from <= before[1]) before[1] = Math.max(before[1], to);
    else found.push([from, to]);
  }
  return found;
}

/** The first place from a point on, at most so many code points further, where a word begins; else the point. */
export function wordStart(points, point, most) {
  if (point <= 0) return point;
  const near = points.slice(point - 1, point + most);
  const found = /(?<=\s)\S/.exec(near);
  return found ? point - 1 + new Points(near.slice(0, found.index)).length : point;
}

/** The last place back from a point, at most so many code points before it, where a word ends; else the point. */
export function wordEnd(points, point, most) {
  if (point >= points.length) return point;
  const from = Math.max(0, point - most);
  const found = /^[^]*\S(?=\s)/.exec(points.slice(from, point + 1));
  return found ? from + new Points(found[0]).length : point;
}

/**
 * The text of a range as nodes, with these spans in <mark>. A span is [start, end], and true where it is the best of
 * several. Where columns matter, letters are of one width.
 */
export function marked(points, start, end, spans) {
  const best = spans.length > 1 ? spans.find((each) => each[2]) : undefined;
  const cuts = new Set([start, end]);
  const inside = joined(spans, start, end);
  const columns = joined(points.columns, start, end);
  for (const [from, to] of [...inside, ...columns, ...joined(best ? [best] : [], start, end)]) cuts.add(from).add(to);
  const places = [...cuts].sort((a, b) => a - b);
  const among = (all, at) => all.some(([from, to]) => from <= at && at < to);
  return places.slice(0, -1).map((from, i) => {
    const text = points.slice(from, places[i + 1]);
    const isMarked = among(inside, from);
    if (!isMarked && !among(columns, from)) return text;
    const node = document.createElement(isMarked ? "mark" : "span");
    node.textContent = text;
    node.classList.toggle("columns", among(columns, from));
    node.classList.toggle("best", isMarked && Boolean(best) && among([best], from));
    return node;
  });
}
