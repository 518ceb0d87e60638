// Boards as text.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, makeRandom, times } from "./page.mjs";

const { LONGEST, besides, guessRef, readBoard, textOf, tilesOf } = await load("notation.js");

const FACES_2048 = [0, ...times(17, (index) => 2 ** (index + 1))];
const FACES_THREES = [0, 1, 2, ...times(13, (index) => 3 * 2 ** index)];
const SIZES = ["2x2", "2x3", "3x3", "4x4"].map((size) => ({ size }));
const NEXT = ["1", "2", "3"].map((text) => ({ text }));
const APP = {
  about: {
    games: [
      { game: "2048", faces: FACES_2048, rules: [{ name: "standard", sizes: SIZES, next: [] }] },
      {
        game: "threes", faces: FACES_THREES,
        rules: [{ name: "tcg2022", sizes: SIZES, next: NEXT }, { name: "official", sizes: SIZES, next: NEXT }],
      },
    ],
  },
};
const REF = { game: "2048", rules: "standard", size: "4x4" };

test("tiles go into a text and out again", () => {
  const random = makeRandom(6);
  for (const faces of [FACES_2048, FACES_THREES]) {
    for (const [rows, columns] of [[2, 2], [2, 4], [3, 2], [4, 4]]) {
      for (const next of [null, "1", "3", "+"]) {
        const tiles = times(rows * columns, () => random(faces.length).toString(36)).join("");
        const board = readBoard(textOf(tiles, faces, columns, next));
        assert.deepEqual([board.rows.length, board.rows[0].length, board.next], [rows, columns, next]);
        assert.equal(tilesOf(board.rows, faces), tiles);
      }
    }
  }
  assert.equal(textOf("120h", FACES_2048, 2), "2 4 / 0 131072");
  assert.equal(textOf("1203", FACES_THREES, 2, "+"), "1 2 / 0 3 | next +");
});

test("people write boards in many ways", () => {
  const ways = [
    "2 4 / 0 16", " 2 4/0 16 ", "2,4 / 0,16", "2, 4\n0, 16", "2 4\r\n0 16\r\n", "2\t4 /\n 0\t16", "2 4\n\n0 16", "02 4 / 0 016",
  ];
  for (const text of ways) assert.deepEqual(readBoard(text), { rows: [[2, 4], [0, 16]], next: null }, JSON.stringify(text));
  assert.equal(readBoard("1 2 / 3 0 | last left | next 2").next, "2");
  assert.equal(readBoard("1 2 / 3 0 | next").next, null);
});

test("what is not a board is told apart", () => {
  const texts = ["", " ", "2 4 8 16", "2 4 / 8", "2 4 / 8 x", "2 4 / 8 -16", "2 4 / 8 1.5", "2 4 //", "| next 1", "hello / world"];
  for (const text of texts) assert.equal(readBoard(text), null, JSON.stringify(text));
});

test("a face that the game does not have has no tile", () => {
  assert.equal(tilesOf([[2, 3]], FACES_2048), null);
  assert.equal(tilesOf([[2, 3]], FACES_THREES), "23");
  assert.equal(tilesOf([[2 ** 18]], FACES_2048), null);
});

test("a text says which game it is of, as near as possible to the one that is chosen", () => {
  const guess = (text, ref = REF) => guessRef(APP, text, ref);
  assert.deepEqual(guess("2 4 / 8 0"), { ...REF, size: "2x2" });
  assert.deepEqual(guess("1 2 / 3 0"), { game: "threes", rules: "tcg2022", size: "2x2" });
  assert.deepEqual(guess("2 0 / 0 2 | next 1"), { game: "threes", rules: "tcg2022", size: "2x2" });
  const official = { game: "threes", rules: "official", size: "4x4" };
  assert.deepEqual(guess("1 2 3 / 3 0 0", official), { ...official, size: "2x3" });
  assert.deepEqual(guess("2 2 / 2 2", official), { ...official, size: "2x2" });
  assert.deepEqual(guess("4 8 / 2 2", official), { ...REF, size: "2x2" });
});

test("a text that is of no game changes the size at most", () => {
  for (const text of ["", "no board", "2 4 8", "2 4 / 8"]) assert.equal(guessRef(APP, text, REF), REF, text);
  assert.deepEqual(guessRef(APP, "5 7 / 0 0", REF), { ...REF, size: "2x2" });
  assert.deepEqual(guessRef(APP, "5 7 / 0 0 / 0 0 / 0 0 / 0 0", REF), REF);
});

test("boards as other programs print them have a size", () => {
  const rows = [[2, 4, 8], [0, 16, 32], [0, 0, 64]];
  const ways = [
    "[[2, 4, 8], [0, 16, 32], [0, 0, 64]]", "[[ 2  4  8]\n [ 0 16 32]\n [ 0  0 64]]", "2 4 8 0 16 32 0 0 64",
    "2, 4, 8, 0, 16, 32, 0, 0, 64", "+----+----+----+\n|  2 |  4 |  8 |\n+----+----+----+\n|  . | 16 | 32 |\n|  - |  _ | 64 |\n+----+----+----+",
    "2 4 8\n. 16 32\n. . 64",
  ];
  for (const text of ways) assert.deepEqual(readBoard(text), { rows, next: null }, JSON.stringify(text));
});

test("a text that is longer than any board is none", () => {
  const board = "2 4 / 0 16";
  assert.notEqual(readBoard(board.padEnd(LONGEST)), null);
  assert.equal(readBoard(board.padEnd(LONGEST + 1)), null);
});

test("what else is known of a position is kept apart from the tiles and the next tile", () => {
  assert.deepEqual(besides("1 2 / 3 0 | bag 12 | next 3 | slid U"), ["bag 12", "slid U"]);
  assert.deepEqual(besides("2 4 / 0 0"), []);
  assert.equal(textOf("1203", FACES_THREES, 2, "3", ["bag 12", "slid U"]), "1 2 / 0 3 | bag 12 | slid U | next 3");
});
