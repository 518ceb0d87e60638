// Numbers for charts: ticks, short and full figures, and only as many points as the pixels can show.

/** A step of 1, 2 or 5 times a power of ten that cuts `span` into about `count` parts. */
export function niceStep(span, count, least = 0) {
  if (!(span > 0)) return Math.max(1, least);
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.7) * power;
  return Math.max(step, least);
}

/** Ticks from `low` to `high` at multiples of a nice step. */
export function ticks(low, high, count, least = 0) {
  const step = niceStep(high - low, count, least);
  const list = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index++) list.push(index * step);
  return list;
}

const UNITS = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];

/** 950, 1.2k, 120k, 1.2M: for axes and small figures. */
export function short(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size < 0.005) return "0";
  if (size < 10 && !Number.isInteger(value)) return trim(value.toFixed(size < 1 ? 2 : 1));
  if (size < 999.5) return String(Math.round(value));
  const [factor, unit] = UNITS.find(([least]) => size >= least * 0.9995);
  const scaled = value / factor;
  return trim(scaled.toFixed(Math.abs(scaled) < 99.95 ? 1 : 0)) + unit;
}

function trim(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 1,204. */
export function full(value) {
  return Number.isFinite(value) ? WHOLE.format(value) : "–";
}

/** +1,204, −87, 0. */
export function signed(value) {
  const rounded = Math.round(value);
  return rounded === 0 ? "0" : (rounded > 0 ? "+" : "−") + WHOLE.format(Math.abs(rounded));
}

/** 0.988 as 98.8%. */
export function percent(share, digits = 1) {
  return Number.isFinite(share) ? `${trim((100 * share).toFixed(digits))}%` : "–";
}

/** Keeps the points that are visible: first, lowest, highest and last of each pixel column. */
export function thin(points, columnOf) {
  const kept = [];
  let begin = 0;
  while (begin < points.length) {
    const column = columnOf(points[begin][0]);
    let end = begin, low = begin, high = begin;
    while (end + 1 < points.length && columnOf(points[end + 1][0]) === column) {
      end++;
      if (points[end][1] < points[low][1]) low = end;
      if (points[end][1] > points[high][1]) high = end;
    }
    const wanted = [...new Set([begin, low, high, end])].sort((one, other) => one - other);
    for (const index of wanted) kept.push(points[index]);
    begin = end + 1;
  }
  return kept;
}

/** Index of the item with the nearest x; items are sorted by x. */
export function nearest(items, x, xOf = (point) => point[0]) {
  let low = 0, high = items.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xOf(items[middle]) <= x) low = middle;
    else high = middle;
  }
  return high >= 0 && Math.abs(xOf(items[high]) - x) < Math.abs(xOf(items[low]) - x) ? high : low;
}

/** Moves labels apart by at least `gap`, within low..high, as little as possible. */
export function pushApart(wanted, gap, low, high) {
  const order = wanted.map((at, index) => ({ at, index })).sort((one, other) => one.at - other.at);
  const room = Math.min(gap, (high - low) / Math.max(1, order.length - 1));
  let least = low;
  for (const label of order) {
    label.at = Math.max(label.at, least);
    least = label.at + room;
  }
  let most = high;
  for (const label of order.reverse()) {
    label.at = Math.min(label.at, most);
    most = label.at - room;
  }
  const places = [];
  for (const label of order) places[label.index] = label.at;
  return places;
}
