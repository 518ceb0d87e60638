// The deck of puzzles: what comes when, and when it is done.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, times } from "./page.mjs";

const { addCards, answered, countCards, dropped, hasNew, newDeck, nextCard } = await load("deck.js");

const card = (text, from = "you") => ({ from, game: "2048", rules: "standard", size: "4x4", text });
const deckOf = (...texts) => addCards(newDeck(), texts.map((text) => card(text)));

/** The positions in the order in which they come, if `isRight(text)` tells the answers. */
function shown(deck, rounds, isRight) {
  const order = [];
  let now = deck;
  for (let round = 0; round < rounds; round += 1) {
    const next = nextCard(now, "you");
    if (!next) break;
    order.push(next.text);
    now = answered(now, next.key, isRight(next.text, order));
  }
  return { order, deck: now };
}

test("a position that was not found comes again after some others", () => {
  const { order } = shown(deckOf("a", "b", "c", "d", "e", "f"), 5, (text) => text !== "a");
  assert.deepEqual(order, ["a", "b", "c", "d", "e"]);
  const later = shown(deckOf("a", "b", "c"), 6, (text) => text !== "a").order;
  assert.deepEqual(later, ["a", "b", "c", "a", "b", "a"]);
});

test("a position is done when it was found twice in a row", () => {
  const all = shown(deckOf("a", "b"), 20, () => true);
  assert.deepEqual(all.order, ["a", "b", "a", "b"]);
  assert.deepEqual(countCards(all.deck, "you"), { open: 0, done: 2 });
  const answers = [true, false, true, true];
  const one = shown(deckOf("a"), 20, () => answers.shift());
  assert.equal(one.order.length, 4);
});

test("the same position does not come twice at once if there is another", () => {
  const { order } = shown(deckOf("a", "b"), 12, () => false);
  for (let at = 1; at < order.length; at += 1) assert.notEqual(order[at], order[at - 1]);
});

test("a position is in the deck once, and its progress stays", () => {
  let deck = deckOf("a");
  deck = answered(deck, nextCard(deck, "you").key, true);
  deck = addCards(deck, [card("a"), card("b"), card("b")]);
  assert.deepEqual(deck.cards.map((one) => [one.text, one.found]), [["a", 1], ["b", 0]]);
});

test("yours and the AI's are apart", () => {
  const deck = addCards(deckOf("a"), [card("z", "ai")]);
  assert.equal(nextCard(deck, "ai").text, "z");
  assert.equal(hasNew(deck, "ai"), true);
  const after = answered(deck, nextCard(deck, "ai").key, false);
  assert.equal(hasNew(after, "ai"), false);
  assert.equal(nextCard(dropped(after, after.cards[1].key), "ai"), null);
});

test("a full deck keeps what is open", () => {
  let deck = deckOf("first");
  for (const right of [true, true]) deck = answered(deck, deck.cards[0].key, right);
  deck = addCards(deck, times(200, (at) => card(`p${at}`)));
  assert.equal(deck.cards.length, 200);
  assert.ok(deck.cards.every((one) => one.text !== "first"));
});
