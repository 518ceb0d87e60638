// Boards as text, as people write and paste them.

import { fitRef } from "./games.js";

/** The longest text that can be a board, in characters. */
export const LONGEST = 2_000;

/** Tiles as one line of text: rows of faces separated by slashes, what else is known, and the next tile if it is shown. */
export function textOf(tiles, faces, columns, next, known = []) {
  const rows = [];
  for (let at = 0; at < tiles.length; at += columns) {
    rows.push([...tiles.slice(at, at + columns)].map((tile) => faces[parseInt(tile, 36)]).join(" "));
  }
  return [rows.join(" / "), ...known, ...(next ? [`next ${next}`] : [])].join(" | ");
}

/** What a text says besides the tiles and the next tile: "... | bag 12 | next 3 | slid U" -> ["bag 12", "slid U"]. */
export function besides(text) {
  return text.split("|").slice(1).map((part) => part.trim()).filter((part) => part && !part.startsWith("next "));
}

// Brackets, frames and marks for empty cells, as other programs write them.
function plain(text) {
  const lines = text.split("\n").filter((line) => !/^[\s+=-]*[+=-]{2}[\s+=-]*$/.test(line));
  const framed = lines.length > 1 && lines.every((line) => /^\s*\|.*\|\s*$/.test(line));
  const open = framed ? lines.map((line) => line.replaceAll("|", " ")) : lines;
  return open.join("\n").replaceAll(/\]\s*,?\s*\[/g, "\n").replaceAll(/[[\](){}]/g, " ")
    .replaceAll(/(^|[\s,])[._-](?=[\s,]|$)/gm, "$10").trim();
}

/** Reads a text without knowing the rules -> {rows: [[face, ..], ..], next}, or null if it is not clearly a board. */
export function readBoard(text) {
  if (text.length > LONGEST) return null;
  const [board, ...rest] = plain(text).split("|");
  const rows = board.trim().split(/ *\/ *|\n/).map((row) => row.trim().split(/[\s,]+/).filter(Boolean)).filter((row) => row.length);
  const side = Math.sqrt(rows[0]?.length ?? 0);
  if (rows.length === 1 && side >= 3 && Number.isInteger(side)) {
    const [cells] = rows.splice(0);
    for (let at = 0; at < cells.length; at += side) rows.push(cells.slice(at, at + side));
  }
  const fits = (row) => row.length === rows[0].length && row.every((face) => /^\d+$/.test(face));
  if (rows.length < 2 || !rows.every(fits)) return null;
  const next = rest.map((part) => /^\s*next\s+(\S+)\s*$/.exec(part)?.[1]).find(Boolean) ?? null;
  return { rows: rows.map((row) => row.map(Number)), next };
}

/** Faces -> tiles, or null if the game does not have one of them. */
export function tilesOf(rows, faces) {
  const indexes = rows.flat().map((face) => faces.indexOf(face));
  return indexes.includes(-1) ? null : indexes.map((index) => index.toString(36)).join("");
}

/** Guesses the game, rules and size of a text, as close as possible to `ref`. */
export function guessRef(app, text, ref) {
  const board = readBoard(text);
  if (!board) return ref;
  const size = `${board.rows.length}x${board.rows[0].length}`;
  const fits = ({ sizes, next }) => sizes.some((one) => one.size === size)
    && (board.next === null || next.some((one) => one.text === board.next));
  const every = app.about.games.filter(({ faces }) => tilesOf(board.rows, faces) !== null).flatMap(({ game, rules }) =>
    rules.filter(fits).map(({ name }) => ({ game, rules: name, size })));
  const same = every.filter((one) => one.game === ref.game);
  return same.find((one) => one.rules === ref.rules) ?? same[0] ?? every[0] ?? fitRef(app, { ...ref, size });
}
