// Replay of a game from a link: play, step, go to any move, continue from there.

import { NAMES, button, h, icon, whole } from "./dom.js";
import { spreadMarks } from "./marks.js";
import { setting } from "./store.js";
import { speedOf } from "./pace.js";
import { t } from "./texts.js";

const FASTEST = 20;

export class ReplayBar {
  /** `game` is the whole game; `onclose` is called when the player continues from here. */
  constructor(app, session, game, onclose) {
    Object.assign(this, { app, session, game, onclose });
    this.moving = false;
    this.playing = false;
    this.wanted = null;
    this.timer = 0;
    this.build();
    this.refresh();
  }

  build() {
    this.toggle = button("", () => (this.playing ? this.pause() : this.play()), { kind: "primary" });
    const last = String(this.game.moves.length);
    this.slider = h("input", { type: "range", min: "0", max: last, step: "1", "aria-label": t("word.move") });
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value)));
    this.count = h("span", { class: "num little muted" });
    const go = button(t("play.continue"), () => this.onclose());
    const back = button(icon("back"), () => this.seek(this.at - 1), { label: t("play.back") });
    const step = button(icon("step"), () => this.step(), { label: t("play.on") });
    const head = h("div", { class: "row apart" }, h("h2", {}, t("play.replay")), this.count);
    const buttons = h("div", { class: "row" }, back, this.toggle, step, go);
    const props = { class: "card replay-bar", "aria-label": t("play.replay"), data: { testid: "replay-bar" } };
    this.element = h("section", props, head, this.slider, buttons);
  }

  get at() {
    return this.session.state.moves.length;
  }

  refresh() {
    const total = this.game.moves.length;
    if (this.wanted === null) this.slider.value = this.at;
    this.count.textContent = t("word.moveof", { n: whole(this.at), all: whole(total) });
    this.slider.setAttribute("aria-valuetext", this.count.textContent);
    this.toggle.replaceChildren(icon(this.playing ? "pause" : "play"), this.playing ? t("word.pause2") : t("word.play"));
  }

  /** Goes to a move; while an answer is pending, only the last request counts. */
  async seek(at) {
    this.pause();
    this.wanted = Math.max(0, Math.min(at, this.game.moves.length));
    if (this.moving) return;
    this.moving = true;
    while (this.wanted !== null) {
      const goal = this.wanted;
      await this.show(goal);
      if (this.wanted === goal) this.wanted = null;
    }
    this.moving = false;
    this.refresh();
  }

  async show(count) {
    try {
      const { begun } = this.session.state;
      await this.session.replay({ ...this.game, begun, moves: this.game.moves.slice(0, count) });
    } catch (error) {
      this.app.toast(error.message, "error");
    }
  }

  /** One move forward, animated. */
  async step() {
    if (this.moving || this.at >= this.game.moves.length) return;
    this.moving = true;
    try {
      const { moves, marks } = this.game;
      await this.session.makeSlide(NAMES[moves[this.at]], spreadMarks(marks, moves.length)[this.at]);
    } catch (error) {
      this.pause();
      this.app.toast(error.message, "error");
    }
    this.moving = false;
    this.refresh();
  }

  async play() {
    this.playing = true;
    if (this.at >= this.game.moves.length) await this.show(0);
    this.refresh();
    this.loop();
  }

  async loop() {
    if (!this.playing) return;
    const started = performance.now();
    await this.step();
    if (this.at >= this.game.moves.length) return this.pause();
    const wait = 1000 / Math.min(FASTEST, speedOf(setting("speed"))) - (performance.now() - started);
    this.timer = setTimeout(() => this.loop(), Math.max(0, wait));
    return undefined;
  }

  pause() {
    clearTimeout(this.timer);
    if (!this.playing) return;
    this.playing = false;
    this.refresh();
  }
}
