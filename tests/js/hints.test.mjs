// How values are shown.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./page.mjs";

const { barLengths, bestSlides } = await load("hints.js");

test("a small loss looks small", () => {
  const bars = barLengths({ up: 137_638, right: 137_631, down: 130_000, left: null });
  assert.equal(bars.up, 1);
  assert.ok(bars.right > 0.99, String(bars.right));
  assert.ok(bars.down < 0.7, String(bars.down));
  assert.equal(bars.left, 0);
});

test("a bar grows with its value, and is never shorter than can be seen", () => {
  for (const best of [-500, -1, 0, 0.5, 3, 1000, 1e6]) {
    const values = { up: best, right: best - 0.01, down: best - Math.abs(best) * 0.04, left: best - 5 - 3 * Math.abs(best) };
    const bars = barLengths(values);
    assert.equal(bars.up, 1);
    assert.ok(bars.right <= 1 && bars.down <= bars.up && bars.left <= bars.down, String(best));
    assert.ok(Math.abs(bars.left - 0.3) < 1e-9);
  }
  assert.deepEqual(barLengths({ up: 7, right: 7, down: null, left: null }), { up: 1, right: 1, down: 0, left: 0 });
});

test("slides that look equal are all the best", () => {
  assert.deepEqual(bestSlides({ move: "up", values: { up: 1200.2, right: 1199.9, down: 1198, left: null } }), ["up", "right"]);
  assert.deepEqual(bestSlides({ move: "left", values: { up: 3, right: 2, down: 1, left: 4 } }), ["left"]);
  assert.deepEqual(bestSlides({ move: null, values: { up: null, right: null, down: null, left: null } }), []);
});
