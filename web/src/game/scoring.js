/** The end of a game: which stones are dead, whose is what, who has won. */

import { Lost, request } from "../socket.js";
import { get, set } from "../store.js";
import { announce, tell } from "../tell.js";
import * as words from "../words.js";
import { modelOf } from "./analysis.js";
import { finish, refresh } from "./play.js";
import * as tree from "./tree.js";

/** Ask which stones are dead here. */
export const proposeScore = () => count({ dead: null });

/** The chain at a vertex is alive after all, or dead. */
export const toggleChain = (vertex) => count({ dead: get().scoring.dead, toggle: vertex });

async function count(fields) {
  const { game } = get();
  const node = game.at;
  try {
    const { id, type, ...score } = await request("score", {
      game: tree.describe(game, node),
      model: modelOf(game),
      ...fields,
    }).answer;
    const now = get().game;
    if (now.key !== game.key || now.at !== node) return;
    set({ scoring: { ...score, node } });
    announce(`${words.result(score.text)}. ${score.dead.length} dead stones.`);
  } catch (error) {
    if (!(error instanceof Lost)) tell(error.message);
  }
}

/** Both agree. */
export const accept = () => finish(get().scoring.text);

/** Somebody does not agree: back to before the passes, and on. */
export function goOn() {
  const { game } = get();
  let node = game.nodes[game.at];
  while (node.parent !== null && node.move[1] === "pass") node = game.nodes[node.parent];
  set({ game: tree.takeBackTo(game, node.id), scoring: null });
  tell("The passes are taken back; play goes on.");
  refresh({ resume: true });
}
