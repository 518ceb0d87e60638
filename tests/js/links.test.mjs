// A game as a link.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, makeRandom, times } from "./page.mjs";

const { analyseHash, gameLink, isLocal, packMoves, readAnalyse, readLink, unpackMoves } = await load("links.js");

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
    "", "2048", `2048/standard/4x4/${moves}`, `2048/standard/4x4/1/${moves}/2 4/more`,
    ...["", "x", "-1", "1.5", "1e5", "0x10", " 1", "12345678901234567"].map((seed) => `2048/standard/4x4/${seed}/${moves}`),
  ];
  for (const rest of wrong) assert.throws(() => readLink(rest), DAMAGED, rest);
});

test("a link with a wrong % or a seed that numbers cannot hold is refused, and not rounded", () => {
  const moves = packMoves("URDL");
  for (const wrong of ["%", "%E0%A4%A", "2048%zz"]) assert.throws(() => readLink(`${wrong}/standard/4x4/1/${moves}`), DAMAGED);
  assert.throws(() => readLink(`2048/standard/4x4/9007199254740992/${moves}`), DAMAGED);
  assert.equal(readLink(`2048/standard/4x4/9007199254740991/${moves}`).seed, 9007199254740991);
});

test("a game that does not begin with the first state of its seed says where it begins", () => {
  globalThis.location = { origin: "http://127.0.0.1:2048" };
  const game = { game: "2048", rules: "standard", size: "2x2", seed: 3, moves: "UL", start: "2 4 / 0 2" };
  const [, rest] = gameLink(game).split("/#replay/");
  assert.deepEqual(readLink(rest), game);
});

test("only this machine opens a link to loopback", () => {
  for (const hostname of ["127.0.0.1", "localhost", "[::1]", "127.0.1.1"]) {
    globalThis.location = { hostname };
    assert.equal(isLocal(), true, hostname);
  }
  for (const hostname of ["192.168.1.7", "example.org", "127.example.org.invalid".slice(4)]) {
    globalThis.location = { hostname };
    assert.equal(isLocal(), false, hostname);
  }
});

test("a position goes into a hash for Analyse and out again", () => {
  const ref = { game: "threes", rules: "official", size: "2x2" };
  const text = "1 2 / 3 0 | next 3+ | last up";
  const hash = analyseHash(ref, text);
  assert.match(hash, /^analyse=threes\/official\/2x2\/[^/ ]+$/);
  assert.deepEqual(readAnalyse(hash.slice("analyse=".length)), { ref, text });
});

test("a hash with a text alone is a position of a game that must be guessed", () => {
  const text = "2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2";
  for (const rest of [text, encodeURIComponent(text)]) assert.deepEqual(readAnalyse(rest), { ref: null, text });
  assert.equal(readAnalyse(""), null);
  assert.equal(readAnalyse("%zz"), null);
});
