// Play by a model: moves come in batches, one request ahead of the display, and each is shown when it is due.

import { persist } from "./api.js";
import { lookAhead } from "./store.js";

const BUDGET_MS = 50;
const AHEAD_S = 0.1;
const SLIDING_UP_TO = 12;
const LATE_MS = 250;
const RATE_MS = 1_000;
const FASTEST = 2_000;

/** Moves a second for a slider from 0 to 1; Infinity is as fast as possible. */
export function speedOf(slider) {
  return slider >= 1 ? Infinity : 10 ** (slider * Math.log10(FASTEST));
}

/** Sends the events "start", "stop", "moved" (detail: {frame, slid}) and "rate" (detail: moves/s). */
export class Watcher extends EventTarget {
  constructor(app, session) {
    super();
    this.app = app;
    this.session = session;
    this.running = false;
    this.turn = 0;
    this.speed = 4;
    this.batch = null;
    this.next = null;
    this.made = [];
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
    this.ending = false;
    this.due = performance.now();
    this.tell("start");
    this.fetch(this.session.state);
    this.tick(this.turn);
  }

  /** Stops, and shows the end of the current batch at once. */
  pause() {
    if (!this.running) return;
    this.running = false;
    this.turn += 1;
    this.next = null;
    this.finishBatch();
    this.session.flush();
    this.tell("stop");
  }

  /** Starts again with the current choices; a pending batch is dropped. */
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
    const answer = await this.request(before, 1, BUDGET_MS).catch((error) => this.app.toast(error.message, "error"));
    if (!answer || turn !== this.turn || before !== this.session.state || !answer.frames.length) return;
    this.session.append(answer);
    this.show({ ...answer.frames[0], moves: this.session.state.moves.length }, true);
  }

  request({ position, rng, rewards }, count, budget) {
    const body = { model: this.model.id, ...lookAhead(), text: position.text, rng, rewards, count, budget };
    return persist(() => this.app.api.post("/api/watch", body));
  }

  async fetch(state) {
    const turn = this.turn;
    const full = this.speed === Infinity;
    const count = full ? this.app.about.limits.watch : Math.max(1, Math.round(this.speed * AHEAD_S));
    const asked = performance.now();
    try {
      const answer = await this.request(state, count, BUDGET_MS);
      const took = performance.now() - asked;
      const lasts = full ? took : (answer.moves.length * 1000) / this.speed;
      if (turn === this.turn) this.next = { answer, base: state, lasts };
    } catch (error) {
      if (turn !== this.turn) return;
      this.pause();
      this.app.toast(error.message, "error");
    }
  }

  tick(turn) {
    if (turn !== this.turn) return undefined;
    const now = performance.now();
    if (this.next && (this.speed === Infinity || now >= this.due)) this.begin(now);
    if (this.batch) this.showDue(now);
    if (this.ending && !this.batch) return this.pause();
    this.tellRate(now);
    return requestAnimationFrame(() => this.tick(turn));
  }

  begin(now) {
    this.finishBatch();
    const { answer, base, lasts } = this.next;
    this.next = null;
    // A slide that was still pending has changed the position since.
    if (base !== this.session.state) return this.fetch(this.session.state);
    if (now - this.due > LATE_MS) this.due = now;
    const start = this.speed === Infinity ? now : this.due;
    const each = lasts / Math.max(answer.moves.length, 1);
    // A frame is due when its move begins; if several moves share a frame, when the last one begins.
    const made = this.session.state.moves.length;
    const timed = (frame) => ({ ...frame, moves: made + frame.at, due: start + (frame.at - 1) * each });
    this.batch = { frames: answer.frames.map(timed), shown: 0 };
    this.due = start + lasts;
    this.session.append(answer);
    this.made.push({ now, moves: answer.moves.length });
    this.ending = answer.position.over || !answer.moves;
    return this.ending ? undefined : this.fetch(this.session.state);
  }

  showDue(now) {
    const { frames, shown } = this.batch;
    let upTo = shown;
    while (upTo < frames.length && frames[upTo].due <= now) upTo += 1;
    if (upTo === shown) return;
    this.batch.shown = upTo;
    const slides = upTo - shown === 1 && this.speed <= SLIDING_UP_TO;
    this.show(frames[upTo - 1], slides);
    if (upTo === frames.length) this.batch = null;
  }

  finishBatch() {
    const frame = this.batch?.frames.at(-1);
    this.batch = null;
    if (frame) this.show(frame, false);
  }

  show(frame, slid) {
    this.tell("moved", { frame, slid });
  }

  tellRate(now) {
    while (this.made.length > 1 && now - this.made[0].now > RATE_MS + 50) this.made.shift();
    const span = now - (this.made[0]?.now ?? now);
    if (span < 200) return;
    const moves = this.made.slice(0, -1).reduce((sum, one) => sum + one.moves, 0);
    const ends = this.made.at(-1).now - this.made[0].now;
    if (ends > 0) this.tell("rate", (moves * 1000) / ends);
  }

  /** Stops for good. */
  close() {
    this.pause();
    this.turn += 1;
    document.removeEventListener("visibilitychange", this.onhidden);
  }
}
