// The current game: slides in order, undo, new games. The server keeps none of it.

import { persist } from "./api.js";
import { LETTERS } from "./dom.js";
import { keepState, noteScore } from "./kept.js";
import { AI, YOU, addMarks, fitMarks } from "./marks.js";
import { loadGame, saveGame } from "./store.js";

const SAVE_MS = 1_000;

/** Sends the events "change" (another position), "slid" (detail: what moved) and "refused" (nothing moves). */
export class Session extends EventTarget {
  constructor(app) {
    super();
    this.app = app;
    this.state = loadGame();
    this.queue = [];
    this.pumping = false;
    this.turn = 0;
    this.timer = 0;
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

  /** Starts a new game; throws an error if the server refuses. */
  async start({ game, rules, size, seed }) {
    const request = seed === undefined ? { game, rules, size } : { game, rules, size, seed };
    await this.load("/api/new", request, "", { marks: "", begun: Date.now() });
  }

  /** Loads a game from its seed and moves; throws an error if the server refuses. */
  async replay({ game, rules, size, seed, moves, marks, begun = Date.now() }) {
    await this.load("/api/replay", { game, rules, size, seed, moves }, moves, { marks: fitMarks(marks, moves.length), begun });
  }

  /** `facts` are who made the moves (marks) and when the game began. */
  async load(path, request, moves, facts) {
    this.queue = [];
    const turn = (this.turn += 1);
    const answer = await persist(() => this.app.api.post(path, request));
    if (turn !== this.turn) return;
    const { game, rules, size, seed, position, rng, rewards, score } = answer;
    const kept = this.keptBy(answer, moves);
    if (this.state?.begun !== facts.begun) keepState(this.state);
    this.adopt({ game, rules, size, seed, moves, position, rng, rewards, score, kept, ...facts });
  }

  // Whether the player of this game chose to keep playing: do not ask again after an undo or a replay.
  keptBy({ seed }, moves) {
    return Boolean(moves && this.state && this.state.seed === seed && this.state.kept);
  }

  /** Shows another position at once. */
  adopt(state) {
    this.turn += 1;
    this.queue = [];
    this.state = state;
    this.flush();
    this.tell("change");
  }

  /** Adds moves of the model; the position is the one after them. */
  append({ moves, position, rng, rewards, score }) {
    const marks = addMarks(this.state.marks, this.state.moves.length, AI, moves.length);
    this.state = { ...this.state, moves: this.state.moves + moves, marks, position, rng, rewards, score };
    this.saveSoon();
  }

  /** Slides, once all earlier actions are done. */
  slide(slide) {
    this.queue.push(slide);
    this.pump();
  }

  /** Undoes the last move, once all earlier actions are done. */
  undo() {
    this.queue.push("undo");
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
    this.state = { ...state, moves: state.moves + LETTERS[slide], marks, position, rng, rewards, score };
    this.flush();
    const gain = score - state.score;
    return this.tell("slid", { before: state.position.tiles, slide, after, tiles: position.tiles, gain });
  }

  async takeBack() {
    const { state, turn } = this;
    if (!state.moves) return;
    const moves = state.moves.slice(0, -1);
    const request = { ...this.ref, seed: state.seed, moves };
    const { position, rng, rewards, score } = await persist(() => this.app.api.post("/api/replay", request));
    if (turn !== this.turn) return;
    this.state = { ...state, moves, marks: fitMarks(state.marks, moves.length), position, rng, rewards, score };
    this.flush();
    this.tell("change");
  }

  /** The player continues after the goal. The state object stays the same, since a watched game may be running. */
  keepPlaying() {
    this.state.kept = true;
    this.flush();
    this.tell("change");
  }

  saveSoon() {
    this.timer ||= setTimeout(() => this.flush(), SAVE_MS);
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (!this.state) return;
    saveGame(this.state);
    noteScore(this.state);
  }

  /** Ends the session; answers that arrive later are dropped. */
  close() {
    this.flush();
    this.turn += 1;
    this.queue = [];
    window.removeEventListener("pagehide", this.onhide);
  }
}
