/** How good a move is beside the best one, as the name of a colour. */

const STEPS = [
  [0.01, "best"],
  [0.03, "good"],
  [0.08, "fair"],
  [0.16, "poor"],
];

/** `move` and `best` are entries of an analysis, `toMove` the player who chooses. */
export function quality(move, best, toMove) {
  const lost = (best.winrate - move.winrate) * (toMove === "B" ? 1 : -1);
  return STEPS.find(([limit]) => lost < limit)?.[1] ?? "bad";
}
