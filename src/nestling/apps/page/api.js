// The HTTP API (docs/http.md): JSON, events, uploads, and the key that they need.

import { at, say } from "./dom.js";

const KEPT = "nestling.key";

/** What the server says went wrong: a sentence, and the name of its class. */
export class ApiError extends Error {
  constructor(status, type, message) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** The address of a document or passage. */
export const documentPath = (id) => `/v1/documents/${encodeURIComponent(id)}`;

export const get = (address, signal) => answered("GET", address, undefined, {}, signal).then((found) => found.json());

export const send = (method, address, body, signal) =>
  answered(method, address, body === undefined ? undefined : JSON.stringify(body),
    body === undefined ? {} : { "Content-Type": "application/json" }, signal).then((found) => found.json());

/** Post, and hear server-sent events; gives the data of the last one. `on` gets each name and its data. */
export async function events(address, body, on, signal) {
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream" };
  const response = await answered("POST", address, JSON.stringify(body), headers, signal);
  const hear = hearing(on);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : brokenOff();
    });
    if (done) break;
    hear(value);
  }
  return hear.last();
}

/** Put a file; `on` hears how much of it was sent, then the events. */
export async function putFile(name, file, sent, on) {
  for (;;) {
    const used = kept();
    const request = await requested(`/v1/files/${encodeURIComponent(name)}`, file, sent, on);
    if (request.status !== 401) return request.finish();
    if (!(await otherKey(used, whyKey()))) return request.finish();
  }
}

function requested(address, file, sent, on) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const hear = hearing(on);
    let heard = 0;
    const more = () => {
      if (request.status !== 200) return;
      hear(request.responseText.slice(heard));
      heard = request.responseText.length;
    };
    request.open("PUT", address);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader("Accept", "text/event-stream");
    for (const [header, value] of Object.entries(keyHeader())) request.setRequestHeader(header, value);
    request.upload.addEventListener("progress", (event) => sent(event.loaded, event.total));
    request.addEventListener("progress", more);
    request.addEventListener("error", () => reject(unreachable()));
    request.addEventListener("load", () => {
      more();
      const finish = () => {
        if (request.status !== 200) throw errorOf(request.status, request.responseText);
        return hear.last();
      };
      resolve({ status: request.status, finish });
    });
    request.send(file);
  });
}

/** What reads the text of an event stream piece by piece. */
function hearing(on) {
  let rest = "";
  let last = null;
  const hear = (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (!name || data === undefined) continue;
      last = { name, data: JSON.parse(data) };
      on(last.name, last.data);
    }
  };
  hear.last = () => {
    if (last?.name === "error") throw new ApiError(0, last.data.error.type, last.data.error.message);
    if (!last || rest.trim()) throw brokenOff();
    return last.data;
  };
  return hear;
}

async function answered(method, address, body, headers, signal) {
  for (;;) {
    const used = kept();
    let response;
    try {
      response = await fetch(address, { method, body, signal, headers: { ...headers, ...keyHeader() } });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw unreachable();
    }
    if (response.ok) return response;
    const error = errorOf(response.status, await response.text());
    if (response.status !== 401) throw error;
    const why = whyKey();
    if (!(await otherKey(used, why))) throw new ApiError(401, error.type, why);
  }
}

const brokenOff = () => new ApiError(0, "ServerError", "The answer broke off; see whether the server still runs, and try again.");

const unreachable = () =>
  new ApiError(0, "ServerError", "The server cannot be reached; see whether it still runs, and try again.");

function errorOf(status, text) {
  try {
    const { type, message } = JSON.parse(text).error;
    return new ApiError(status, type, message);
  } catch {
    return new ApiError(status, "ServerError", `The server answered with ${status} and no reason; see its log.`);
  }
}

// --- the key

const kept = () => sessionStorage.getItem(KEPT);

function keyHeader() {
  const key = kept();
  return key ? { Authorization: `Bearer ${key}` } : {};
}

export const hasKey = () => sessionStorage.getItem(KEPT) !== null;

/** Ask for another key; gives whether there is one. */
export const changeKey = () => askForKey("Give another key, to see and do what that one may.");

// What a reader is told instead of what a program is.
const KEY_WHY = {
  none: "To read this nest, a key is needed: ask whoever runs it for one.",
  unknown: "This key is not known here. See that all of it was pasted, or ask for another.",
};
const whyKey = () => (hasKey() ? KEY_WHY.unknown : KEY_WHY.none);

let asking = null;

/** Whether there is another key now than the one that was refused: one given since, or the one that is asked for. */
const otherKey = (used, why) => (kept() !== used && !asking ? true : askForKey(why));

/** Ask for a key, once for all that wait for it; gives whether there is another one now. */
function askForKey(why) {
  asking ??= new Promise((resolve) => {
    const dialog = at("key-dialog");
    const done = (given) => {
      if (given) sessionStorage.setItem(KEPT, given);
      asking = null;
      dialog.close();
      resolve(Boolean(given));
    };
    say(at("key-why"), why);
    at("key").value = "";
    at("key-form").onsubmit = (event) => {
      event.preventDefault();
      done(at("key").value.trim());
    };
    at("key-cancel").onclick = () => done("");
    dialog.oncancel = () => done("");
    dialog.showModal();
  });
  return asking;
}
