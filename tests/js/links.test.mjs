// A game as a link.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, makeRandom, times } from "./page.mjs";

const { gameLink, packMoves, readLink, unpackMoves } = await load("links.js");

const random = makeRandom(4);
const movesOf = (count) => times(count, () => "URDL"[random(4)]).join("");
const DAMAGED = { name: "Error", message: /^This link is damaged: .+\.$/ };

test("moves go into a link and out again, two bits each", () => {
  for (const count of [...times(70, (index) => index), 127, 128, 129, 511, 512, 513, 16_383, 16_384, 16_385, 60_000]) {
    const moves = movesOf(count);
    const packed = packMoves(moves);
    assert.match(packed, /^[A-Za-z0-9_-]+$/);
    assert.ok(packed.length <= Math.ceil(((count / 4 + 4) * 4) / 3), `${count} moves in ${packed.length} letters`);
    assert.equal(unpackMoves(packed), moves);
  }
});

test("every move counts", () => {
  const all = ["U", "R", "D", "L"].flatMap((one) => ["U", "R", "D", "L", ""].map((other) => one + other));
  assert.equal(new Set(all.map(packMoves)).size, all.length);
});

test("moves that are cut off, or have more behind them, are refused", () => {
  for (const count of [1, 4, 5, 40, 200]) {
    const packed = packMoves(movesOf(count));
    for (let length = 0; length < packed.length; length += 1) assert.throws(() => unpackMoves(packed.slice(0, length)), DAMAGED);
    assert.throws(() => unpackMoves(`${packed}AAAA`), DAMAGED);
  }
});

test("what is no base64, or counts without an end, is refused", () => {
  for (const text of ["", "%%%", "A B!", "é", "gA", "gICAgICAgIAA", "_____w"]) assert.throws(() => unpackMoves(text), DAMAGED, text);
});

test("a link names the game, its seed and its moves", () => {
  globalThis.location = { origin: "http://127.0.0.1:2048" };
  for (const seed of [0, 31, Number.MAX_SAFE_INTEGER]) {
    const game = { game: "threes", rules: "tcg2022", size: "2x3", seed, moves: movesOf(33) };
    const link = gameLink({ ...game, position: "more than is needed" });
    const [, rest] = link.split("http://127.0.0.1:2048/#replay/");
    assert.ok(rest.startsWith(`threes/tcg2022/2x3/${seed}/`), link);
    assert.deepEqual(readLink(rest), game);
  }
});

test("a link that lacks something is refused", () => {
  const moves = packMoves("URDL");
  assert.equal(readLink(`2048/standard/4x4/1/${moves}`).moves, "URDL");
  const wrong = [
    "", "2048", `2048/standard/4x4/${moves}`, `2048/standard/4x4/1/${moves}/more`,
    ...["", "x", "-1", "1.5", "1e5", "0x10", " 1", "12345678901234567"].map((seed) => `2048/standard/4x4/${seed}/${moves}`),
  ];
  for (const rest of wrong) assert.throws(() => readLink(rest), DAMAGED, rest);
});
