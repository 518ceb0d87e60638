// Which tile goes where in a slide: the page's reckoning, from two boards alone, beside the rules of both games.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, makeRandom, times } from "./page.mjs";

const { linesOf, newCells, slideMoves } = await load("motion.js");

const SLIDES = ["up", "right", "down", "left"];
const SHAPES = [[2, 2], [2, 3], [3, 2], [4, 4], [4, 2]];

/** The cells of each line from the wall on, by row and column. */
function slowLines(slide, rows, columns) {
  const cells = times(rows * columns, (cell) => ({ cell, row: Math.floor(cell / columns), column: cell % columns }));
  const line = slide === "up" || slide === "down" ? "column" : "row";
  const along = line === "row" ? "column" : "row";
  const sign = slide === "up" || slide === "left" ? 1 : -1;
  return times(line === "row" ? rows : columns, (number) =>
    cells.filter((one) => one[line] === number).sort((one, other) => sign * (one[along] - other[along])).map(({ cell }) => cell));
}

/** 2048: tiles go as far as they can, and two equal ones become one, once. */
function slide2048(tiles, line) {
  const moves = [];
  let free = true;
  for (const cell of line.filter((one) => tiles[one])) {
    const last = moves.at(-1);
    if (last && free && last.tile === tiles[cell]) {
      last.from.push(cell);
      last.tile += 1;
      free = false;
    } else {
      moves.push({ to: line[moves.length], from: [cell], tile: tiles[cell] });
      free = true;
    }
  }
  return moves;
}

/** Threes!: every tile goes one cell at most, and one pair of a line may become one tile. */
function slideThrees(tiles, line) {
  const places = line.map((cell) => (tiles[cell] ? { to: cell, from: [cell], tile: tiles[cell] } : null));
  const joins = (one, other) => (one + other === 3 && one !== other) || (one === other && one > 2);
  for (let at = 1; at < line.length; at += 1) {
    const [ahead, here] = [places[at - 1], places[at]];
    if (!here || (ahead && !joins(ahead.tile, here.tile))) continue;
    const tile = !ahead ? here.tile : ahead.tile > 2 ? ahead.tile + 1 : 3;
    places[at - 1] = { to: line[at - 1], from: [...(ahead?.from ?? []), ...here.from], tile };
    places[at] = null;
    for (let next = at + 1; next < line.length; next += 1) {
      if (places[next]) places[next - 1] = { ...places[next], to: line[next - 1] };
      places[next] = null;
    }
    break;
  }
  return places.filter(Boolean);
}

test("the lines of a slide begin at the wall and hold every cell once", () => {
  for (const [rows, columns] of SHAPES) {
    for (const slide of SLIDES) assert.deepEqual(linesOf(slide, rows, columns), slowLines(slide, rows, columns));
  }
});

for (const [name, slideLine, largest] of [["2048", slide2048, 4], ["Threes!", slideThrees, 5]]) {
  test(`every tile of ${name} goes where the rules bring it`, () => {
    const random = makeRandom(5);
    let merges = 0;
    for (let round = 0; round < 2000; round += 1) {
      const [rows, columns] = SHAPES[round % SHAPES.length];
      const tiles = times(rows * columns, () => (random(3) ? 1 + random(largest) : 0));
      for (const slide of SLIDES) {
        const expected = slowLines(slide, rows, columns).flatMap((line) => slideLine(tiles, line));
        const after = tiles.map((_, cell) => expected.find(({ to }) => to === cell)?.tile ?? 0);
        const [before, then] = [tiles, after].map((list) => list.map((tile) => tile.toString(36)).join(""));
        const told = slideMoves({ before, after: then, slide, rows, columns });
        assert.deepEqual(told, expected.map(({ to, from }) => ({ to, from })), `${slide} of ${before} (${rows}x${columns})`);
        merges += expected.filter(({ from }) => from.length === 2).length;
      }
    }
    assert.ok(merges > 1000);
  });
}

test("large tiles are letters", () => {
  const told = slideMoves({ before: "gg0h", after: "h0h0", slide: "left", rows: 2, columns: 2 });
  assert.deepEqual(told, [{ to: 0, from: [0, 1] }, { to: 2, from: [3] }]);
});

test("new tiles are where the board after the slide and the next one differ", () => {
  assert.deepEqual(newCells("1200", "1201"), [3]);
  assert.deepEqual(newCells("1200", "1200"), []);
  assert.deepEqual(newCells("0000", "1002"), [0, 3]);
});
