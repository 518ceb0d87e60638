// Boards as text, as people write and paste them.

import { fitRef } from "./games.js";

/** Tiles as one line of text: rows of faces separated by slashes, and the next tile if it is shown. */
export function textOf(tiles, faces, columns, next) {
  const rows = [];
  for (let at = 0; at < tiles.length; at += columns) {
    rows.push([...tiles.slice(at, at + columns)].map((tile) => faces[parseInt(tile, 36)]).join(" "));
  }
  return rows.join(" / ") + (next ? ` | next ${next}` : "");
}

/** Reads a text without knowing the rules -> {rows: [[face, ..], ..], next}, or null if it is not a board. */
export function readBoard(text) {
  const [board, ...rest] = text.trim().split("|");
  const rows = board.trim().split(/\s*\/\s*|\n+/).map((row) => row.trim().split(/[\s,]+/));
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
