/** The clock: time used by each side, while the game goes on and the page is there. */

import { other } from "../coords.js";
import { get, set } from "../store.js";
import { stopThinking } from "./computer.js";
import { finish } from "./play.js";
import { isEnded, turn } from "./tree.js";

const TICK = 500;
let last = 0;

export function startClock() {
  last = performance.now();
  setInterval(tick, TICK);
}

function tick() {
  const now = performance.now();
  const passed = now - last;
  last = now;
  const { game, positions, connection, scoring } = get();
  // A machine that slept is nobody's time; neither is a server that is not there.
  if (!game?.clock.runs || isEnded(game) || scoring || connection !== "open" || passed > 20 * TICK) return;
  const position = positions[game.tip];
  if (position?.over) return;
  const color = position?.toMove ?? turn(game, game.tip);
  const clock = { ...game.clock, [color]: game.clock[color] + passed };
  set({ game: { ...game, clock } });
  // Only once: who plays on after that, with moves taken back, does so without a limit.
  if (clock.limit && clock[color] >= clock.limit && game.clock[color] < clock.limit) {
    stopThinking();
    finish(`${other(color)}+T`);
  }
}
