/** The WebSocket: requests with answers, and a connection that comes back by itself. */

import { get, set } from "./store.js";

/** Why a request ended without an answer: the connection is gone, and whoever asked asks again when it is back. */
export class Lost extends Error {}

const PARTIAL = new Set(["progress", "run"]); // more answers follow these
const LONGEST_WAIT = 8000;

let socket = null;
let attempts = 0;
let timer = 0;
let lastId = 0;
let handlers = null;
const waiting = new Map();

/** The address may carry a token; whatever the page was opened with goes along with every request. */
export const withToken = (path) => path + location.search;

/** Keep a connection from now on. `opened` is called whenever there is a new one, `failed` when none could be made. */
export function connect({ opened, failed }) {
  handlers = { opened, failed };
  open();
  // Where the machine slept or the network changed, waiting for the timer is pointless.
  addEventListener("online", retryNow);
  document.addEventListener("visibilitychange", () => document.hidden || retryNow());
}

export function retryNow() {
  if (get().connection === "lost") {
    clearTimeout(timer);
    open();
  }
}

function open() {
  set({ connection: "connecting" });
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}${withToken("/ws")}`);
  socket.onopen = () => {
    attempts = 0;
    set({ connection: "open" });
    handlers.opened();
  };
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onclose = closed;
}

function closed() {
  if (get().connection === "connecting") handlers.failed();
  const lost = [...waiting.values()];
  waiting.clear();
  const wait = Math.min(LONGEST_WAIT, 250 * 2 ** attempts++) * (0.8 + 0.4 * Math.random());
  set({ connection: "lost", retryAt: Date.now() + wait });
  timer = setTimeout(open, wait);
  for (const { reject } of lost) reject(new Lost("the connection to the server is gone"));
}

function receive(message) {
  const asked = waiting.get(message.id);
  if (!asked) return; // an answer to what is no longer of interest
  if (PARTIAL.has(message.type) || (message.type === "analysis" && !(asked.type === "analyze" && message.done))) {
    asked.onPart(message);
    return;
  }
  waiting.delete(message.id);
  if (message.type === "error") asked.reject(new Error(message.message));
  else if (message.type === "stopped") asked.resolve(null);
  else asked.resolve(message);
}

/**
 * Ask the server. `answer` resolves to the last answer (null if it was stopped) and rejects with the server's words, or
 * with Lost; `onPart` gets the answers before it. `stop()` ends the work; nothing more comes of it then.
 */
export function request(type, fields = {}, onPart = () => {}) {
  const id = String(++lastId);
  if (socket?.readyState !== WebSocket.OPEN) {
    return { answer: Promise.reject(new Lost("there is no connection to the server")), stop() {} };
  }
  const answer = new Promise((resolve, reject) => waiting.set(id, { type, resolve, reject, onPart }));
  socket.send(JSON.stringify({ id, type, ...fields }));
  return {
    answer,
    stop() {
      const asked = waiting.get(id);
      if (!asked) return;
      waiting.delete(id);
      asked.resolve(null);
      if (socket.readyState === WebSocket.OPEN) {
        socket.send(JSON.stringify({ id: String(++lastId), type: "stop", target: id }));
      }
    },
  };
}
