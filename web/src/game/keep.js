/** The game in progress, kept in the browser: it survives a reload and a restart of the server. */

import { get, subscribe } from "../store.js";

const KEY = "mini-alphago.game";
const SOON = 300; // ms; moves come slowly, the clock and analysis quickly
let kept = null;
let timer = 0;

/** The game that was kept, or null. */
export function keptGame() {
  try {
    const game = JSON.parse(sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY));
    return game?.nodes?.[game.at] && game.setup && game.clock ? game : null;
  } catch {
    return null;
  }
}

function keepNow() {
  clearTimeout(timer);
  timer = 0;
  const { game } = get();
  if (!game || game === kept) return;
  kept = game;
  try {
    const text = JSON.stringify(game);
    sessionStorage.setItem(KEY, text); // this window's own: two windows may have two games
    localStorage.setItem(KEY, text); // for the next window
  } catch {
    // without storage the game lives as long as the page
  }
}

/** Keep every change from now on. */
export function startKeeping() {
  subscribe(() => {
    if (get().game !== kept && !timer) timer = setTimeout(keepNow, SOON);
  });
  addEventListener("pagehide", keepNow);
}
