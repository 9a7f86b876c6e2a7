/** The computer's move. */

import { colorName } from "../coords.js";
import { Lost, request } from "../socket.js";
import { get, set } from "../store.js";
import { tell } from "../tell.js";
import { modelOf, noteAnalysis, stopAnalysis } from "./analysis.js";
import { arrive, finish, remember, turnNow } from "./play.js";
import * as tree from "./tree.js";

let current = null;

/** Let the computer play for whoever is to move, with the strength of that side or of the other one. */
export async function letComputerMove() {
  const { game } = get();
  const color = turnNow();
  const { model, level, visits } = strength(game, color);
  stopAnalysis();
  stopThinking();
  const node = game.at;
  set({ thinking: { node, visits: 0 }, game: { ...game, tip: node } }); // from here on the game stands here
  const part = (analysis) => {
    set({ thinking: { node, visits: analysis.visits } });
    noteAnalysis(node, analysis);
  };
  const asked = request("genmove", { game: tree.describe(game, node), model, ...(visits ? { visits } : { level }) }, part);
  current = asked;
  let answer = null;
  try {
    answer = await asked.answer;
  } catch (error) {
    if (!(error instanceof Lost)) tell(`The computer cannot move: ${error.message}`);
  }
  if (current !== asked) return; // stopped, and something else goes on
  current = null;
  set({ thinking: null });
  const now = get().game;
  if (!answer || now.key !== game.key || now.tip !== node) return;
  take(answer, color, node);
}

function take({ move, winrate, score, position }, color, node) {
  const { game } = get();
  const evals = winrate === undefined ? game.evals : { ...game.evals, [node]: { winrate, score } };
  if (move === "resign") {
    set({ game: { ...game, evals } });
    tell(`${colorName(color)} resigns.`);
    return finish(`${color === "B" ? "W" : "B"}+R`);
  }
  const next = tree.addMove({ ...game, evals }, node, [color, move]);
  remember(next.at, position);
  arrive(next);
  if (move === "pass") tell(`${colorName(color)} passes.`);
}

/** How strong the computer plays this colour; a person's side borrows from the other. */
function strength(game, color) {
  const own = game.players[color];
  const kept = own.kind === "computer" ? own : Object.values(game.players).find(({ kind }) => kind === "computer");
  if (kept) return kept;
  const { info, settings } = get();
  return { model: modelOf(game), level: settings.newGame.level ?? info?.levels.at(-1)?.id };
}

/** Whatever the computer is thinking about, it need not. */
export function stopThinking() {
  const asked = current;
  current = null;
  asked?.stop();
  if (get().thinking) set({ thinking: null });
}
