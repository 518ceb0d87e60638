// Series for the training charts, from the records of runs.

import { t } from "./texts.js";

const blocks = (records) => records.filter((one) => one.kind === "block");

/** Mean scores. One run: its blocks, and its evaluations with intervals. Several runs: one line each. */
export function scoreSeries(shown) {
  if (shown.length !== 1) return linesOf(shown, "mean");
  const { records, color } = shown[0];
  const measured = records.filter((one) => one.kind === "eval").map((one) => [one.games, one.mean, one.interval ?? 0]);
  const learned = { ...lineOf(t("train.learning"), blocks(records), "mean"), color, dashed: 0 };
  if (!measured.length) return [{ ...learned, name: "" }];
  return [learned, { name: t("train.measured"), points: measured, color: (color % 6) + 1, marker: "diamond", line: false }];
}

/**
 * Tile rates. One run: all tiles that are not always reached. Several runs: the win tile of each.
 * A tile has the same colour in every chart: it comes from the place of the tile in `faces`.
 */
export function tileSeries(shown, faces) {
  if (shown.length !== 1) return linesOf(shown, "win_rate");
  const learned = blocks(shown[0].records);
  return tilesOf(learned)
    .map((tile) => ({ tile, index: Math.max(0, faces.indexOf(tile)) }))
    .map(({ tile, index }) => ({
      name: String(tile), points: learned.map((one) => [one.games, rateOf(one.reached, tile)]),
      color: (index % 6) + 1, dashed: index % 4,
    }))
    .filter((one) => one.points.some(([, rate]) => rate < 0.98));
}

/** One line for each run, in the colour of its row. */
function linesOf(shown, key) {
  return shown.map(({ run, records, color }) =>
    ({ ...lineOf(run.name, blocks(records), key), color, dashed: (color - 1) % 4 }));
}

function lineOf(name, records, key) {
  return { name, points: records.map((one) => [one.games, one[key]]) };
}

function tilesOf(records) {
  const tiles = new Set(records.flatMap((one) => Object.keys(one.reached).map(Number)));
  return [...tiles].sort((one, other) => other - one);
}

/** A record lists only tiles that some game ended with: smaller ones were always reached, larger ones never. */
function rateOf(reached, tile) {
  const least = Math.min(...Object.keys(reached).map(Number));
  return reached[tile] ?? (tile < least ? 1 : 0);
}
