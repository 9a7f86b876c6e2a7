/** Keys of the whole page. While the board has the focus, it takes the arrows and Enter for its cursor first. */

import { hint, switchAnalysis } from "./game/analysis.js";
import { go, pass, step, stepAside, undo } from "./game/play.js";
import { ROOT } from "./game/tree.js";
import { get, set } from "./store.js";

const KEYS = {
  arrowleft: () => step(-1),
  arrowright: () => step(1),
  arrowup: () => stepAside(-1),
  arrowdown: () => stepAside(1),
  ",": () => step(-1),
  ".": () => step(1),
  pageup: () => step(-10),
  pagedown: () => step(10),
  home: () => go(ROOT),
  end: () => go(get().game.end),
  p: pass,
  u: undo,
  h: hint,
  a: () => switchAnalysis(),
  n: () => set({ dialog: "new", newGame: {} }),
  "?": () => set({ dialog: "help" }),
};

/** Whether a key belongs to what has the focus: text being written, a choice; tabs take two arrows. */
const isBusy = (element, key) =>
  element.closest("input:not([type=checkbox]), textarea, select, dialog") !== null ||
  (/^arrow(left|right)$/.test(key) && element.closest("[role=tablist]") !== null);

export function startKeys() {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const key = event.key.toLowerCase();
    const act = KEYS[key];
    if (!act || isBusy(event.target, key) || get().route !== "play" || !get().game) return;
    event.preventDefault();
    act();
  });
}
