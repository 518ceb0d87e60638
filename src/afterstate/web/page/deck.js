// A deck of puzzles: a wrong answer brings a position back after some others, until it is found twice in a row.

export const ENOUGH = 2;
const SOON = 3; // turns until a position comes again after a wrong answer
const LATER = 6; // and after a right one
const MOST = 200;

const keyOf = ({ game, rules, size, text }) => `${game}/${rules}/${size}/${text}`;

/** An empty deck. */
export function newDeck() {
  return { turn: 0, last: null, cards: [] };
}

/** Adds positions that are not in the deck yet; the oldest ones that were found leave first, if there are too many. */
export function addCards(deck, cards) {
  const known = new Set(deck.cards.map((one) => one.key));
  const fresh = cards.map((one) => ({ ...one, key: keyOf(one), found: 0, due: 0 })).filter(({ key }) => {
    const isNew = !known.has(key);
    known.add(key);
    return isNew;
  });
  const all = [...deck.cards, ...fresh];
  const doneFirst = [...all].sort((one, other) => Number(isDone(other)) - Number(isDone(one)));
  const spare = doneFirst.slice(0, Math.max(0, all.length - MOST));
  return { ...deck, cards: all.filter((one) => !spare.includes(one)) };
}

export function isDone(card) {
  return card.found >= ENOUGH;
}

/** The next position of a kind ("you" or "ai"): the one that is due first, and not the last one if there is another. */
export function nextCard(deck, from) {
  const open = deck.cards.filter((one) => one.from === from && !isDone(one));
  const others = open.filter((one) => one.key !== deck.last);
  const list = others.length ? others : open;
  return list.reduce((best, one) => (best === null || one.due < best.due ? one : best), null);
}

/** Whether a position that was never shown is there. */
export function hasNew(deck, from) {
  return deck.cards.some((one) => one.from === from && one.due === 0 && !isDone(one));
}

/** The deck after an answer. */
export function answered(deck, key, right) {
  const turn = deck.turn + 1;
  const change = (one) => ({ ...one, found: right ? one.found + 1 : 0, due: turn + (right ? LATER : SOON) });
  return { turn, last: key, cards: deck.cards.map((one) => (one.key === key ? change(one) : one)) };
}

/** The deck without a position. */
export function dropped(deck, key) {
  return { ...deck, cards: deck.cards.filter((one) => one.key !== key) };
}

/** How many positions of a kind are open, and how many are found. */
export function countCards(deck, from) {
  const mine = deck.cards.filter((one) => one.from === from);
  const done = mine.filter(isDone).length;
  return { open: mine.length - done, done };
}
