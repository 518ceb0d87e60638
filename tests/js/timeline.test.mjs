// Positions one after the other.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./page.mjs";

const { Timeline } = await load("timeline.js");

const REF = { game: "2048", rules: "standard", size: "4x4" };
const at = (text, ref = REF) => ({ ref, text });

test("positions are added behind the current one", () => {
  const line = new Timeline();
  assert.deepEqual([line.now, line.canGoBack, line.canGoForward], [undefined, false, false]);
  assert.deepEqual(line.push(at("a")), { added: true, forgotten: 0 });
  assert.deepEqual(line.push(at("a")), { added: false, forgotten: 0 });
  assert.deepEqual(line.push(at("a", { ...REF, game: "threes" })), { added: true, forgotten: 0 });
  line.push(at("b"));
  assert.deepEqual([line.now.text, line.canGoBack, line.canGoForward], ["b", true, false]);
});

test("another way forgets what came after, the same way does not", () => {
  const line = new Timeline();
  for (const text of ["a", "b", "c", "d"]) line.push(at(text));
  assert.equal(line.goTo(at("b")), true);
  assert.deepEqual(line.push(at("c")), { added: false, forgotten: 0, forward: true });
  assert.deepEqual([line.now.text, line.canGoForward], ["c", true]);
  line.goTo(at("b"));
  assert.deepEqual(line.push(at("x")), { added: true, forgotten: 2 });
  assert.deepEqual(line.list.map((one) => one.text), ["a", "b", "x"]);
});

test("of two such positions the nearer one is found", () => {
  const line = new Timeline();
  for (const text of ["a", "b", "a", "c", "a"]) line.push(at(text));
  line.goTo(at("c"));
  assert.equal(line.goTo(at("a")) && line.at, 2);
  assert.equal(line.goTo(at("z")), false);
  assert.equal(line.at, 2);
});
