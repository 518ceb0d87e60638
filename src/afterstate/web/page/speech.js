// What a screen reader says about a game.

import { whole } from "./dom.js";
import { newCells } from "./motion.js";

/** What a slide did: "Slid left, 8 points. New 2 in row 1, column 4." */
export function slideWords(board, { slide, after, tiles, gain, over }) {
  const news = newCells(after, tiles).map((cell) => {
    const place = `row ${Math.floor(cell / board.columns) + 1}, column ${(cell % board.columns) + 1}`;
    return `New ${board.face(tiles[cell])} in ${place}.`;
  });
  const slid = gain > 0 ? `Slid ${slide}, ${whole(gain)} points.` : `Slid ${slide}.`;
  return [slid, ...news, ...(over ? ["The game is over."] : [])].join(" ");
}

/** That a move was taken back. */
export function undoWords(score) {
  return `Took a move back. Score ${whole(score)}.`;
}
