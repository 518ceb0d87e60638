// The current game: slides in order, undo, new games. The server keeps none of it.

import { persist } from "./api.js";
import { LETTERS } from "./dom.js";
import { keepState, noteScore } from "./kept.js";
import { AI, YOU, addMarks, fitMarks } from "./marks.js";
import { loadGame, saveGame } from "./store.js";

const SAVE_MS = 1_000;
const SEEDS = 1e9;

/** What makes a game again: {game, rules, size, seed, moves}, and `start` if it began with a board of its own. */
export function recordOf({ game, rules, size, seed, moves, start }) {
  return { game, rules, size, seed, moves, ...(start ? { start } : {}) };
}

/** Sends the events "change" (another position), "slid" (detail: what moved), "undone" and "refused" (detail: the slide). */
export class Session extends EventTarget {
  constructor(app) {
    super();
    this.app = app;
    this.state = loadGame();
    this.queue = [];
    this.pumping = false;
    this.turn = 0;
    this.loads = 0;
    this.timer = 0;
    this.unsaved = false;
    this.onhide = () => this.flush();
    window.addEventListener("pagehide", this.onhide);
  }

  /** Which game, rules and size this is. */
  get ref() {
    const { game, rules, size } = this.state;
    return { game, rules, size };
  }

  get inProgress() {
    return Boolean(this.state && this.state.moves && !this.state.position.over);
  }

  tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** Starts a new game; throws an error if the server refuses or `signal` cancels it. The old game stays until then. */
  async start({ game, rules, size, seed }, signal = null) {
    const request = seed === undefined ? { game, rules, size } : { game, rules, size, seed };
    await this.load("/api/new", request, { moves: "", marks: "", begun: Date.now() }, signal);
  }

  /** Starts a game from a board of one's own. */
  async startFrom({ game, rules, size }, text) {
    const seed = Math.floor(Math.random() * SEEDS);
    await this.replay({ game, rules, size, seed, moves: "", start: text });
  }

  /** Loads a game from its seed and moves; throws an error if the server refuses. */
  async replay(game) {
    const { moves, start, marks, begun = Date.now() } = game;
    const known = { moves, marks: fitMarks(marks, moves.length), begun, ...(start ? { start } : {}) };
    await this.load("/api/replay", recordOf(game), known);
  }

  /** `known` is what the answer does not say: moves, who made them (marks), when the game began, and on which board. */
  async load(path, request, known, signal = null) {
    const load = (this.loads += 1);
    const answer = await persist(() => this.app.api.post(path, request, signal), signal);
    if (load !== this.loads) return;
    const { game, rules, size, seed, position, rng, rewards, score } = answer;
    const kept = this.keptBy(answer, known.moves);
    if (this.state?.begun !== known.begun) keepState(this.state);
    this.adopt({ game, rules, size, seed, ...known, position, rng, rewards, score, kept });
  }

  // Whether it was said already that this game reached its goal: say it once.
  keptBy({ seed }, moves) {
    return Boolean(moves && this.state && this.state.seed === seed && this.state.kept);
  }

  /** Shows another position at once. */
  adopt(state) {
    this.turn += 1;
    this.queue = [];
    this.change(state);
    this.flush();
    this.tell("change");
  }

  /** Adds moves of the model; the position is the one after them. */
  append({ moves, position, rng, rewards, score }) {
    const marks = addMarks(this.state.marks, this.state.moves.length, AI, moves.length);
    this.change({ ...this.state, moves: this.state.moves + moves, marks, position, rng, rewards, score });
    this.timer ||= setTimeout(() => this.flush(), SAVE_MS);
  }

  change(state) {
    this.state = state;
    this.unsaved = true;
  }

  /** Slides, once all earlier actions are done. */
  slide(slide) {
    this.push(slide);
  }

  /** Undoes the last move, once all earlier actions are done. */
  undo() {
    this.push("undo");
  }

  /** Whether an action waits for its answer. */
  get busy() {
    return this.pumping;
  }

  push(action) {
    this.loads += 1; // a game that is still loading comes too late
    this.queue.push(action);
    this.pump();
  }

  async pump() {
    if (this.pumping) return;
    this.pumping = true;
    while (this.queue.length && this.state) {
      const action = this.queue.shift();
      try {
        await (action === "undo" ? this.takeBack() : this.makeSlide(action));
      } catch (error) {
        this.queue = [];
        this.app.toast(error.message, "error");
      }
    }
    this.pumping = false;
  }

  async makeSlide(slide, who = YOU) {
    const { state, turn } = this;
    if (!state.position.legal.includes(slide)) return this.tell("refused", { slide });
    const request = { ...this.ref, text: state.position.text, rng: state.rng, rewards: state.rewards, slide };
    const answer = await persist(() => this.app.api.post("/api/slide", request));
    if (turn !== this.turn) return undefined;
    const { position, rng, rewards, score, after } = answer;
    const marks = addMarks(state.marks, state.moves.length, who);
    this.change({ ...state, moves: state.moves + LETTERS[slide], marks, position, rng, rewards, score });
    this.flush();
    const gain = score - state.score;
    return this.tell("slid", { before: state.position.tiles, slide, after, tiles: position.tiles, gain });
  }

  async takeBack() {
    const { state, turn } = this;
    if (!state.moves) return;
    const moves = state.moves.slice(0, -1);
    const request = recordOf({ ...state, moves });
    const { position, rng, rewards, score } = await persist(() => this.app.api.post("/api/replay", request));
    if (turn !== this.turn) return;
    const marks = fitMarks(state.marks, moves.length);
    this.change({ ...state, moves, marks, position, rng, rewards, score });
    this.flush();
    this.tell("change");
    this.tell("undone");
  }

  /** Remembers that the goal was reached. The state object stays the same, since a watched game may be running. */
  keepPlaying() {
    this.state.kept = true;
    this.unsaved = true;
    this.flush();
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (!this.state || !this.unsaved) return;
    saveGame(this.state);
    noteScore(this.state);
    this.unsaved = false;
  }

  /** Ends the session; answers that arrive later are dropped. */
  close() {
    this.flush();
    this.turn += 1;
    this.loads += 1;
    this.queue = [];
    window.removeEventListener("pagehide", this.onhide);
  }
}
