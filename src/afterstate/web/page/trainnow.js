// There is no model for this game yet: train one in half a minute, and watch it learn.

import { persist } from "./api.js";
import { brief, button, h, whole } from "./dom.js";

const POLL_MS = 500;
const TIME = "30s";
const COMPILING = "Compiling the kernels for this game. The first time takes a while.";
const OVER = ["done", "stopped", "failed"];
const UNDER_WAY = ["starting", "running"];

function sameGame(one, other) {
  return one.game === other.game && one.rules === other.rules && one.size === other.size;
}

function doingText(run) {
  if (run.doing === "compiling" || run.status === "starting") return COMPILING;
  const parts = [`${whole(run.games)} games`];
  if (run.moves_per_s) parts.push(`${brief(run.moves_per_s)} moves/s`);
  if (run.mean) parts.push(`best mean ${whole(run.mean)}`);
  return `${run.doing === "evaluating" ? "Measuring" : "Training"}: ${parts.join(", ")}.`;
}

export class TrainCard {
  /** `onwatch` and `onhints` are offered when the new AI is ready. */
  constructor(app, { onwatch, onhints }) {
    Object.assign(this, { app, onwatch, onhints });
    this.closed = false;
    this.ref = null;
    this.run = null;
    this.element = h("section", { class: "card stack train-card", "aria-label": "Train an AI" });
  }

  /** Offers to train an AI for this game, unless one is being trained. */
  show(ref) {
    if (this.busy) return;
    this.ref = ref;
    const kind = { kind: "primary", testid: "train-now" };
    const begin = button("Train one now, 30 seconds", () => this.start(begin), kind);
    const words = "It learns by playing games on this computer. Then it plays and gives hints here.";
    this.element.replaceChildren(h("h2", {}, "No AI for this game yet"), h("p", { class: "muted" }, words), begin);
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
    this.bar = h("progress", { max: "1", "aria-label": "Training" });
    this.text = h("p", { class: "num" }, "Starting.");
    const box = h("div", { class: "stack tight", data: { testid: "train-progress" } }, this.bar, this.text);
    const here = { href: `#training/${this.run.id}`, data: { testid: "train-curves" } };
    const link = h("a", here, "See its curves in Training");
    this.element.replaceChildren(h("h2", {}, "An AI is learning"), box, h("p", { class: "little" }, link));
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
    if (run.status === "failed" || !run.model) return this.fail(run.why ?? "The training ended without a model.");
    this.ready = run.model;
    await persist(() => this.app.refreshModels());
    this.app.chooseModel(run.model);
    this.app.announce("The new AI is ready.");
    return undefined;
  }

  /** Offers, once, what to do with the new AI. */
  offer(ref) {
    if (!this.ready || !sameGame(this.run, ref)) return null;
    this.ready = null;
    const score = this.run.mean ? ` In its best block it scored ${whole(this.run.mean)} on average.` : "";
    const words = h("p", {}, `Your AI is ready.${score}`);
    const buttons = [button("Watch it", this.onwatch, { kind: "primary" }), button("Ask it for hints", this.onhints)];
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
