/** The tree of moves and the comment at the current one. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { go } from "../game/play.js";
import { pathTo, ROOT, withComment } from "../game/tree.js";
import { get, set, useStore } from "../store.js";
import * as words from "../words.js";

const CELL = 22;

/**
 * Where each node is drawn: columns are moves, the main line is the first row, and a variation takes the first row below
 * its parent's that is free for its whole length.
 */
export function layOut(nodes) {
  const places = {};
  const free = []; // the first free row in each column
  const put = (start, column, parentRow) => {
    const chain = [];
    for (let node = nodes[start]; node; node = nodes[node.children[0]]) chain.push(node);
    let row = parentRow;
    for (let i = -1; i < chain.length; i++) row = Math.max(row, free[column + i] ?? 0);
    chain.forEach((node, i) => (places[node.id] = [column + i, row]));
    for (let i = -1; i < chain.length; i++) if (column + i >= 0) free[column + i] = row + 1;
    // from the end, so that lines to later variations cross no earlier ones
    for (let i = chain.length - 1; i >= 0; i--) {
      for (const child of chain[i].children.slice(1)) put(child, column + i + 1, row + 1);
    }
  };
  put(ROOT, 0, 0);
  return places;
}

export function Moves() {
  const { nodes, at } = useStore(({ game }) => ({ nodes: game.nodes, at: game.at }));
  const places = useMemo(() => layOut(nodes), [nodes]);
  const box = useRef();
  useEffect(() => {
    const [column, row] = places[at];
    const { clientWidth, clientHeight } = box.current;
    box.current.scrollTo({ left: (column + 0.5) * CELL - clientWidth / 2, top: (row + 0.5) * CELL - clientHeight / 2 });
  }, [at, places]);
  const columns = 1 + Math.max(...Object.values(places).map(([column]) => column));
  const rows = 1 + Math.max(...Object.values(places).map(([, row]) => row));
  const click = (event) => go(event.target.closest("[data-node]")?.dataset.node);
  return (
    <>
      <div class="tree" ref={box} tabIndex={0} role="group" aria-label="Variations">
        <svg
          width={columns * CELL}
          height={rows * CELL}
          onClick={click}
          role="img"
          aria-label={`The tree of moves: ${columns - 1} moves, ${rows} ${rows === 1 ? "line" : "lines"}`}
        >
          {Object.values(nodes).map((node) => node.parent !== null && <Edge key={node.id} from={places[node.parent]} to={places[node.id]} />)}
          {Object.values(nodes).map((node) => (
            <Place key={node.id} node={node} place={places[node.id]} current={node.id === at} />
          ))}
        </svg>
      </div>
      <Comment />
    </>
  );
}

const middle = (n) => (n + 0.5) * CELL;

function Edge({ from, to }) {
  const bend = to[1] === from[1] ? "" : `V ${middle(to[1] - 1)} `;
  return <path class="edge" d={`M ${middle(from[0])} ${middle(from[1])} ${bend}L ${middle(to[0])} ${middle(to[1])}`} />;
}

function Place({ node, place: [column, row], current }) {
  const [x, y] = [middle(column), middle(row)];
  const kind = node.move ? node.move[0] : "root";
  return (
    <g class={`node ${kind} ${current ? "current" : ""}`} data-node={node.id}>
      <title>{node.move ? `${column}. ${words.move(node.move)}` : "Start"}</title>
      <circle cx={x} cy={y} r={node.move ? 8 : 4} />
      {node.move && (
        <text x={x} y={y + 3}>{node.move[1] === "pass" ? "–" : column}</text>
      )}
      {node.comment && <circle class="has-comment" cx={x + 7} cy={y - 7} r="2.5" />}
    </g>
  );
}

function Comment() {
  const { comment, number, at } = useStore(({ game }) => ({
    comment: game.nodes[game.at].comment,
    number: pathTo(game, game.at).length - 1,
    at: game.at,
  }));
  const write = (event) => set({ game: withComment(get().game, at, event.target.value) });
  return (
    <label class="comment">
      <span>{number ? `Comment on move ${number}` : "Comment on the game"}</span>
      <textarea rows={2} value={comment} onInput={write} maxLength={5000} />
    </label>
  );
}
