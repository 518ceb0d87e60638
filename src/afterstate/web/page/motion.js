// Finds which tile goes where in a slide, only from the boards before and after it.

/** The cells of each line, starting at the wall that the tiles slide to. */
export function linesOf(slide, rows, columns) {
  const upright = slide === "up" || slide === "down";
  const count = upright ? columns : rows;
  const length = upright ? rows : columns;
  const lines = [];
  for (let line = 0; line < count; line += 1) {
    const cells = [];
    for (let step = 0; step < length; step += 1) cells.push(upright ? step * columns + line : line * columns + step);
    lines.push(slide === "down" || slide === "right" ? cells.reverse() : cells);
  }
  return lines;
}

// A merge always makes a larger tile, so a tile that is unchanged has not merged.
function movesOfLine(before, after, cells) {
  const queue = cells.filter((cell) => before[cell] !== "0");
  const moves = [];
  for (const to of cells) {
    if (after[to] === "0" || !queue.length) continue;
    const from = [queue.shift()];
    if (before[from[0]] !== after[to] && queue.length) from.push(queue.shift());
    moves.push({ to, from });
  }
  return moves;
}

/** All tiles after a slide as [{to, from: [cell] or [cell, cell] for a merge}]. */
export function slideMoves({ before, after, slide, rows, columns }) {
  return linesOf(slide, rows, columns).flatMap((cells) => movesOfLine(before, after, cells));
}

/** The cells with a new tile. */
export function newCells(after, tiles) {
  return [...tiles].flatMap((tile, cell) => (tile !== after[cell] ? [cell] : []));
}
