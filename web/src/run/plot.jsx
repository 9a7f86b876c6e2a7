/** Curves over the minutes of a run, with axes; under the pointer the numbers. */

import { useRef, useState } from "preact/hooks";
import * as words from "../words.js";
import { extent, scale, ticks } from "./scale.js";

export const WIDTH = 420;
export const HEIGHT = 200;
export const BOX = { left: 46, right: 12, top: 10, bottom: 30 };

const label = (n) => (Math.abs(n) >= 10000 ? words.count(n) : String(n).replace("-", "−"));

/** The frame of a plot: scales, axes and what `children(x, y)` draws between them. */
export function Frame({ xs, ys, title, children, ...events }) {
  const [x0, x1] = [0, Math.max(...xs, 1)];
  const [y0, y1] = extent(ys);
  const x = scale(x0, x1, BOX.left, WIDTH - BOX.right);
  const y = scale(y0, y1, HEIGHT - BOX.bottom, BOX.top);
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label={title} {...events}>
      {ticks(y0, y1).map((n) => (
        <g key={`y${n}`}>
          <line class="rule" x1={BOX.left} x2={WIDTH - BOX.right} y1={y(n)} y2={y(n)} />
          <text class="left" x={BOX.left - 6} y={y(n) + 4}>{label(n)}</text>
        </g>
      ))}
      {ticks(x0, x1, 5).map((n) => (
        <text key={`x${n}`} class="below" x={x(n)} y={HEIGHT - BOX.bottom + 15}>{label(n)}</text>
      ))}
      <line class="axis" x1={BOX.left} x2={WIDTH - BOX.right} y1={HEIGHT - BOX.bottom} y2={HEIGHT - BOX.bottom} />
      <text class="name" x={WIDTH - BOX.right} y={HEIGHT - 2}>minutes</text>
      {children(x, y)}
    </svg>
  );
}

/** `series`: [{ name, key }] of numbers in the lines of metrics. */
export function Plot({ title, metrics, series, digits = 2 }) {
  const [near, setNear] = useState(null);
  const element = useRef();
  const shown = series.filter(({ key }) => metrics.some((line) => typeof line[key] === "number"));
  if (!shown.length) return null;
  const xs = metrics.map(({ minutes }) => minutes);
  const ys = shown.flatMap(({ key }) => metrics.map((line) => line[key]).filter((n) => typeof n === "number"));
  const line = metrics[near] ?? metrics.at(-1);
  const point = (event) => {
    const box = element.current.querySelector("svg").getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    const minutes = ((at - BOX.left) / (WIDTH - BOX.left - BOX.right)) * Math.max(...xs, 1);
    setNear(xs.reduce((best, x, i) => (Math.abs(x - minutes) < Math.abs(xs[best] - minutes) ? i : best), 0));
  };
  return (
    <figure class="card" ref={element}>
      <figcaption>
        <strong>{title}</strong>
        {shown.map(({ name, key }, i) => (
          <span key={key} class={`key c${i}`}>
            {name} <b>{typeof line[key] === "number" ? line[key].toFixed(digits) : "–"}</b>
          </span>
        ))}
        {near !== null && <span class="key plain">iteration {line.iteration}</span>}
      </figcaption>
      <Frame xs={xs} ys={ys} title={title} onPointerMove={point} onPointerLeave={() => setNear(null)}>
        {(x, y) => (
          <>
            {shown.map(({ key }, i) => (
              <Curve key={key} className={`c${i}`} points={metrics.flatMap((one) => (typeof one[key] === "number" ? [[x(one.minutes), y(one[key])]] : []))} />
            ))}
            {near !== null && <line class="now" x1={x(line.minutes)} x2={x(line.minutes)} y1={BOX.top} y2={HEIGHT - BOX.bottom} />}
          </>
        )}
      </Frame>
    </figure>
  );
}

export function Curve({ points, className }) {
  const path = points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  return points.length === 1 ? (
    <circle class={`dot ${className}`} cx={points[0][0]} cy={points[0][1]} r="3" />
  ) : (
    <path class={`curve ${className}`} d={path} />
  );
}
