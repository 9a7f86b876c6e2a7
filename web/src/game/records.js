/** SGF in and out. The server reads and writes it; here are only files. */

import { request } from "../socket.js";
import { get } from "../store.js";
import { tell } from "../tell.js";
import { begin, bringBack } from "./play.js";
import * as tree from "./tree.js";

const MOST = 900_000; // bytes; the server takes messages up to 1 MB

/** Open a file the person chose or dropped. */
export async function openFile(file) {
  if (file.size > MOST) return tell(`${file.name} is too large: a record has at most ${MOST / 1000} kB.`);
  try {
    const record = await request("read-sgf", { text: await textOf(file) }).answer;
    begin(fromServer(record));
    tell(`${file.name} is open.`, get().former && { label: "Back to the former game", run: bringBack });
  } catch (error) {
    tell(`${file.name}: ${error.message}`);
  }
}

/** What a record says: in UTF-8, whatever it claims, or if it is not that, in the charset it names, or in Latin-1. */
async function textOf(file) {
  const bytes = await file.arrayBuffer();
  const plain = new TextDecoder("latin1").decode(bytes);
  const named = /\bCA\[([^\]]*)\]/.exec(plain)?.[1] ?? "utf-8";
  const looksLikeAscii = /^iso-2022/i.test(named); // and so like UTF-8
  for (const charset of looksLikeAscii ? [named] : ["utf-8", named]) {
    try {
      return new TextDecoder(charset, { fatal: true }).decode(bytes);
    } catch {
      // no such charset, or it is another one: the next
    }
  }
  return plain;
}

function fromServer({ game: start, info, nodes }) {
  const setup = {
    size: start.boardXSize,
    komi: start.komi,
    rules: start.rules,
    stones: start.initialStones ?? [],
    first: start.initialPlayer ?? "B",
  };
  const players = {
    B: { kind: "human", name: info.black || "Black" },
    W: { kind: "human", name: info.white || "White" },
  };
  const game = { ...tree.createGame({ setup, players, info }), ...tree.fromRecord(nodes) };
  const end = tree.lastOf(game, tree.ROOT);
  const result = info.result ? { text: info.result, node: end } : null;
  return { ...game, end, tip: end, at: end, result };
}

/** Give the game to the person as a file. */
export async function saveFile() {
  const { game } = get();
  const { B, W } = game.players;
  const date = game.info.date || new Date().toISOString().slice(0, 10);
  const info = { ...game.info, black: B.name, white: W.name, date, result: game.result?.text ?? "" };
  try {
    const start = tree.describe(game, tree.ROOT);
    const { text } = await request("write-sgf", { game: start, info, nodes: tree.toRecord(game) }).answer;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/x-go-sgf" }));
    link.download = `${[date, B.name, W.name].join(" ").replace(/[^\w.-]+/g, "-")}.sgf`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  } catch (error) {
    tell(`The game was not saved: ${error.message}`);
  }
}
