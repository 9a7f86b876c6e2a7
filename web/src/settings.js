/** What a person chose and expects to find again: kept in the browser, read once. */

import { get, set } from "./store.js";

const KEY = "mini-alphago.settings";

const DEFAULTS = {
  theme: "auto", // "auto", "light" or "dark"
  analysis: false,
  candidates: true,
  policy: false,
  ownership: false,
  analysisVisits: 400,
  reviewVisits: 100,
  tab: "moves",
  newGame: {}, // the last choices in the dialog
};

export function loadSettings() {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    // a damaged or forbidden storage only costs the choices
  }
  set({ settings: { ...DEFAULTS, ...kept } });
  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => change({}));
}

export function change(patch) {
  const settings = { ...get().settings, ...patch };
  set({ settings });
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // as above
  }
  applyTheme();
}

/** Whether the page is dark now, by choice or by the system. */
export function isDark() {
  const { theme } = get().settings;
  return theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
}

function applyTheme() {
  const { theme } = get().settings;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
