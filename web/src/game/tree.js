/**
 * A game as a tree of moves. Nothing here knows the rules of Go; every function returns a new object.
 *
 * @typedef {["B" | "W", string]} Move a colour and a vertex or "pass"
 * @typedef {{ id: string, parent: string | null, children: string[], move: Move | null, comment: string }} Node
 * @typedef {{
 *   key: string,
 *   setup: { size: number, komi: number, rules: string, stones: Move[], first: "B" | "W" },
 *   players: Record<"B" | "W", { kind: "human" | "computer", name: string, model?: string, level?: string, visits?: number }>,
 *   nodes: Record<string, Node>,
 *   at: string, tip: string, end: string, promote: string | null, count: number,
 *   evals: Record<string, { winrate: number, score: number }>,
 *   result: { text: string, node: string } | null,
 *   clock: { B: number, W: number, limit: number | null, runs: boolean },
 *   info: Record<string, string>,
 * }} Game `at` is what is shown, `tip` where the game stands, `end` the last node of the line that is shown; a move at
 *   `promote` becomes the main line, since what was played there before was taken back.
 */

export const ROOT = "0";

/** @returns {Game} */
export function createGame({ setup, players, limit = null, clockRuns = false, info = {} }) {
  return {
    key: crypto.randomUUID?.() ?? String(Math.random()),
    setup,
    players,
    nodes: { [ROOT]: { id: ROOT, parent: null, children: [], move: null, comment: "" } },
    at: ROOT,
    tip: ROOT,
    end: ROOT,
    promote: null,
    count: 1,
    evals: {},
    result: null,
    clock: { B: 0, W: 0, limit, runs: clockRuns },
    info,
  };
}

/** The nodes from the root to this one. */
export function pathTo(game, id) {
  const path = [];
  for (let node = game.nodes[id]; node; node = game.nodes[node.parent]) path.unshift(node);
  return path;
}

/** The last node when one follows the first variation from here. */
export function lastOf(game, id) {
  let node = game.nodes[id];
  while (node.children.length) node = game.nodes[node.children[0]];
  return node.id;
}

/** The line that is shown: from the root through the current node to its end. */
export const currentLine = (game) => pathTo(game, game.end);

/** Show another node; the line stays if the node lies on it. */
export function goTo(game, id) {
  const end = currentLine(game).some((node) => node.id === id) ? game.end : lastOf(game, id);
  return { ...game, at: id, end };
}

/** The child of `parent` with this move, or undefined. */
export const childWith = (game, parent, move) =>
  game.nodes[parent].children.find((id) => game.nodes[id].move[0] === move[0] && game.nodes[id].move[1] === move[1]);

/** Play a move after `parent`: the game then stands there. A move that is already known makes no second node. */
export function addMove(game, parent, move) {
  const known = childWith(game, parent, move);
  if (known && game.promote === parent) return playAgain(game, parent, known);
  if (known) return stand({ ...game }, known);
  const id = String(game.count);
  const node = { id, parent, children: [], move, comment: "" };
  const before = game.nodes[parent];
  const children = game.promote === parent ? [id, ...before.children] : [...before.children, id];
  const nodes = { ...game.nodes, [parent]: { ...before, children }, [id]: node };
  return stand({ ...game, nodes, count: game.count + 1 }, id);
}

/** A move that was taken back is made again: it leads the main line, and what is played next follows it there. */
function playAgain(game, parent, known) {
  return { ...stand({ ...game, nodes: withFirst(game.nodes, parent, known) }, known), end: known, promote: known };
}

/** The nodes with this child before its siblings. */
const withFirst = (nodes, parent, child) => {
  const others = nodes[parent].children.filter((id) => id !== child);
  return { ...nodes, [parent]: { ...nodes[parent], children: [child, ...others] } };
};

function stand(game, id) {
  const ended = leadsThroughEnd(game, id);
  return { ...game, at: id, tip: id, end: lastOf(game, id), promote: null, result: ended ? null : game.result };
}

const leadsThroughEnd = (game, id) =>
  game.result !== null && pathTo(game, id).some((node) => node.id === game.result.node);

/** Whether the game, where it stands, has ended; one that went back and goes on has not, though its record says how it did. */
export const isEnded = (game) => leadsThroughEnd(game, game.tip);

/** The line to this node becomes the main line. */
export function asMainLine(game, id) {
  const path = pathTo(game, id).slice(1);
  return { ...game, nodes: path.reduce((nodes, node) => withFirst(nodes, node.parent, node.id), game.nodes) };
}

/** Take back to this node: the game stands there, and what is played next is the main line. */
export const takeBackTo = (game, id) => ({ ...game, at: id, tip: id, end: id, promote: id, result: null });

/** Put another comment at a node. */
export const withComment = (game, id, comment) => ({
  ...game,
  nodes: { ...game.nodes, [id]: { ...game.nodes[id], comment } },
});

/** The next or former variation of the same parent, or null. */
export function sibling(game, id, step) {
  const parent = game.nodes[game.nodes[id].parent];
  return parent?.children[parent.children.indexOf(id) + step] ?? null;
}

/** Who moves after this node, as far as colours take turns; the server's word counts where it is known. */
export function turn(game, id) {
  const { move } = game.nodes[id];
  if (!move) return game.setup.first;
  return move[0] === "B" ? "W" : "B";
}

/** The position at a node, as the server wants it. `more` are moves behind it. */
export function describe(game, id, more = []) {
  const { size, komi, rules, stones, first } = game.setup;
  const moves = pathTo(game, id).flatMap((node) => (node.move ? [node.move] : []));
  return {
    boardXSize: size,
    boardYSize: size,
    komi,
    rules,
    initialStones: stones,
    initialPlayer: first,
    moves: [...moves, ...more],
  };
}

/** The nodes as records have them: parents first, the main line before its variations. */
export function toRecord(game) {
  const nodes = [];
  const rest = [ROOT];
  while (rest.length) {
    const { id, parent, move, comment, children } = game.nodes[rest.pop()];
    nodes.push({ id, parent, move, comment });
    rest.push(...[...children].reverse());
  }
  return nodes;
}

/** The nodes of a record as a tree: `nodes`, `count`. Its first node is the root. */
export function fromRecord(records) {
  const ids = new Map();
  const nodes = { [ROOT]: { id: ROOT, parent: null, children: [], move: null, comment: "" } };
  let count = 1;
  for (const { id, parent, move, comment } of records) {
    if (parent === null && !move) {
      ids.set(id, ROOT);
      nodes[ROOT].comment = comment ?? "";
      continue;
    }
    // a node without a move only carries a comment; its children belong to its parent
    const own = move ? String(count++) : (ids.get(parent) ?? ROOT);
    ids.set(id, own);
    if (!move) {
      if (comment) nodes[own].comment = [nodes[own].comment, comment].filter(Boolean).join("\n");
      continue;
    }
    const above = ids.get(parent) ?? ROOT;
    nodes[own] = { id: own, parent: above, children: [], move, comment: comment ?? "" };
    nodes[above].children.push(own);
  }
  return { nodes, count };
}
