/** What a person does in a game: begin, play, pass, resign, take back, go along it. */

import { colorName, other } from "../coords.js";
import { Lost, request } from "../socket.js";
import { get, set } from "../store.js";
import { announce, hush, tell } from "../tell.js";
import * as words from "../words.js";
import { analyze, stopAnalysis, stopReview } from "./analysis.js";
import { letComputerMove, stopThinking } from "./computer.js";
import { proposeScore } from "./scoring.js";
import * as tree from "./tree.js";

/** Put another game on the board. The one before can be had back for a while. */
export function begin(game, { keepFormer = true } = {}) {
  stopThinking();
  stopAnalysis();
  stopReview();
  const former = keepFormer ? get().game : null;
  const left = { positions: {}, analysis: null, hint: null, preview: null, scoring: null, pending: null };
  set({ game, former, ...left });
  refresh({ resume: true });
}

/** Bring back the game before this one. */
export function bringBack() {
  const { former } = get();
  if (former) begin(former, { keepFormer: false });
}

/** The position of a node; null if the connection went away or the server does not understand it. */
export async function positionOf(id) {
  const { game, positions } = get();
  if (positions[id]) return positions[id];
  try {
    const { position } = await request("position", { game: tree.describe(game, id) }).answer;
    if (get().game.key !== game.key) return null;
    remember(id, position);
    return position;
  } catch (error) {
    if (!(error instanceof Lost)) tell(error.message);
    return null;
  }
}

export const remember = (id, position) => set({ positions: { ...get().positions, [id]: position } });

/**
 * See to what is due at the node that is shown: its position, then the computer's move (with `resume`, where the game
 * stands here and it is the computer's turn), the count after two passes, or analysis.
 */
export async function refresh({ resume = false } = {}) {
  const { at, key } = get().game;
  const position = await positionOf(at);
  const { game, thinking, scoring } = get();
  if (!position || game.at !== at || game.key !== key) return;
  if (position.over && at === game.tip && !tree.isEnded(game) && !scoring) return void proposeScore();
  const computers = game.players[position.toMove].kind === "computer";
  if (resume && computers && at === game.tip && !position.over && !tree.isEnded(game) && !thinking) letComputerMove();
  else analyze();
}

/** Play at a vertex, or pass, for whoever is to move. */
export async function play(vertex) {
  const { game, info, thinking, pending, connection } = get();
  if (connection !== "open") return tell("There is no connection to the server at the moment; it is being tried again.");
  if (!info) return tell("The board is being set up; one moment.");
  if (thinking) return tell(`${colorName(turnNow())} is thinking. Undo (U) stops it.`);
  if (pending) return;
  const position = await waitFor(game, vertex);
  if (!position) return;
  if (position.over) return tell("The game is over: both have passed. Undo, or go back, to play on.");
  const reason = position.illegal[vertex];
  if (reason) return refuse(vertex, reason);
  const move = [position.toMove, vertex];
  const known = tree.childWith(game, game.at, move);
  if (known && get().positions[known]) return arrive(tree.addMove(get().game, game.at, move));
  set({ pending: vertex });
  try {
    const { position: after } = await request("position", { game: tree.describe(game, game.at, [move]) }).answer;
    const now = get().game;
    if (now.key !== game.key || now.at !== game.at) return;
    const next = tree.addMove(now, now.at, move);
    remember(next.at, after);
    arrive(next);
  } catch (error) {
    refuse(vertex, error instanceof Lost ? "the connection went away; try again" : error.message);
  } finally {
    set({ pending: null });
  }
}

/** The position in which somebody plays, which the server may still be about to tell; null if it is gone by then. */
async function waitFor(game, vertex) {
  const known = get().positions[game.at];
  if (known) return known;
  set({ pending: vertex });
  const position = await positionOf(game.at);
  set({ pending: null });
  return get().game.key === game.key && get().game.at === game.at ? position : null;
}

function refuse(vertex, reason) {
  const text = vertex === "pass" ? `No pass: ${reason}` : `${vertex}: ${reason}`;
  tell(text);
  announce(text);
}

/** The game has a new last move: show it, say it, and see to what follows. */
export function arrive(game) {
  const before = get().positions[game.nodes[game.at].parent];
  hush(); // what was said about the position before
  set({ game, scoring: null, hint: null, preview: null });
  const after = get().positions[game.at];
  const { move } = game.nodes[game.at];
  const taken = before && after ? after.captures[move[0]] - before.captures[move[0]] : 0;
  announce(words.move(move) + (taken ? `, takes ${taken} ${taken === 1 ? "stone" : "stones"}` : ""));
  refresh({ resume: true });
}

export const pass = () => play("pass");

/** Give the game up for the person's side, or for whoever is to move when both sides are people's. */
export function resign() {
  const { game } = get();
  if (tree.isEnded(game)) return;
  stopThinking();
  const loser = humanSide(game) ?? turnNow();
  finish(`${other(loser)}+R`);
}

/** The game has ended here with this result; a record has one, that of its main line. */
export function finish(text) {
  const { game } = get();
  const ended = { ...game, at: game.tip, result: { text, node: game.tip } };
  set({ game: tree.asMainLine(ended, game.tip), scoring: null });
  announce(words.result(text));
  analyze();
}

/** The colour of the only person in the game; null if there are two, or none. */
export function humanSide(game) {
  const humans = ["B", "W"].filter((color) => game.players[color].kind === "human");
  return humans.length === 1 ? humans[0] : null;
}

/** Who is to move where the game is shown. */
export function turnNow() {
  const { game, positions } = get();
  return positions[game.at]?.toMove ?? tree.turn(game, game.at);
}

/** Take back the last move, and the computer's answer with it, so that the person can choose again. */
export function undo() {
  const { game, thinking, positions } = get();
  stopThinking();
  let node = game.nodes[game.tip];
  const side = humanSide(game);
  if (!side && game.at !== game.tip) return step(-1); // in a record, or in a game of two, nobody's move is taken back
  if (game.result?.node === game.tip && /\+[RTF]/.test(game.result.text) && !thinking) {
    set({ game: tree.takeBackTo(game, game.tip) }); // a resignation is taken back by itself
    return void refresh({ resume: false });
  }
  if (node.parent === null) return tell("There is nothing to take back.");
  do node = game.nodes[node.parent];
  while (side && node.parent !== null && (positions[node.id]?.toMove ?? tree.turn(game, node.id)) !== side);
  set({ game: tree.takeBackTo(game, node.id), scoring: null, hint: null, preview: null });
  announce("Taken back");
  refresh({ resume: true });
}

/** Show another node of the game. */
export function go(id) {
  const { game } = get();
  if (!id || id === game.at) return;
  set({ game: tree.goTo(game, id), scoring: null, hint: null, preview: null });
  const { move } = game.nodes[id];
  announce(move ? `Move ${tree.pathTo(game, id).length - 1}: ${words.move(move)}` : "Start of the game");
  refresh();
}

/** Go so many moves along the line that is shown; negative is back. */
export function step(by) {
  const { game } = get();
  const line = tree.currentLine(game);
  const index = line.findIndex((node) => node.id === game.at) + by;
  go(line[Math.max(0, Math.min(line.length - 1, index))].id);
}

/** The neighbouring variation of this move. */
export function stepAside(by) {
  const { game } = get();
  go(tree.sibling(game, game.at, by));
}
