/** The games of self-play on small boards, moving while the run goes on. */

import { toPoint } from "../coords.js";

export function Games({ live, running }) {
  if (!live?.games?.length) return null;
  return (
    <section class="card" aria-label="Games of self-play">
      <h2>{running ? "Games now" : "The last games"}</h2>
      <div class="small-boards">
        {live.games.map((game, i) => (
          <figure key={i}>
            <SmallBoard {...game} />
            <figcaption>move {game.moveNumber}</figcaption>
          </figure>
        ))}
      </div>
    </section>
  );
}

function SmallBoard({ board, lastMove }) {
  const size = board.length;
  const lines = Array.from({ length: size }, (_, i) => `M.5 ${i + 0.5}H${size - 0.5}M${i + 0.5} .5V${size - 0.5}`).join("");
  const last = lastMove && toPoint(lastMove, size);
  return (
    <svg class="small-board" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="A game of self-play">
      <rect width={size} height={size} rx="0.3" class="wood" />
      <path d={lines} class="grid" />
      {board.flatMap((row, y) =>
        row.map((stone, x) => stone !== 0 && (
          <circle key={`${x}-${y}`} class={stone > 0 ? "B" : "W"} cx={x + 0.5} cy={y + 0.5} r="0.46" />
        )),
      )}
      {last && <circle class="last" cx={last[0] + 0.5} cy={last[1] + 0.5} r="0.17" />}
    </svg>
  );
}
