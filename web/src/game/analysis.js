/** What the network thinks: live analysis, a hint, the review of a whole game. */

import { request, Lost } from "../socket.js";
import { get, set } from "../store.js";
import { change } from "../settings.js";
import { announce, tell } from "../tell.js";
import * as words from "../words.js";
import * as tree from "./tree.js";

const EVERY = 0.3; // seconds between reports
const HINT_VISITS = 200;

let current = null;
let reviewing = null;
let hinted = null; // the game and node that a hint is looked for

/** Keep what a search says about a node, and show it if that node is shown. */
export function noteAnalysis(node, message) {
  const { game } = get();
  if (!game.nodes[node] || message.visits < 1) return;
  const { winrate, score } = message;
  set({ analysis: { ...message, node }, game: { ...game, evals: { ...game.evals, [node]: { winrate, score } } } });
}

/** Analyse the node that is shown, if analysis is on and nothing more important goes on. */
export function analyze() {
  const { game, settings, thinking, scoring, positions } = get();
  // A position may arrive after the hint was asked for: that is no reason to give the hint up.
  if (hinted?.key === game.key && hinted.node === game.at) return;
  stopAnalysis();
  if (!settings.analysis || thinking || scoring || positions[game.at]?.over) return;
  search(settings.analysisVisits);
}

async function search(visits) {
  const { game } = get();
  const node = game.at;
  const fields = { game: tree.describe(game, node), model: modelOf(game), visits, every: EVERY };
  const note = (message) => get().game.key === game.key && noteAnalysis(node, message);
  const asked = request("analyze", fields, note);
  current = asked;
  try {
    const last = await asked.answer;
    if (last) note(last);
    return last;
  } catch (error) {
    if (!(error instanceof Lost)) tell(error.message);
    return null;
  } finally {
    if (current === asked) current = null;
  }
}

export function stopAnalysis() {
  current?.stop();
  current = null;
}

export function switchAnalysis(on = !get().settings.analysis) {
  change({ analysis: on });
  announce(on ? "Analysis on" : "Analysis off");
  if (on) analyze();
  else {
    stopAnalysis();
    set({ analysis: null, preview: null });
  }
}

/** The network that looks at this game: the computer's, or the one chosen last. */
export function modelOf(game) {
  const computer = Object.values(game.players).find(({ kind }) => kind === "computer");
  const { info, settings } = get();
  const chosen = info?.models.find(({ id }) => id === settings.newGame.model) ?? info?.models[0];
  return computer?.model ?? chosen?.id;
}

/** Show a good move for whoever is to move. */
export async function hint() {
  const { game, thinking, analysis, positions } = get();
  if (thinking || positions[game.at]?.over) return;
  let found = analysis?.node === game.at && analysis.visits >= HINT_VISITS ? analysis : null;
  if (!found) {
    stopAnalysis();
    tell("Looking for a good move…");
    hinted = { key: game.key, node: game.at };
    found = await search(HINT_VISITS);
    hinted = null;
  }
  if (!found?.moves?.length || get().game.at !== game.at) return;
  const { move, winrate, score } = found.moves[0];
  set({ hint: { node: game.at, move } });
  const text = `Hint: ${move} (Black ${words.percent(winrate)}, ${words.lead(score)})`;
  tell(text);
  announce(text);
  if (get().settings.analysis) analyze();
  else set({ analysis: null });
}

/** Look at every position of the line that is shown. */
export async function review(visits) {
  const { game } = get();
  const line = tree.currentLine(game).map((node) => node.id);
  stopReview();
  stopAnalysis();
  set({ review: { done: 0, total: line.length } });
  const part = ({ done, total }) => set({ review: { done, total } });
  const asked = request("review", { game: tree.describe(game, game.end), model: modelOf(game), visits }, part);
  reviewing = asked;
  let answer = null;
  try {
    answer = await asked.answer;
  } catch (error) {
    tell(error instanceof Lost ? "The connection went away during the review; start it again." : error.message);
  }
  if (reviewing !== asked) return;
  reviewing = null;
  const now = get().game;
  if (!answer || now.key !== game.key) return set({ review: null });
  const evals = { ...now.evals };
  answer.positions.forEach(({ winrate, score }, i) => (evals[line[i]] = { winrate, score }));
  set({ game: { ...now, evals }, review: { line, mistakes: answer.mistakes } });
  announce(`Review finished, ${answer.mistakes.length} mistakes`);
  analyze();
}

export function stopReview() {
  const asked = reviewing;
  reviewing = null;
  asked?.stop();
  set({ review: null });
}
