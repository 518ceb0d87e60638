// Games that the browser keeps.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { load, makeRandom, times } from "./page.mjs";

const storage = new Map();
globalThis.localStorage = {
  getItem: (key) => storage.get(key) ?? null,
  setItem: (key, value) => storage.set(key, value),
};

const kept = await load("kept.js");
const random = makeRandom(3);
const movesOf = (count) => times(count, () => "URDL"[random(4)]).join("");
const position = { largest: 16, tiles: "0000000000000012", over: false };

function state(begun, moves, more = {}) {
  return { game: "2048", rules: "standard", size: "4x4", seed: 5, begun, moves, marks: `${moves.length}y`, score: 40, position, ...more };
}

beforeEach(() => storage.clear());

test("a game is kept once, with its moves, and again when it has more", () => {
  kept.keepState(state(1000, "URD"));
  kept.keepState(state(1000, "URDL"));
  kept.keepState(state(2000, "L"));
  assert.deepEqual(kept.listGames().map((one) => one.moves).sort(), ["L", "URDL"]);
  assert.equal(kept.listGames().find((one) => one.moves === "URDL").marks, "4y");
});

test("an accuracy stays while the moves stay", () => {
  kept.keepState(state(1000, "URD"));
  const [{ id }] = kept.listGames();
  kept.changeGame(id, { accuracy: 80 });
  kept.keepState(state(1000, "URD"));
  assert.equal(kept.listGames()[0].accuracy, 80);
  kept.keepState(state(1000, "URDU"));
  assert.equal(kept.listGames()[0].accuracy, undefined);
  kept.removeGame(id);
  assert.deepEqual(kept.listGames(), []);
});

test("a game of before, without marks, is kept; one that was only looked at is not", () => {
  kept.keepState({ ...state(undefined, "URD"), marks: undefined });
  assert.equal(kept.listGames()[0].marks, "3?");
  kept.keepState(state(3000, "URD", { marks: "3?" }));
  kept.keepState(state(4000, ""));
  kept.keepState(null);
  assert.equal(kept.listGames().length, 1);
});

test("the list has bounds, and the oldest leave", () => {
  for (let at = 0; at < 310; at += 1) kept.keepGame(kept.keptOf(state(at, "U"), at + 1));
  assert.equal(kept.listGames().length, 300);
  assert.equal(kept.listGames()[0].ended, 310);
  const long = movesOf(290_000);
  for (let at = 0; at < 30; at += 1) kept.keepGame(kept.keptOf(state(1000 + at, long), 1000 + at));
  assert.ok(storage.get("afterstate.games").length <= 2_500_000);
  assert.equal(kept.listGames()[0].ended, 1029);
  assert.equal(kept.listGames()[0].moves, long);
});

test("what is damaged is left out", () => {
  storage.set("afterstate.games", JSON.stringify({ games: [{ id: "a", packed: "%%%" }] }));
  assert.deepEqual(kept.listGames(), []);
  storage.set("afterstate.games", "nonsense");
  assert.deepEqual(kept.listGames(), []);
});

test("the best score is of games that are all yours", () => {
  const ref = state(1, "U");
  kept.noteScore(state(1, "UU", { marks: "1y1a", score: 900 }));
  assert.equal(kept.bestScore(ref), 0);
  kept.noteScore(state(1, "UU", { score: 100 }));
  kept.noteScore(state(1, "UU", { score: 60 }));
  kept.noteScore(state(1, "UU", { score: 800, start: "another board" }));
  assert.equal(kept.bestScore(ref), 100);
  assert.equal(kept.bestScore({ ...ref, size: "3x3" }), 0);
});

test("statistics", () => {
  const games = [[100, 8, 50], [300, 16, undefined], [200, 8, 100]].map(([score, largest, accuracy]) => ({ score, largest, accuracy, moves: "UR" }));
  const found = kept.statisticsOf(games);
  assert.deepEqual(found, { games: 3, best: 300, mean: 200, accuracy: 75, moves: 6, tiles: [[16, 1], [8, 2]] });
  assert.equal(kept.statisticsOf([]).mean, null);
});
