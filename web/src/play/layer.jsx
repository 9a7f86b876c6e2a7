/** What is drawn above the stones: ownership, policy, candidate moves, a variation, the stone under the pointer. */

import { other, toPoint } from "../coords.js";
import { useStore } from "../store.js";
import * as words from "../words.js";
import { quality } from "./quality.js";

const MOST_CANDIDATES = 12;

/** `edge` is the distance from the edge of the board to the first point's, in points. */
export function Layer({ edge, size, vertexSize, toMove, hover, cursor, pending }) {
  const { analysis, preview, hint, settings, position, scoring } = useStore(
    ({ analysis, game, preview, hint, settings, positions, scoring }) => ({
      analysis: analysis?.node === game.at && settings.analysis ? analysis : null,
      preview: preview?.node === game.at ? preview : null,
      hint: hint?.node === game.at ? hint : null,
      settings,
      position: positions[game.at],
      scoring,
    }),
  );
  const shown = scoring ? null : analysis;
  const candidates = (shown?.moves ?? []).filter(({ visits }) => visits > 0).slice(0, MOST_CANDIDATES);
  const under = settings.candidates && candidates.find(({ move }) => move === hover);
  const pv = preview?.pv ?? under?.pv;
  const at = (vertex) => toPoint(vertex, size)?.map((n) => n + 0.5);
  const owners = scoring ? scoring.ownership : settings.ownership && shown?.ownership;
  const place = { left: `${edge}em`, top: `${edge}em`, width: `${size}em`, height: `${size}em` };
  const free = (vertex) => position && !position.illegal[vertex] && isEmpty(position.board, toPoint(vertex, size));
  return (
    <svg class="layer" viewBox={`0 0 ${size} ${size}`} style={place} aria-hidden="true">
      {owners && position && <Ownership rows={owners} board={position.board} />}
      {shown && settings.policy && <Policy rows={shown.policy} small={vertexSize < 30} />}
      {shown && settings.candidates && !pv && (
        <Candidates moves={candidates} toMove={toMove} at={at} vertexSize={vertexSize} />
      )}
      {hint && at(hint.move) && <circle class="hint" cx={at(hint.move)[0]} cy={at(hint.move)[1]} r="0.42" />}
      {pv && <Variation pv={pv} first={toMove} at={at} />}
      {hover && !pv && !scoring && free(hover) && <Ghost point={at(hover)} color={toMove} />}
      {pending && pending !== "pass" && <Ghost point={at(pending)} color={toMove} />}
      {cursor && <Cursor point={at(cursor)} color={toMove} empty={free(cursor)} />}
    </svg>
  );
}

const isEmpty = (board, [x, y]) => board[y][x] === 0;

const Ghost = ({ point: [x, y], color }) => <circle class={`ghost ${color}`} cx={x} cy={y} r="0.46" />;

function Cursor({ point: [x, y], color, empty }) {
  return (
    <>
      {empty && <Ghost point={[x, y]} color={color} />}
      <rect class="cursor" x={x - 0.47} y={y - 0.47} width="0.94" height="0.94" rx="0.12" />
    </>
  );
}

function Candidates({ moves, toMove, at, vertexSize }) {
  const roomy = vertexSize >= 28;
  return moves.map((one, i) => {
    const point = at(one.move);
    if (!point) return null; // a pass is in the list only
    const [x, y] = point;
    const winrate = toMove === "B" ? one.winrate : 1 - one.winrate;
    return (
      <g key={one.move} class={`candidate ${quality(one, moves[0], toMove)} ${i === 0 ? "first" : ""}`}>
        <circle cx={x} cy={y} r="0.46" />
        <text x={x} y={roomy ? y - 0.02 : y + 0.14} class={roomy ? "" : "alone"}>
          {(100 * winrate).toFixed(0)}
        </text>
        {roomy && (
          <text x={x} y={y + 0.28} class="minor">
            {words.count(one.visits)}
          </text>
        )}
      </g>
    );
  });
}

/** Numbered stones; where a variation comes back to a point, the first number stays. */
function Variation({ pv, first, at }) {
  const seen = new Set();
  return pv.map((vertex, i) => {
    const point = at(vertex);
    if (!point || seen.has(vertex)) return null;
    seen.add(vertex);
    const color = i % 2 ? other(first) : first;
    const [x, y] = point;
    return (
      <g key={vertex} class={`pv ${color}`}>
        <circle cx={x} cy={y} r="0.46" />
        <text x={x} y={y + 0.16}>{i + 1}</text>
      </g>
    );
  });
}

/** The network's first guess; the darkest square is its favourite, whatever its number. */
function Policy({ rows, small }) {
  const most = Math.max(...rows.flat(), 1e-6); // null counts as 0
  return rows.flatMap((row, y) =>
    row.map((p, x) => {
      if (p === null || p < 0.01 * most) return null;
      return (
        <g key={`${x}-${y}`} class="policy">
          <rect x={x + 0.03} y={y + 0.03} width="0.94" height="0.94" rx="0.1" opacity={0.8 * Math.sqrt(p / most)} />
          {!small && p >= 0.02 && (
            <text x={x + 0.93} y={y + 0.25}>{(100 * p).toFixed(0)}</text>
          )}
        </g>
      );
    }),
  );
}

/** Squares on what belongs to somebody; a stone that is its owner's needs none. */
function Ownership({ rows, board }) {
  return rows.flatMap((row, y) =>
    row.map((owner, x) => {
      const strength = Math.min(1, Math.abs(owner));
      if (strength < 0.08 || board[y][x] * owner > 0) return null;
      const side = 0.18 + 0.34 * strength;
      const from = (n) => n + 0.5 - side / 2;
      return (
        <rect
          key={`${x}-${y}`}
          class={`owner ${owner > 0 ? "B" : "W"}`}
          x={from(x)}
          y={from(y)}
          width={side}
          height={side}
          opacity={0.25 + 0.6 * strength}
        />
      );
    }),
  );
}
