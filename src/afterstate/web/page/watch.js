// Play by a model: moves come in batches, ahead of the display. The game is always at the move that is shown.

import { persist } from "./api.js";
import { movesAtFullSpeed } from "./pace.js";
import { lookAhead } from "./store.js";

const BUDGET_MS = 50;
const AHEAD_S = 0.1;
const FRAMES = 12; // in a batch of AHEAD_S
const FULL = { budget: 100, frames: 240 };
const SLIDING_UP_TO = 12;
const LATE_MS = 250;
const RATE_MS = 1_000;

/** Sends the events "start", "stop", "over" (detail: the state), "moved" (detail: {frame, slid}), "rate" (detail: moves/s). */
export class Watcher extends EventTarget {
  constructor(app, session) {
    super();
    this.app = app;
    this.session = session;
    this.running = false;
    this.turn = 0;
    this.speed = 4;
    this.onhidden = () => document.hidden && this.pause();
    document.addEventListener("visibilitychange", this.onhidden);
  }

  tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  get model() {
    const { game, rules, size } = this.session.state;
    return this.app.model(game, rules, size);
  }

  /** Shows the model's moves until the game is over or someone pauses. */
  play() {
    if (this.running || !this.model || this.session.state.position.over) return;
    this.running = true;
    this.turn += 1;
    this.made = [];
    this.began = this.now = performance.now();
    this.begin();
    this.tell("start");
    this.tick(this.turn);
  }

  /** Stops at the move that is shown; moves that are known already are forgotten. */
  pause() {
    if (!this.running) return;
    this.running = false;
    this.turn += 1;
    this.frames = [];
    this.session.flush();
    this.tell("stop");
  }

  /** Starts again with the current choices. */
  restart() {
    if (!this.running) return;
    this.pause();
    this.play();
  }

  /** One move of the model. */
  async step() {
    this.pause();
    if (!this.model || this.session.state.position.over) return;
    const turn = (this.turn += 1);
    const before = this.session.state;
    const asked = { count: 1, budget: BUDGET_MS, frames: 1 };
    const answer = await this.request(before, asked).catch((error) => this.app.toast(error.message, "error"));
    if (!answer || turn !== this.turn || before !== this.session.state || !answer.frames.length) return;
    this.session.append(answer);
    if (answer.position.over) this.tell("over", this.session.state);
    this.show(answer.frames[0], true);
  }

  request({ position, rng, rewards }, asked) {
    const body = { model: this.model.id, ...lookAhead(), text: position.text, rng, rewards, ...asked };
    return persist(() => this.app.api.post("/api/watch", body));
  }

  // From the game as it is: nothing is known of what comes.
  begin() {
    this.last = this.base = this.session.state;
    this.frames = [];
    this.progress = 0; // moves since `first`, with a fraction
    this.first = this.known = this.last.moves.length;
    this.ending = false;
    this.fetch(this.last);
  }

  async fetch(state) {
    const { turn, base } = this;
    this.fetching = true;
    try {
      const answer = await this.request(state, this.asked);
      if (turn !== this.turn || base !== this.base) return;
      this.fetching = false;
      this.take(answer);
    } catch (error) {
      if (turn !== this.turn) return;
      this.pause();
      this.app.toast(error.message, "error");
    }
  }

  get asked() {
    if (this.speed === Infinity) return { ...FULL, count: this.app.about.limits.watch };
    return { count: Math.max(1, Math.round(this.speed * AHEAD_S)), budget: BUDGET_MS, frames: FRAMES };
  }

  take(answer) {
    // The first move is shown at once.
    if (this.known === this.first) this.progress = Math.max(this.progress, 1);
    let made = 0;
    for (const frame of answer.frames) {
      this.frames.push({ ...frame, moves: answer.moves.slice(made, frame.at), total: this.known + frame.at });
      made = frame.at;
    }
    this.known += answer.moves.length;
    this.tip = answer;
    this.ending = answer.position.over || !answer.moves;
  }

  tick(turn) {
    if (turn !== this.turn) return undefined;
    const now = performance.now();
    const span = Math.min(now - this.now, LATE_MS);
    this.now = now;
    if (this.last !== this.session.state) this.begin(); // a slide that was still pending
    this.advance(span);
    this.showDue(now);
    if (this.ending && !this.frames.length) return this.end();
    this.fetchAhead();
    this.tellRate(now);
    return requestAnimationFrame(() => this.tick(turn));
  }

  advance(span) {
    const left = this.known - this.first - this.progress;
    if (left <= 0) return;
    const full = this.speed === Infinity;
    const moves = full ? movesAtFullSpeed({ left, elapsed: this.now - this.began, span }) : (this.speed * span) / 1000;
    this.progress += Math.min(moves, left);
  }

  showDue(now) {
    const upTo = this.first + this.progress;
    const count = this.frames.findIndex((frame) => frame.total > upTo + 1e-6);
    const due = this.frames.splice(0, count < 0 ? this.frames.length : count);
    if (!due.length) return;
    const frame = due.at(-1);
    const moves = due.map((one) => one.moves).join("");
    this.session.append({ ...frame, moves });
    this.last = this.session.state;
    this.made.push({ now, moves: moves.length });
    this.show(frame, moves.length === 1 && this.speed <= SLIDING_UP_TO);
  }

  fetchAhead() {
    if (this.fetching || this.ending) return;
    const left = this.known - this.first - this.progress;
    if (this.speed === Infinity || left <= this.speed * AHEAD_S) this.fetch(this.tip);
  }

  end() {
    this.tell("over", this.session.state);
    this.pause();
  }

  show(frame, slid) {
    this.tell("moved", { frame, slid });
  }

  tellRate(now) {
    while (this.made.length > 1 && now - this.made[0].now > RATE_MS + 50) this.made.shift();
    if (this.made.length < 2 || now - this.made[0].now < 200) return;
    const moves = this.made.slice(1).reduce((sum, one) => sum + one.moves, 0);
    this.tell("rate", (moves * 1000) / (this.made.at(-1).now - this.made[0].now));
  }

  /** Stops for good. */
  close() {
    this.pause();
    this.turn += 1;
    document.removeEventListener("visibilitychange", this.onhidden);
  }
}
