// The state of the page is in its address, so that it can be shared and gone back to: #view?name=value.

export function here() {
  const [view, query] = location.hash.slice(1).split(/\?(.*)/s);
  return { view, values: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

/** The address of a view; empty values are left out. */
export function address(view, values = {}) {
  const kept = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(kept).toString();
  return `#${view}${query ? `?${query}` : ""}`;
}

/** Go there; with `replace`, without a step to go back to. */
export function go(view, values, replace = false) {
  const next = address(view, values);
  if (next === location.hash) return;
  if (replace) {
    history.replaceState(null, "", next);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = next;
}

/** The address of where we are with a document open. */
export function opening(id) {
  const { view, values } = here();
  return address(view || "search", { ...values, open: id });
}
