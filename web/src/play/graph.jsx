/** Winrate and score along the line that is shown; a click goes there. */

import { useRef } from "preact/hooks";
import { go } from "../game/play.js";
import { currentLine } from "../game/tree.js";
import { useStore } from "../store.js";
import * as words from "../words.js";

const WIDTH = 360;
const HEIGHT = 92;
const FOOT = 4;

export function Graph() {
  const game = useStore((state) => state.game);
  const line = currentLine(game);
  const at = line.findIndex((node) => node.id === game.at);
  const evals = line.map((node) => game.evals[node.id]);
  const known = evals.flatMap((value, i) => (value ? [[i, value]] : []));
  const steps = Math.max(line.length - 1, 1);
  const widest = Math.max(10, ...known.map(([, { score }]) => Math.abs(score)));
  const x = (i) => (i / steps) * WIDTH;
  const winrate = known.map(([i, value]) => [x(i), FOOT + (1 - value.winrate) * (HEIGHT - 2 * FOOT)]);
  const score = known.map(([i, value]) => [x(i), HEIGHT / 2 - (value.score / widest) * (HEIGHT / 2 - FOOT)]);
  const now = evals[at];
  const element = useRef();
  const jump = (event) => {
    const box = element.current.getBoundingClientRect();
    const index = Math.round(((event.clientX - box.left) / box.width) * steps);
    go(line[Math.max(0, Math.min(line.length - 1, index))].id);
  };
  return (
    <figure class="card graph">
      <figcaption>
        <span class="key winrate">Black's winrate {now ? <b>{words.percent(now.winrate)}</b> : ""}</span>
        <span class="key score">Score {now ? <b>{words.lead(now.score)}</b> : `±${Math.round(widest)}`}</span>
      </figcaption>
      <svg
        ref={element}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        onClick={jump}
        role="img"
        aria-label="Winrate and score along the game"
        data-testid="graph"
      >
        <line class="rule" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {winrate.length > 0 && <path class="area" d={`${path(winrate)} L ${winrate.at(-1)[0]} ${HEIGHT} L ${winrate[0][0]} ${HEIGHT} Z`} />}
        <path class="line winrate" d={path(winrate)} />
        <path class="line score" d={path(score)} />
        <line class="now" x1={x(at)} x2={x(at)} y1="0" y2={HEIGHT} />
      </svg>
      {known.length === 0 && <p class="over">The computer's moves, analysis and reviews draw this.</p>}
    </figure>
  );
}

const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"} ${x.toFixed(1)} ${y.toFixed(1)}`).join(" ");
