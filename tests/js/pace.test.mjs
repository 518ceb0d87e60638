// How fast a watched game is shown.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, makeRandom } from "./page.mjs";

const { Tally, movesAtFullSpeed, speedOf } = await load("pace.js");

/** Shows a game at full speed: `knownAt(ms)` moves are known by then -> {frames, ms, longest}. */
function show(total, knownAt, { frameMs = () => 1000 / 60 } = {}) {
  let [elapsed, shown, frames, longest] = [0, 0, 0, 0];
  while (shown < total && elapsed < 200_000) {
    const span = frameMs();
    elapsed += span;
    const moves = movesAtFullSpeed({ left: Math.min(total, knownAt(elapsed)) - shown, elapsed, span });
    assert.ok(moves >= 0);
    shown += moves;
    frames += 1;
    longest = Math.max(longest, moves);
    if (total - shown < 1e-6) break;
  }
  return { frames, ms: elapsed, longest };
}

test("a whole game of a fast model takes about four seconds", () => {
  for (const total of [500, 3_000, 20_000, 100_000]) {
    for (const perMs of [100, 1e6]) {
      const { frames, ms } = show(total, (elapsed) => perMs * elapsed);
      assert.ok(ms > 3_500 && ms < 5_500, `${total} moves: ${ms} ms`);
      assert.ok(frames / (ms / 1000) > 55);
    }
  }
});

test("frames of any length make no difference", () => {
  const random = makeRandom(3);
  const { ms, frames } = show(20_000, () => Infinity, { frameMs: () => 5 + random(60) });
  assert.ok(ms > 3_500 && ms < 5_500, `${ms} ms`);
  assert.ok(frames > 60);
});

test("a short game has one move a frame", () => {
  const { frames, longest } = show(60, () => Infinity);
  assert.ok(frames >= 59 && frames <= 61, String(frames));
  assert.ok(longest <= 1.01);
});

test("a slow model is shown as it plays, and not held back", () => {
  const total = 4_000;
  const { ms } = show(total, (elapsed) => Math.floor(elapsed / 5)); // 200 moves a second: 20 seconds
  assert.ok(ms >= 20_000 && ms < 21_000, `${ms} ms`);
});

test("the speed grows with the slider, and its end is as fast as possible", () => {
  assert.equal(speedOf(0), 1);
  assert.equal(speedOf(1), Infinity);
  assert.ok(speedOf(0.99) < 2_000 && speedOf(0.5) > speedOf(0.4));
});

test("a tally has games, mean, best and the share that reached each tile", () => {
  const tally = new Tally();
  assert.deepEqual([tally.games, tally.mean, tally.best, tally.reached()], [0, null, null, []]);
  for (const [score, largest] of [[1000, 128], [3000, 256], [5000, 512], [3000, 256]]) tally.add({ score, largest });
  assert.deepEqual([tally.games, tally.mean, tally.best], [4, 3000, 5000]);
  assert.deepEqual(tally.reached(), [[512, 0.25], [256, 0.75], [128, 1]]);
  assert.deepEqual(tally.reached(2), [[512, 0.25], [256, 0.75]]);
});
