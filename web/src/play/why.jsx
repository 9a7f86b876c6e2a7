/** The search itself: its top branches, so that one sees what MCTS does. */

import { colorName } from "../coords.js";
import * as words from "../words.js";
import { TurnOn, useAnalysis } from "./candidates.jsx";

const MOST = [5, 2, 1]; // branches shown at each depth

/** The branches in the order of reading, each with its depth and its share of the visits. */
function flatten(branches, depth = 0, path = "") {
  if (depth >= MOST.length) return [];
  return branches.slice(0, MOST[depth]).flatMap((branch) => {
    const key = `${path}/${branch.move}`;
    return [{ ...branch, depth, key }, ...flatten(branch.children ?? [], depth + 1, key)];
  });
}

export function Why() {
  const { analysis, on } = useAnalysis();
  if (!on) return <TurnOn what="This shows the search tree: what the network guesses, and what the search makes of it." />;
  if (!analysis?.tree?.length) return <p class="empty">The search has not begun here.</p>;
  const rows = flatten(analysis.tree);
  const most = Math.max(1, ...analysis.tree.map(({ visits }) => visits));
  return (
    <>
      <p class="line">
        Each visit walks down the tree to where Q plus a bonus for a high prior and few visits is largest, asks the
        network there, and carries its verdict back up. The move with the most visits is played.
      </p>
      <table class="numbers why">
        <thead>
          <tr>
            <th scope="col">Branch</th>
            <th scope="col">Prior</th>
            <th scope="col">Visits</th>
            <th scope="col">Q</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Branch key={row.key} row={row} most={most} />
          ))}
        </tbody>
      </table>
      <p class="line small">
        <b>Prior</b>: the network's first guess, before any search. <b>Visits</b>: how often the search went there; good
        branches draw more. <b>Q</b>: the average verdict of those visits for the player who moves, from −1 (lost) to +1
        (won).
      </p>
    </>
  );
}

function Branch({ row, most }) {
  const { move, player, prior, visits, q, depth } = row;
  return (
    <tr class={`depth-${depth}`}>
      <th scope="row" style={{ paddingLeft: `${0.2 + 1.1 * depth}em` }}>
        <span class={`stone small ${player}`} role="img" aria-label={colorName(player)} /> {move}
      </th>
      <td>
        <Bar share={prior} /> {words.percent(prior, prior < 0.1 ? 1 : 0)}
      </td>
      <td>
        <Bar share={visits / most} /> {words.count(visits)}
      </td>
      <td>
        <Both share={q} /> {visits ? words.signed(q, 2) : "–"}
      </td>
    </tr>
  );
}

const Bar = ({ share }) => (
  <svg class="bar" viewBox="0 0 40 8" aria-hidden="true">
    <rect width="40" height="8" class="rail" />
    <rect width={40 * Math.min(1, share)} height="8" class="fill" />
  </svg>
);

/** A bar that goes from the middle to either side. */
const Both = ({ share }) => (
  <svg class="bar" viewBox="0 0 40 8" aria-hidden="true">
    <rect width="40" height="8" class="rail" />
    <rect x={20 + Math.min(0, 20 * share)} width={Math.abs(20 * share)} height="8" class={share < 0 ? "minus" : "fill"} />
    <rect x="19.5" width="1" height="8" class="middle" />
  </svg>
);
