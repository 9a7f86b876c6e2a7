/** Axes: where numbers lie, and which of them are written. */

/** About `wanted` round numbers from `low` to `high`. */
export function ticks(low, high, wanted = 4) {
  if (!(high > low)) return [low];
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((n) => n * power >= raw) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** The range of some numbers with a little room; 0 belongs to it if it is near. */
export function extent(numbers) {
  let low = Math.min(...numbers);
  let high = Math.max(...numbers);
  if (!numbers.length) return [0, 1];
  if (low > 0 && low < 0.6 * high) low = 0;
  if (high < 0 && high > 0.6 * low) high = 0;
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const room = 0.04 * (high - low);
  return [low === 0 ? 0 : low - room, high + room];
}

/** A function from [low, high] to [from, to]. */
export const scale = (low, high, from, to) => (n) => from + ((n - low) / (high - low || 1)) * (to - from);
