/** The Elo curve; every point of it is a network one can play against. */

import { Curve, Frame } from "./plot.jsx";

export function Elo({ elo, checkpoints }) {
  if (!elo.length) {
    return (
      <figure class="card">
        <figcaption>
          <strong>Elo</strong>
        </figcaption>
        <p class="empty">Nothing has been measured yet.</p>
      </figure>
    );
  }
  const models = new Map(checkpoints.map(({ iteration, model }) => [iteration, model]));
  const ys = elo.flatMap((one) => [one.low ?? one.elo, one.high ?? one.elo]);
  return (
    <figure class="card elo">
      <figcaption>
        <strong>Elo</strong>
        <span class="key c0">
          now <b>{Math.round(elo.at(-1).elo)}</b>
        </span>
        <span class="key plain">Choose a point to play against it.</span>
      </figcaption>
      <Frame xs={elo.map(({ minutes }) => minutes)} ys={ys} title="Elo over the run">
        {(x, y) => (
          <>
            {elo.map((one) => one.low !== null && one.low !== undefined && (
              <line key={one.iteration} class="interval c0" x1={x(one.minutes)} x2={x(one.minutes)} y1={y(one.low)} y2={y(one.high)} />
            ))}
            <Curve className="c0" points={elo.map((one) => [x(one.minutes), y(one.elo)])} />
            {elo.map((one) => (
              <Point key={one.iteration} one={one} model={models.get(one.iteration)} at={[x(one.minutes), y(one.elo)]} />
            ))}
          </>
        )}
      </Frame>
    </figure>
  );
}

function Point({ one, model, at: [cx, cy] }) {
  const dot = <circle class="dot c0" cx={cx} cy={cy} r="4.5" />;
  const text = `Iteration ${one.iteration}, Elo ${Math.round(one.elo)}`;
  if (!model) return dot;
  return (
    <a href={`#/new/${encodeURIComponent(model)}`} aria-label={`Play against ${text}`}>
      <title>{`${text}: play against it`}</title>
      <circle class="target" cx={cx} cy={cy} r="12" />
      {dot}
    </a>
  );
}
