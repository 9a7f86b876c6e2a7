/** A new game from the choices of the dialog. */

import { request } from "../socket.js";
import { change } from "../settings.js";
import { get } from "../store.js";
import { tell } from "../tell.js";
import { begin, bringBack } from "./play.js";
import { createGame, ROOT } from "./tree.js";

/** Komi that makes an even game of it, as far as people know. */
export function usualKomi(size, rules, handicap) {
  if (handicap) return 0.5;
  if (/japan|korea/.test(rules)) return 6.5;
  return size <= 9 ? 7 : 7.5;
}

/** The choices a dialog begins with: the last ones, as far as the server still has them. */
export function usualChoices() {
  const { info, settings } = get();
  const kept = settings.newGame;
  const known = (list, id) => (list?.some((one) => one.id === id) ? id : undefined);
  const model = known(info?.models, kept.model) ?? info?.models[0]?.id;
  const size = kept.size ?? info?.models.find(({ id }) => id === model)?.sizes.at(-1) ?? 9;
  const rules = known(info?.rules, kept.rules) ?? info?.rules[0]?.id ?? "chinese";
  return {
    size,
    rules,
    color: "B",
    komi: usualKomi(size, rules, 0),
    handicap: 0,
    visits: 200,
    minutes: 0,
    ...kept,
    level: kept.level === "visits" ? "visits" : (known(info?.levels, kept.level) ?? middle(info?.levels)),
    model,
  };
}

const middle = (levels) => levels?.[Math.floor((levels.length - 1) / 2)]?.id;

/** Begin a game. ValueError-like words of the server come out as an Error. */
export async function startGame(choices, names = {}) {
  const { size, rules, komi, handicap, minutes, model, level, visits } = choices;
  const color = choices.color === "random" ? (Math.random() < 0.5 ? "B" : "W") : choices.color;
  const stones = handicap ? (await request("handicap", { size, stones: handicap }).answer).stones : [];
  const computer = { kind: "computer", name: computerName(choices, names), model };
  if (level === "visits") computer.visits = visits;
  else computer.level = level;
  const human = (name) => ({ kind: "human", name });
  const players =
    color === "both"
      ? { B: human("Black"), W: human("White") }
      : { B: color === "B" ? human("You") : computer, W: color === "W" ? human("You") : computer };
  const setup = { size, komi, rules, stones, first: stones.length ? "W" : "B" };
  const limit = minutes ? minutes * 60_000 : null;
  const hadMoves = get().game?.nodes[ROOT].children.length;
  begin(createGame({ setup, players, limit, clockRuns: true }));
  change({ newGame: choices });
  if (hadMoves) tell("A new game.", { label: "Back to the former game", run: bringBack });
}

function computerName({ model, level, visits }, names) {
  const { info } = get();
  const network = info?.models.find(({ id }) => id === model)?.name ?? names[model] ?? model ?? "Computer";
  const strength = level === "visits" ? `${visits} visits` : info?.levels.find(({ id }) => id === level)?.name;
  return [network, strength].filter(Boolean).join(", ");
}

/** Where the network of a game is not here any more (another server, a run that was tidied up), the first one plays on. */
export function adoptNetwork(game, info) {
  const [first] = info.models;
  const color = ["B", "W"].find((one) => game.players[one].kind === "computer");
  const player = game.players[color];
  if (!player || !first || info.models.some(({ id }) => id === player.model)) return game;
  const kept = { model: first.id, level: player.visits ? "visits" : player.level, visits: player.visits };
  const name = computerName(kept, {});
  tell(`The network of this game is not here any more; ${name} plays on.`);
  return { ...game, players: { ...game.players, [color]: { ...player, model: first.id, name } } };
}

/** Whether nobody has done anything yet in a game that was made before it was known what the server has. */
export const isUntouched = (game) => game.provisional && game.nodes[ROOT].children.length === 0;

/** The game of somebody who has just come: a board of the network's size, playing Black. */
export function firstGame() {
  const choices = { ...usualChoices(), color: "B", handicap: 0, minutes: 0 };
  const computer = { kind: "computer", name: computerName(choices, {}), model: choices.model, level: choices.level };
  if (choices.level === "visits") computer.visits = choices.visits;
  const { size, rules } = choices;
  const setup = { size, komi: usualKomi(size, rules, 0), rules, stones: [], first: "B" };
  const players = { B: { kind: "human", name: "You" }, W: computer };
  return { ...createGame({ setup, players, clockRuns: true }), provisional: !get().info };
}
