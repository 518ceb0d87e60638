// Two boards in step: both models play the game of one seed, move for move.

import { persist } from "./api.js";
import { Board, shapeOf } from "./board.js";
import { h, whole } from "./dom.js";
import { t } from "./texts.js";

const FRAMES = 16, AHEAD = 8, BUDGET_MS = 60, SLIDING_UP_TO = 8, SCREEN_HZ = 60;

const tilesOf = (frame) => frame.tiles ?? frame.position.tiles;

/** One board: the game of one model. */
class Side {
  constructor(app, letter) {
    Object.assign(this, { app, letter, board: null, key: "" });
    this.title = h("h2", { class: "versus-name" });
    this.score = h("span", { class: "num versus-score", data: { testid: `versus-score-${letter}` } }, "0");
    this.facts = h("p", { class: "num muted little" });
    this.slot = h("div", { class: "versus-board" });
    const name = letter.toUpperCase();
    const mark = h("span", { class: `versus-letter chart-c${letter === "a" ? 1 : 2}` }, name);
    const head = h("div", { class: "row apart" }, mark, this.title, this.score);
    const props = { class: "card stack tight versus-side", "aria-label": t("versus.board", { name }) };
    this.element = h("section", props, head, this.slot, this.facts);
  }

  /** Stands at the beginning of a game. */
  begin(first, player) {
    Object.assign(this, { player, state: first, queue: [], moves: 0, asking: null });
    const key = `${first.game}/${first.size}`;
    if (key !== this.key) {
      this.key = key;
      this.board = new Board({ ...shapeOf(first.size), faces: this.app.faces(first.game), game: first.game });
      this.board.element.dataset.testid = `versus-board-${this.letter}`;
      this.slot.replaceChildren(this.board.element);
    }
    this.title.textContent = player.name;
    this.board.set(first.position.tiles);
    this.#tell(first.score, first.position.largest);
  }

  get over() {
    return this.state.position.over && !this.queue.length;
  }

  /** Asks for moves until some are ready, or the game is over. */
  async ready(each) {
    if (this.queue.length || this.state.position.over) return;
    await this.#ask(each);
  }

  /** Asks for a batch of frames, with so many moves each. */
  #ask(each) {
    const { position, rng, rewards } = this.state;
    const { model, depth } = this.player;
    const body = { model, depth, text: position.text, rng, rewards, count: FRAMES * each, budget: BUDGET_MS };
    this.asking ??= persist(() => this.app.api.post("/api/watch", body)).then((answer) => {
      if (position !== this.state.position) return;
      this.state = answer;
      const { frames } = answer;
      this.queue.push(...frames.map((frame, at) => ({ ...frame, step: frame.at - (frames[at - 1]?.at ?? 0) })));
    }).finally(() => {
      this.asking = null;
    });
    return this.asking;
  }

  /** Goes on until `target` moves are made; a single move slides if there is time for it. */
  show(target, each, sliding) {
    const before = this.moves;
    let frame = null;
    while (this.queue.length && this.moves < target) {
      frame = this.queue.shift();
      this.moves += frame.step;
    }
    if (!frame) return;
    const tiles = tilesOf(frame);
    if (sliding && this.moves === before + 1) {
      this.board.play({ before: this.board.tiles, slide: frame.slide, after: frame.after, tiles });
    } else {
      this.board.set(tiles);
    }
    this.#tell(frame.score, Math.max(...[...tiles].map((tile) => this.board.face(tile))));
    if (this.queue.length < AHEAD && !this.state.position.over) this.#ask(each).catch(() => undefined);
  }

  #tell(score, largest) {
    this.shown = score;
    this.score.textContent = whole(score);
    const over = this.over ? ` · ${t("versus.over")}` : "";
    this.facts.textContent = `${t("versus.facts", { n: whole(this.moves), tile: whole(largest) })}${over}`;
  }
}

/** Sends the events "start", "stop" and "over". */
export class BoardPair extends EventTarget {
  constructor(app) {
    super();
    this.app = app;
    this.sides = ["a", "b"].map((letter) => new Side(app, letter));
    this.element = h("div", { class: "versus-boards" }, this.sides.map((side) => side.element));
    Object.assign(this, { running: false, speed: 8, turn: 0, moves: 0, stepping: Promise.resolve() });
  }

  /** Sets up the game of a seed; `players` are two of {model, name, depth}. */
  async begin(ref, seed, players) {
    this.pause();
    const turn = (this.turn += 1);
    const first = await persist(() => this.app.api.post("/api/new", { ...ref, seed }));
    if (turn !== this.turn) return;
    this.moves = 0;
    this.sides.forEach((side, at) => side.begin(first, players[at]));
  }

  get over() {
    return this.sides.every((side) => side.over);
  }

  play() {
    if (this.running || !this.sides[0].state || this.over) return;
    this.running = true;
    this.turn += 1;
    this.dispatchEvent(new Event("start"));
    this.#run(this.turn);
  }

  pause() {
    if (!this.running) return;
    this.running = false;
    this.turn += 1;
    this.dispatchEvent(new Event("stop"));
  }

  /** One move of each, after those that were asked for before. */
  step() {
    this.pause();
    const { turn } = this;
    this.stepping = this.stepping.catch(() => undefined).then(() => this.#advance(turn, 1));
    return this.stepping;
  }

  async #run(turn) {
    let due = performance.now();
    try {
      while (turn === this.turn && !this.over) {
        const moves = Math.max(1, Math.round(this.speed / SCREEN_HZ));
        await this.#advance(turn, moves);
        due = Math.max(due + (1000 * moves) / this.speed, performance.now() - 100);
        const wait = due - performance.now();
        await new Promise((resolve) => (wait > 20 ? setTimeout(resolve, wait) : requestAnimationFrame(resolve)));
      }
    } catch (problem) {
      if (turn === this.turn) this.app.toast(problem.message, "error");
    }
    if (turn !== this.turn) return;
    this.pause();
    if (this.over) this.dispatchEvent(new Event("over"));
  }

  /** Both boards make the same number of moves. */
  async #advance(turn, moves) {
    await Promise.all(this.sides.map((side) => side.ready(moves)));
    if (turn !== this.turn) return;
    this.moves += moves;
    for (const side of this.sides) side.show(this.moves, moves, this.speed <= SLIDING_UP_TO);
  }
}
