/** The count at the end. */

import { accept, goOn } from "../game/scoring.js";
import { useStore } from "../store.js";
import * as words from "../words.js";

export function Scoring() {
  const { scoring, rules } = useStore(({ scoring, game, info }) => ({
    scoring,
    rules: info?.rules.find(({ id }) => id === game.setup.rules)?.name ?? "Rules of the record",
  }));
  return (
    <section class="card scoring" aria-label="Score">
      <p>
        <strong data-testid="score">{words.result(scoring.text)}</strong>
        <small>
          {rules}: Black {scoring.black}, White {scoring.white} with komi {scoring.komi}
        </small>
      </p>
      <p>
        {scoring.dead.length ? "Crossed stones count as dead." : "All stones count as alive."} Click on a stone to
        change that.
      </p>
      <p class="buttons">
        <button class="main" onClick={accept}>Accept</button>
        <button onClick={goOn}>Go on playing</button>
      </p>
    </section>
  );
}
