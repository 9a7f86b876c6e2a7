/** One line on how things stand. */

import { colorName } from "../coords.js";
import { letComputerMove } from "../game/computer.js";
import { humanSide } from "../game/play.js";
import { pathTo, turn } from "../game/tree.js";
import { useStore } from "../store.js";
import * as words from "../words.js";

export function Status() {
  const { game, positions, thinking, scoring } = useStore(({ game, positions, thinking, scoring }) => ({
    game, positions, thinking, scoring,
  }));
  const number = pathTo(game, game.at).length - 1;
  const color = positions[game.at]?.toMove ?? turn(game, game.at);
  const over = positions[game.at]?.over;
  const waits = game.players[color].kind === "computer" && !thinking && !over && game.result?.node !== game.at;
  return (
    <p class="status">
      <span data-testid="status">{sentence({ game, color, over, thinking, scoring, number })}</span>
      {waits && <button onClick={letComputerMove}>Let it move</button>}
    </p>
  );
}

function sentence({ game, color, over, thinking, scoring, number }) {
  if (game.result?.node === game.at) return `${words.result(game.result.text)}.`;
  if (thinking) {
    const visits = thinking.visits ? `, ${words.count(thinking.visits)} visits` : "";
    return `${colorName(color)} is thinking${visits}…`;
  }
  if (scoring) return "Both have passed.";
  if (over) return "Both have passed; counting…";
  const whose = humanSide(game) === color ? `Your move, ${colorName(color)}` : `${colorName(color)} to move`;
  const { move } = game.nodes[game.at];
  if (!move) return `${whose}.`;
  const last = move[1] === "pass" ? `${colorName(move[0])} passed` : `${colorName(move[0])} played ${move[1]}`;
  return `Move ${number}: ${last}. ${whose}.`;
}
