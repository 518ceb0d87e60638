// Who made each move of a game.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, makeRandom } from "./page.mjs";

const { addMarks, fitMarks, isAllYours, playedBy, spreadMarks } = await load("marks.js");

test("marks grow by one move or many, and join what is of the same player", () => {
  assert.equal(addMarks("", 0, "y"), "1y");
  assert.equal(addMarks("1y", 1, "y"), "2y");
  assert.equal(addMarks("2y", 2, "a", 300), "2y300a");
  assert.equal(addMarks("2y300a", 302, "a", 5), "2y305a");
});

test("a game without marks, or with too few, has moves of nobody known", () => {
  assert.equal(addMarks(undefined, 100, "y"), "100?1y");
  assert.equal(fitMarks(undefined, 0), "");
  assert.equal(fitMarks("3y", 5), "3y2?");
  assert.equal(spreadMarks(undefined, 3), "???");
});

test("marks are cut with the moves", () => {
  assert.equal(fitMarks("3y2a4y", 4), "3y1a");
  assert.equal(fitMarks("3y2a4y", 3), "3y");
  assert.equal(fitMarks("3y", 0), "");
});

test("letters come out as they went in", () => {
  const random = makeRandom(7);
  for (let round = 0; round < 50; round += 1) {
    let marks = "", letters = "";
    for (let step = random(20); step > 0; step -= 1) {
      const who = "ya?"[random(3)], count = 1 + random(9);
      marks = addMarks(marks, letters.length, who, count);
      letters += who.repeat(count);
    }
    assert.equal(spreadMarks(marks, letters.length), letters);
    assert.match(marks, /^([1-9][0-9]*[ya?])*$/);
    const cut = random(letters.length + 1);
    assert.equal(spreadMarks(fitMarks(marks, cut), cut), letters.slice(0, cut));
  }
});

test("who played", () => {
  assert.deepEqual(["3y", "2a", "3y1a", "", "4?", undefined].map(playedBy), ["you", "ai", "both", "nobody", "nobody", "nobody"]);
  assert.deepEqual(["3y", "3y1a", "1?3y", "", undefined].map(isAllYours), [true, false, false, false, false]);
});
