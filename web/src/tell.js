/** Words to the person: a line that goes away by itself, and words for screen readers. */

import { get, set } from "./store.js";

let timer = 0;

/** Show a line for some seconds. `action` is a { label, run } offered beside it. */
export function tell(text, action = null) {
  clearTimeout(timer);
  set({ toast: { text, action } });
  timer = setTimeout(() => set({ toast: null }), action ? 12000 : 6000);
}

export function hush() {
  clearTimeout(timer);
  set({ toast: null });
}

/** Say something to a screen reader. */
export function announce(text) {
  // the same words twice would not be read twice
  set({ announcement: get().announcement === text ? `${text}\u00a0` : text });
}
