/** Who plays, what they have taken, what time they have used. */

import { colorName } from "../coords.js";
import { useStore } from "../store.js";
import { turn } from "../game/tree.js";
import * as words from "../words.js";

export function Players() {
  const { game, positions, thinking } = useStore(({ game, positions, thinking }) => ({ game, positions, thinking }));
  const position = positions[game.at];
  const toMove = game.result?.node === game.at || position?.over ? null : (position?.toMove ?? turn(game, game.at));
  return (
    <div class="players">
      {["B", "W"].map((color) => (
        <Player
          key={color}
          color={color}
          player={game.players[color]}
          captures={position?.captures[color] ?? 0}
          clock={game.clock}
          komi={color === "W" ? game.setup.komi : 0}
          toMove={toMove === color}
          thinking={thinking && toMove === color ? thinking : null}
        />
      ))}
    </div>
  );
}

function Player({ color, player, captures, clock, komi, toMove, thinking }) {
  const left = clock.limit ? clock.limit - clock[color] : clock[color];
  return (
    <div class={`player ${toMove ? "to-move" : ""}`} data-color={color}>
      <div>
        <span class={`stone ${color}`} aria-hidden="true" />
        <strong title={player.name}>
          <span class="unseen">{colorName(color)}: </span>
          {player.name}
        </strong>
        {thinking && <span class="spinner" aria-hidden="true" />}
      </div>
      <div>
        <small>
          {captures} taken{komi ? `, komi ${komi}` : ""}
          {toMove && <span class="unseen">, to move</span>}
        </small>
        {clock.runs && (
          <time class={clock.limit && left < 30_000 ? "short" : ""} title={clock.limit ? "time left" : "time used"}>
            {words.time(left)}
          </time>
        )}
      </div>
    </div>
  );
}
