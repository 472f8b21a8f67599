// Offsets of the API count code points, strings of JavaScript UTF-16 units.

export class Points {
  constructor(text) {
    this.text = text;
    this.units = /[\ud800-\udbff][\udc00-\udfff]/.test(text) ? unitsOf(text) : null;
    this.length = this.units ? this.units.length - 1 : text.length;
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

/** The text of a range as nodes, with these spans in <mark>. */
export function marked(points, start, end, spans) {
  const nodes = [];
  let at = start;
  for (const [from, to] of joined(spans, start, end)) {
    if (from > at) nodes.push(points.slice(at, from));
    const mark = document.createElement("mark");
    mark.textContent = points.slice(from, to);
    nodes.push(mark);
    at = to;
  }
  if (at < end) nodes.push(points.slice(at, end));
  return nodes;
}
