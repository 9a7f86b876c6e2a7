/** Vertices as people write them ("D4") and as the board draws them (x from the left, y from the top). */

const LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"; // no I, as everywhere in Go

export const toVertex = (x, y, size) => `${LETTERS[x]}${size - y}`;

/** [x, y], or null for a pass. */
export function toPoint(vertex, size) {
  const x = LETTERS.indexOf(vertex[0]?.toUpperCase());
  const row = Number(vertex.slice(1));
  return vertex.toLowerCase() === "pass" || x < 0 || !row ? null : [x, size - row];
}

export const other = (color) => (color === "B" ? "W" : "B");
export const colorName = (color) => (color === "B" ? "Black" : "White");
export const sign = (color) => (color === "B" ? 1 : -1);

/** A board without stones, for the moment before the server has said what it looks like. */
export const emptyBoard = (size) => Array.from({ length: size }, () => Array(size).fill(0));
