/** Numbers as people read them. */

import { colorName } from "./coords.js";

export const percent = (p, digits = 0) => `${(100 * p).toFixed(digits)} %`;

/** A number with its sign, as typeset: +1.5, −0.2. */
export function signed(number, digits) {
  const text = Math.abs(number).toFixed(digits);
  if (Number(text) === 0) return text;
  return (number > 0 ? "+" : "−") + text;
}

export const points = (score) => signed(score, 1);

/** Black's score as in "B+3.5". */
export function lead(score) {
  if (Math.abs(score) < 0.05) return "even";
  return `${score > 0 ? "B" : "W"}+${Math.abs(score).toFixed(1)}`;
}

export function count(n) {
  if (!Number.isFinite(n)) return "–"; // a run of another version may lack a number
  if (n < 1000) return String(Math.round(n));
  if (n < 1e6) return `${(n / 1000).toFixed(n < 10000 ? 1 : 0)}k`;
  return `${(n / 1e6).toFixed(1)}M`;
}

export function time(ms) {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n) => String(n).padStart(2, "0");
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** "B+R" and the like, in words. */
export function result(text) {
  if (!text) return "";
  const [winner, by] = text.split("+");
  if (by === undefined) return text === "0" || /draw/i.test(text) ? "A draw" : text;
  const words = { r: "by resignation", t: "on time", f: "by forfeit" }[by.match(/^(r|t|f)(esign|ime|orfeit)?$/i)?.[1].toLowerCase()];
  const how = words ?? (Number(by) ? `by ${by} points` : "");
  return `${colorName(winner)} wins ${how}`.trim();
}

export const move = ([color, vertex]) => `${colorName(color)} ${vertex === "pass" ? "passes" : vertex}`;
