// There is no model for this game yet: train one in half a minute, and watch it learn.

import { persist } from "./api.js";
import { brief, button, h, whole } from "./dom.js";
import { t } from "./texts.js";

const POLL_MS = 500;
const TIME = "30s";
const OVER = ["done", "stopped", "failed"];
const UNDER_WAY = ["starting", "running"];

function sameGame(one, other) {
  return one.game === other.game && one.rules === other.rules && one.size === other.size;
}

function doingText(run) {
  if (run.doing === "compiling" || run.status === "starting") return t("train.compiling");
  const parts = [t("train.games", { n: whole(run.games) })];
  if (run.moves_per_s) parts.push(t("play.rate", { n: brief(run.moves_per_s) }));
  if (run.mean) parts.push(t("train.meanso", { mean: whole(run.mean) }));
  return t(run.doing === "evaluating" ? "train.measuring" : "train.nowtraining", { parts: parts.join(", ") });
}

export class TrainCard {
  /** `onwatch` and `onhints` are offered when the new AI is ready. */
  constructor(app, { onwatch, onhints }) {
    Object.assign(this, { app, onwatch, onhints });
    this.closed = false;
    this.ref = null;
    this.run = null;
    this.element = h("section", { class: "card stack train-card", "aria-label": t("train.anai") });
  }

  /** Offers to train an AI for this game, unless one is being trained. */
  show(ref) {
    if (this.busy) return;
    this.ref = ref;
    const kind = { kind: "primary", testid: "train-now" };
    const begin = button(t("train.now30"), () => this.start(begin), kind);
    const words = t("train.learns");
    this.element.replaceChildren(h("h2", {}, t("train.noai")), h("p", { class: "muted" }, words), begin);
    this.findRun();
  }

  // A run may have been started before this view was opened.
  async findRun() {
    const { ref } = this;
    try {
      const { runs } = await this.app.api.get("/api/runs");
      const under = runs.find((run) => UNDER_WAY.includes(run.status) && sameGame(run, ref));
      if (!under || this.closed || this.ref !== ref || this.busy) return;
      this.run = under;
      this.showProgress();
      await this.follow();
    } catch {
      // Without the list of runs, the button still works.
    }
  }

  get busy() {
    return this.run !== null && !OVER.includes(this.run.status);
  }

  async start(begin) {
    begin.disabled = true;
    try {
      this.run = await this.app.api.post("/api/runs", { ...this.ref, time: TIME, method: "tc", lambda: 0.5 });
    } catch (error) {
      begin.disabled = false;
      return this.app.toast(error.message, "error");
    }
    this.showProgress();
    return this.follow();
  }

  showProgress() {
    this.bar = h("progress", { max: "1", "aria-label": t("view.training") });
    this.text = h("p", { class: "num" }, t("train.starts"));
    const box = h("div", { class: "stack tight", data: { testid: "train-progress" } }, this.bar, this.text);
    const here = { href: `#training/${this.run.id}`, data: { testid: "train-curves" } };
    const link = h("a", here, t("train.curves"));
    this.element.replaceChildren(h("h2", {}, t("train.islearning")), box, h("p", { class: "little" }, link));
  }

  async follow() {
    try {
      while (!this.closed && !OVER.includes(this.run.status)) {
        const { run } = await persist(() => this.app.api.get(`/api/runs/${encodeURIComponent(this.run.id)}`));
        this.run = run;
        if (run.limit && run.seconds) this.bar.value = Math.min(1, run.seconds / run.limit);
        this.text.textContent = doingText(run);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      if (!this.closed) await this.finish();
    } catch (error) {
      this.fail(error.message);
    }
  }

  async finish() {
    const { run } = this;
    if (run.status === "failed" || !run.model) return this.fail(run.why ?? t("train.without"));
    this.ready = run.model;
    await persist(() => this.app.refreshModels());
    this.app.chooseModel(run.model);
    this.app.announce(t("train.newready"));
    return undefined;
  }

  /** Offers, once, what to do with the new AI. */
  offer(ref) {
    if (!this.ready || !sameGame(this.run, ref)) return null;
    this.ready = null;
    const { mean } = this.run;
    const words = h("p", {}, t(mean ? "train.readymean" : "train.ready", { mean: whole(mean ?? 0) }));
    const buttons = [button(t("train.watchit"), this.onwatch, { kind: "primary" }), button(t("train.hints"), this.onhints)];
    return h("div", { class: "banner", role: "status", data: { testid: "train-done" } }, words, buttons);
  }

  fail(why) {
    this.run = null;
    this.show(this.ref);
    this.element.append(h("p", { class: "error", role: "alert" }, why));
  }

  close() {
    this.closed = true;
  }
}
