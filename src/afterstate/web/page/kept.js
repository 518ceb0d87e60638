// Your games, kept in the browser: those that a new one replaced, finished ones, imported ones; and your best scores.

import { packMoves, unpackMoves } from "./links.js";
import { fitMarks, isAllYours, playedBy } from "./marks.js";
import { loadObject, saveObject } from "./store.js";

const MOST = 300;
const LETTERS = 2_500_000; // of all games together; browsers keep about five million

const keyOf = ({ game, rules, size }) => `${game}/${rules}/${size}`;

/** The id of a game: when it began, and its seed. */
export function idOf({ begun = 0, seed = 0 }) {
  return `${begun.toString(36)}-${seed.toString(36)}`;
}

function stored() {
  const games = loadObject("games")?.games;
  return Array.isArray(games) ? games : [];
}

/** All kept games, the latest first: {id, begun, ended, game, rules, size, seed, moves, marks, score, largest, ...}. */
export function listGames() {
  return stored().map(unpack).filter(Boolean);
}

function unpack({ packed, ...game }) {
  if (packed === undefined) return game;
  try {
    return { ...game, moves: unpackMoves(packed) };
  } catch {
    return null;
  }
}

function pack({ moves, ...game }) {
  return game.episode === undefined ? { ...game, packed: packMoves(moves) } : game;
}

function save(games) {
  let room = LETTERS;
  const packed = games.slice(0, MOST);
  const full = packed.findIndex((one) => (room -= JSON.stringify(one).length + 1) < 20);
  saveObject("games", { games: full < 0 ? packed : packed.slice(0, full) });
}

/** What is kept of the state of a session. */
export function keptOf(state, now = Date.now()) {
  const { game, rules, size, seed, start, moves, score, position } = state;
  const marks = fitMarks(state.marks, moves.length);
  const facts = { score, largest: position.largest, tiles: position.tiles, over: position.over };
  return { id: idOf(state), begun: state.begun ?? 0, ended: now, game, rules, size, seed, start, moves, marks, ...facts };
}

/** Keeps a game: a new entry, or the one with its id again. An accuracy stays while the moves stay. */
export function keepGame(entry) {
  const games = stored(), packed = pack(entry);
  const old = games.find((one) => one.id === entry.id);
  const same = old && old.packed === packed.packed;
  const found = same ? { accuracy: old.accuracy, ...packed, ended: old.ended } : packed;
  save([found, ...games.filter((one) => one !== old)].sort((one, other) => other.ended - one.ended));
}

/** Keeps the game of a session if someone played it here; one that was only replayed is not kept. */
export function keepState(state) {
  const here = state?.begun === undefined || playedBy(state.marks) !== "nobody";
  if (state?.moves && here) keepGame(keptOf(state));
}

/** Changes an entry, or removes it. */
export function changeGame(id, change) {
  save(stored().map((one) => (one.id === id ? { ...one, ...change } : one)));
}

export function removeGame(id) {
  save(stored().filter((one) => one.id !== id));
}

/** Your best score in a game, on a board. */
export function bestScore(ref) {
  return Number(loadObject("best")?.[keyOf(ref)]) || 0;
}

/** Notes the score of a game whose moves are all yours. */
export function noteScore(state) {
  if (!isAllYours(state.marks) || state.start || state.score <= bestScore(state)) return;
  saveObject("best", { ...loadObject("best"), [keyOf(state)]: state.score });
}

/** Figures of some games; those that are unknown are null. */
export function statisticsOf(games) {
  const scores = games.map((one) => one.score);
  const known = games.map((one) => one.accuracy).filter(Number.isFinite);
  const mean = (numbers) => (numbers.length ? numbers.reduce((sum, one) => sum + one, 0) / numbers.length : null);
  const tiles = new Map();
  for (const { largest } of games) tiles.set(largest, (tiles.get(largest) ?? 0) + 1);
  return {
    games: games.length, best: scores.length ? Math.max(...scores) : null, mean: mean(scores), accuracy: mean(known),
    moves: games.reduce((sum, one) => sum + (one.moves?.length ?? one.plies ?? 0), 0),
    tiles: [...tiles].sort(([one], [other]) => other - one),
  };
}
