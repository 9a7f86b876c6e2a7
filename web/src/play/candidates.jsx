/** The moves the search looks at, as a table. */

import { play } from "../game/play.js";
import { switchAnalysis } from "../game/analysis.js";
import { colorName } from "../coords.js";
import { get, set, useStore } from "../store.js";
import { turn } from "../game/tree.js";
import * as words from "../words.js";
import { quality } from "./quality.js";

/** The analysis of the node that is shown, and who moves there. */
export function useAnalysis() {
  return useStore(({ analysis, game, positions, settings }) => ({
    analysis: analysis?.node === game.at ? analysis : null,
    toMove: positions[game.at]?.toMove ?? turn(game, game.at),
    on: settings.analysis,
  }));
}

export function TurnOn({ what }) {
  return (
    <p class="empty">
      {what} <button onClick={() => switchAnalysis(true)}>Turn analysis on</button>
    </p>
  );
}

export function Candidates() {
  const { analysis, toMove, on } = useAnalysis();
  if (!on) return <TurnOn what="Analysis shows which moves the network would play, and how they would go on." />;
  if (!analysis) return <p class="empty">Nothing to analyse here yet.</p>;
  const show = (pv) => () => set({ preview: pv && { node: get().game.at, pv } });
  return (
    <>
      <p class="line">
        {words.count(analysis.visits)} visits. Black {words.percent(analysis.winrate, 1)}, {words.lead(analysis.score)}.
      </p>
      <table class="numbers">
        <thead>
          <tr>
            <th scope="col">Move</th>
            <th scope="col" title={`for ${colorName(toMove)}`}>Winrate</th>
            <th scope="col" title={`for ${colorName(toMove)}`}>Score</th>
            <th scope="col">Visits</th>
            <th scope="col">How it goes on</th>
          </tr>
        </thead>
        <tbody onMouseLeave={show(null)}>
          {analysis.moves.slice(0, 10).map((one) => (
            <tr key={one.move} onMouseEnter={show(one.pv)}>
              <th scope="row">
                <button
                  class={`chip ${quality(one, analysis.moves[0], toMove)}`}
                  onFocus={show(one.pv)}
                  onBlur={show(null)}
                  onClick={() => play(one.move)}
                  aria-label={`Play ${one.move}`}
                >
                  {one.move}
                </button>
              </th>
              <td>{words.percent(toMove === "B" ? one.winrate : 1 - one.winrate, 1)}</td>
              <td>{words.points(toMove === "B" ? one.score : -one.score)}</td>
              <td>{words.count(one.visits)}</td>
              <td class="pv-text">{one.pv.slice(1, 7).join(" ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
