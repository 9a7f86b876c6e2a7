/** The one store: a plain object, replaced piece by piece, and the components that look at it. */

import { useEffect, useReducer, useRef } from "preact/hooks";

let state = {
  info: null, // the answer of /api/info
  connection: "connecting", // "connecting", "open", or "lost"
  refused: null, // why the server does not talk to this page
  retryAt: 0, // when the next attempt to connect is due, in ms since the epoch
  route: "play", // "play" or "run"

  game: null, // see game/tree.js
  positions: {}, // what the server said about the nodes of the game, by id
  pending: null, // a vertex whose stone the server has not confirmed yet
  thinking: null, // { node, visits } while the computer looks for its move
  former: null, // the game before this one, until it is certain that nobody wants it back

  analysis: null, // { node, ...the last `analysis` message }
  hint: null, // { node, move }
  preview: null, // { node, pv } a variation to be drawn on the board
  review: null, // { done, total } while it goes on, then { line, mistakes }
  scoring: null, // { node, ...the last `score` message }

  dialog: null, // "new" or "help"
  newGame: {}, // choices to begin the next dialog with
  toast: null, // { text, action: { label, run } | null }
  announcement: "", // what a screen reader says next

  run: null, // the training run, gathered from `run` messages

  settings: null, // see settings.js
};

const listeners = new Set();

export const get = () => state;

/** Merge `patch` into the state and draw again whatever looks at it. */
export function set(patch) {
  state = { ...state, ...patch };
  for (const listener of listeners) listener();
}

/** Call `listener` after every change. */
export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function same(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.is(a[key], b[key]));
}

/** What `select` takes from the state; the component is drawn again when one of its parts is another one. */
export function useStore(select) {
  const [, draw] = useReducer((n) => n + 1, 0);
  const selected = useRef();
  const selector = useRef();
  selector.current = select;
  selected.current = select(state);
  useEffect(() => {
    const look = () => {
      if (!same(selected.current, selector.current(state))) draw();
    };
    look(); // something may have changed between the drawing and now
    return subscribe(look);
  }, []);
  return selected.current;
}
