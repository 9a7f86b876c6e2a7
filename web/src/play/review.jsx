/** The review of the whole line, and its biggest mistakes. */

import { review, stopReview } from "../game/analysis.js";
import { go } from "../game/play.js";
import { currentLine } from "../game/tree.js";
import { change } from "../settings.js";
import { get, set, useStore } from "../store.js";
import * as words from "../words.js";

const VISITS = [25, 100, 400];

export function Review() {
  const { result, moves } = useStore(({ review, game }) => ({ result: review, moves: currentLine(game).length - 1 }));
  if (result?.total) return <Progress done={result.done} total={result.total} />;
  return (
    <>
      <Begin moves={moves} again={!!result} />
      {result && <Mistakes mistakes={result.mistakes} line={result.line} />}
    </>
  );
}

function Begin({ moves, again }) {
  const visits = useStore(({ settings }) => settings.reviewVisits);
  return (
    <p class="line begin">
      {!again && <span>The network looks at every position and lists the biggest mistakes.</span>}
      <label>
        <span class="unseen">Visits for each position</span>
        <select value={visits} onChange={(event) => change({ reviewVisits: Number(event.target.value) })}>
          {VISITS.map((n) => (
            <option key={n} value={n}>{`${n} visits each`}</option>
          ))}
        </select>
      </label>
      <button onClick={() => review(visits)} disabled={moves === 0}>{again ? "Review again" : "Review this game"}</button>
    </p>
  );
}

function Progress({ done, total }) {
  return (
    <p class="line begin">
      <progress value={done} max={total} aria-label="Review" />
      <span>{`${done} of ${total} positions`}</span>
      <button onClick={stopReview}>Stop</button>
    </p>
  );
}

function Mistakes({ mistakes, line }) {
  if (!mistakes.length) return <p class="empty">No mistakes worth naming.</p>;
  const show = (mistake) => {
    const before = line[mistake.number - 1];
    if (!get().game.nodes[before]) return;
    go(before);
    set({ preview: { node: before, pv: mistake.pv } });
  };
  return (
    <table class="numbers">
      <thead>
        <tr>
          <th scope="col">Move</th>
          <th scope="col">Played</th>
          <th scope="col">Better</th>
          <th scope="col">Winrate lost</th>
          <th scope="col">Points lost</th>
        </tr>
      </thead>
      <tbody>
        {mistakes.map((mistake) => (
          <tr key={mistake.number}>
            <th scope="row">
              <button onClick={() => show(mistake)} aria-label={`Show move ${mistake.number}`}>{mistake.number}</button>
            </th>
            <td>
              <span class={`stone small ${mistake.player}`} role="img" aria-label={mistake.player} /> {mistake.played}
            </td>
            <td>{mistake.better}</td>
            <td>{words.percent(mistake.winrateLost, 1)}</td>
            <td>{mistake.pointsLost.toFixed(1)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
