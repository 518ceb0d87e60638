// Numbers for charts.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, makeRandom, times } from "./page.mjs";

const { full, nearest, niceStep, percent, pushApart, short, signed, thin, ticks } = await load("scale.js");

const SPANS = times(40, (index) => 1.7 ** (index - 12));

test("a nice step is 1, 2 or 5 times a power of ten, and cuts a span into about as many parts as asked for", () => {
  for (const span of SPANS) {
    for (const count of [1, 2, 5, 8, 12]) {
      const step = niceStep(span, count);
      assert.match(step.toExponential(3), /^[125]\.000e/, `${span} in ${count}`);
      assert.ok(span / step <= count / 0.7 + 1e-9 && span / step >= count / 1.75 - 1e-9, `${span} in ${count}: ${step}`);
    }
  }
});

test("a step is never below the least one, and a span of nothing has a step", () => {
  assert.equal(niceStep(3, 10, 1), 1);
  assert.equal(niceStep(3000, 3, 1), 1000);
  for (const span of [0, -5, NaN]) assert.equal(niceStep(span, 5), 1);
  assert.equal(niceStep(0, 5, 20), 20);
  assert.equal(niceStep(10, 0), 10);
});

test("ticks are all multiples of the step from low to high, ends included", () => {
  const plain = (list) => list.map((tick) => tick + 0); // -0 is 0
  assert.deepEqual(plain(ticks(0, 100, 5)), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(plain(ticks(-1, 1, 4)), [-1, -0.5, 0, 0.5, 1]);
  assert.deepEqual(plain(ticks(0, 3, 10, 1)), [0, 1, 2, 3]);
  assert.deepEqual(ticks(5, 5, 4), [5]);
  assert.equal(ticks(0, 0.3, 3).length, 4); // 3 * 0.1 is above 0.3
  for (const span of SPANS) {
    for (const low of [0, -span / 3, span * 2.2]) {
      const [high, step] = [low + span, niceStep(span, 6)];
      const list = ticks(low, high, 6);
      assert.ok(list[0] - low < step * (1 + 1e-6) && high - list.at(-1) < step * (1 + 1e-6), `${low} to ${high}: ${list}`);
      assert.ok(list[0] >= low - step * 1e-6 && list.at(-1) <= high + step * 1e-6, `${low} to ${high}: ${list}`);
      list.slice(1).forEach((tick, at) => assert.ok(Math.abs(tick - list[at] - step) < step * 1e-6));
    }
  }
});

test("short figures", () => {
  const cases = {
    0: "0", 7: "7", 950: "950", 999.4: "999", 999.5: "1k", 1200: "1.2k", 99_949: "99.9k", 99_960: "100k", 120_000: "120k",
    999_499: "999k", 999_500: "1M", 1_234_567: "1.2M", 5e9: "5G", 1e13: "10000G", 0.25: "0.25", 0.5: "0.5", 9.96: "10",
    1.25: "1.3", "-1500": "-1.5k", "-950": "-950", "-0.004": "0", 0.004: "0", "-0.006": "-0.01",
  };
  for (const [value, text] of Object.entries(cases)) assert.equal(short(Number(value)), text, value);
  for (const value of [NaN, Infinity, -Infinity, undefined, null]) assert.equal(short(value), "–");
});

test("a short figure is short, and nearly the number", () => {
  const factors = { k: 1e3, M: 1e6, G: 1e9 };
  for (let value = 1; value < 9e11; value *= 1.013) {
    const text = short(value);
    assert.ok(text.length <= 5, `${value}: ${text}`);
    const read = Number.parseFloat(text) * (factors[text.at(-1)] ?? 1);
    assert.ok(Math.abs(read - value) <= value * 0.051, `${value}: ${text}`);
  }
});

test("full figures, differences and shares", () => {
  assert.deepEqual([1204, 1e6, 0.4, -87, NaN].map(full), ["1,204", "1,000,000", "0", "-87", "–"]);
  assert.deepEqual([1204, 0.4, -0.4, 0, -87.2, -12345].map(signed), ["+1,204", "0", "0", "0", "−87", "−12,345"]);
  assert.deepEqual([0.988, 1, 0, 0.5, 0.1234].map((share) => percent(share)), ["98.8%", "100%", "0%", "50%", "12.3%"]);
  assert.deepEqual([1, 0.1, 0.996].map((share) => percent(share, 0)), ["100%", "10%", "100%"]);
  assert.equal(percent(undefined), "–");
});

test("thinned points keep the ends and the extremes of every column, in their order", () => {
  const random = makeRandom(1);
  for (const count of [0, 1, 2, 5, 100, 1000]) {
    const points = times(count, (index) => [index, random(50)]);
    const columnOf = (x) => Math.floor(x / 37);
    const kept = thin(points, columnOf);
    assert.deepEqual(kept, points.filter((point) => kept.includes(point)));
    for (let column = 0; column * 37 < count; column += 1) {
      const [all, some] = [points, kept].map((list) => list.filter(([x]) => columnOf(x) === column));
      assert.ok(some.length <= 4);
      assert.deepEqual([some[0], some.at(-1)], [all[0], all.at(-1)]);
      for (const end of [Math.min, Math.max]) assert.equal(end(...some.map(([, y]) => y)), end(...all.map(([, y]) => y)));
    }
    assert.deepEqual(thin(kept, columnOf), kept);
  }
  const few = [[0, 5], [40, 1], [80, 9]];
  assert.deepEqual(thin(few, (x) => Math.floor(x / 37)), few);
});

test("the nearest item is the one that a search through all of them finds", () => {
  const random = makeRandom(2);
  for (const count of [1, 2, 3, 10, 101]) {
    const points = times(count, () => [random(1000), 0]).sort(([one], [other]) => one - other);
    for (let x = -50; x <= 1050; x += 7) {
      const distance = Math.min(...points.map(([at]) => Math.abs(at - x)));
      assert.equal(Math.abs(points[nearest(points, x)][0] - x), distance, `${x} among ${points.map(([at]) => at)}`);
    }
  }
  assert.equal(nearest([{ games: 10 }, { games: 20 }], 19, (one) => one.games), 1);
});

test("labels that are apart stay where they are", () => {
  assert.deepEqual(pushApart([10, 50, 30], 15, 0, 100), [10, 50, 30]);
  assert.deepEqual(pushApart([], 15, 0, 100), []);
  assert.deepEqual(pushApart([-20], 15, 0, 100), [0]);
  assert.deepEqual(pushApart([120], 15, 0, 100), [100]);
});

test("labels are pushed apart within their room, in their order", () => {
  const random = makeRandom(3);
  for (let round = 0; round < 300; round += 1) {
    const wanted = times(1 + random(12), () => random() * 140 - 20);
    const places = pushApart(wanted, 15, 0, 100);
    const order = wanted.map((_, index) => index).sort((one, other) => wanted[one] - wanted[other]);
    const gap = Math.min(15, 100 / Math.max(1, wanted.length - 1));
    for (const place of places) assert.ok(place >= -1e-9 && place <= 100 + 1e-9, `${wanted}: ${places}`);
    order.slice(1).forEach((label, at) => assert.ok(places[label] - places[order[at]] >= gap - 1e-9, `${wanted}: ${places}`));
  }
});
