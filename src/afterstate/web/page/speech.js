// What a screen reader says about a game.

import { whole } from "./dom.js";
import { newCells } from "./motion.js";
import { t, way } from "./texts.js";

/** What a slide did: "Slid left, 8 points. New 2 in row 1, column 4." */
export function slideWords(board, { slide, after, tiles, gain, over }) {
  const news = newCells(after, tiles).map((cell) => {
    const at = { row: Math.floor(cell / board.columns) + 1, column: (cell % board.columns) + 1 };
    return t("play.newat", { face: board.face(tiles[cell]), place: t("board.place", at) });
  });
  const slid = t(gain > 0 ? "play.slidfor" : "play.slid", { slide: way(slide), n: whole(gain) });
  return [slid, ...news, ...(over ? [t("play.isover")] : [])].join(" ");
}

/** That a move was taken back. */
export function undoWords(score) {
  return t("play.tookback", { score: whole(score) });
}
