// The Training view: live runs, their curves, and a form to start one.

import { whenBack } from "./api.js";
import { h } from "./dom.js";
import { fitRef, gameName } from "./games.js";
import { t } from "./texts.js";
import { CareDialog } from "./training-care.js";
import { RunCharts } from "./training-charts.js";
import { startForm } from "./training-form.js";
import { further, runRow } from "./training-rows.js";

const RUNS_MS = 2000, RECORDS_MS = 1000, MOST_SHOWN = 6;
const FIRST_RUN = { time: "30s", method: "tc", lambda: 0.5 };
const chosen = new Set();

/** Shows the view in `root`; returns a function that removes it. */
export function mount(root, app) {
  const view = new Training(root, app);
  return () => view.close();
}

class Training {
  constructor(root, app) {
    this.app = app;
    this.open = true;
    this.runs = null;
    this.rows = new Map();
    this.records = new Map();
    this.#chooseLinked();
    this.#build(root);
    this.#repeat(RUNS_MS, () => this.#loadRuns());
    this.#repeat(RECORDS_MS, () => this.#loadRecords());
  }

  close() {
    this.open = false;
    this.charts.destroy();
  }

  /** A link such as #training/<id> shows that run, and no other. */
  #chooseLinked() {
    const linked = this.app.route.rest;
    if (!linked) return;
    chosen.clear();
    chosen.add(linked);
  }

  #build(root) {
    this.form = startForm(this.app, (body) => this.#start(body));
    this.list = h("ul", { class: "train-list", "aria-label": t("train.runs") });
    this.note = h("p", { class: "muted train-note", role: "status", hidden: true });
    this.first = this.#emptyState();
    this.charts = new RunCharts(this.app);
    this.care = new CareDialog((run, what, body) => this.#change(run, what, body));
    this.runsCard = h("section", { class: "stack tight train-runs" }, h("h2", { class: "visually-hidden" }, t("train.runs")),
      this.list);
    const toForm = h("button", { class: "button", type: "button", onclick: () => this.form.focus() }, t("train.start"));
    root.append(this.care.element);
    const parts = [this.first, this.runsCard, this.charts.element, this.form.element];
    this.layout = h("div", { class: "train-layout" }, parts);
    root.append(h("div", { class: "row train-top" }, h("h1", {}, t("view.training")), this.note, toForm), this.layout);
    this.#showLayout();
  }

  #emptyState() {
    const ref = fitRef(this.app, null);
    const words = t("train.firstai", { name: gameName(this.app, ref) });
    const error = h("p", { class: "error", role: "alert" });
    const button = h("button", { class: "button primary", type: "button", data: { testid: "train-first" } },
      t("train.onenow"));
    button.addEventListener("click", async () => {
      button.disabled = true;
      error.textContent = "";
      await this.#start({ ...ref, ...FIRST_RUN }).catch((problem) => { error.textContent = problem.message; });
      button.disabled = false;
    });
    return h("div", { class: "empty train-empty" }, h("h2", {}, t("train.noruns")),
      h("p", {}, words), button, error);
  }

  /** Calls `work` again and again; waits while the server is not reachable. */
  async #repeat(pause, work) {
    while (this.open) {
      try {
        if (!document.hidden) await work();
        this.note.hidden = true;
      } catch (problem) {
        await this.#waitOut(problem);
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #waitOut(problem) {
    if (!this.open) return;
    this.note.textContent = problem.status === 0 ? t("train.waiting") : problem.message;
    this.note.hidden = false;
    if (problem.status === 0) await whenBack();
  }

  async #loadRuns() {
    const { runs, recipes } = await this.app.api.get("/api/runs");
    if (!this.open) return;
    const before = this.runs ?? [];
    this.runs = runs;
    this.form.recipes(recipes);
    this.#keepChosen();
    this.#showLayout();
    this.#showRows();
    await this.#noticeModels(before);
  }

  /** Tells the other views about new models, and announces runs that are done. */
  async #noticeModels(before) {
    const known = new Map(before.map((run) => [run.id, run]));
    const fresh = this.runs.filter((run) => {
      const was = known.get(run.id);
      return was && (was.model !== run.model || was.status !== run.status);
    });
    if (!fresh.length) return;
    for (const run of fresh) if (run.status === "done") this.app.announce(t("train.isdone", { name: run.name }));
    await this.app.refreshModels();
  }

  #keepChosen() {
    const ids = new Set(this.runs.map((run) => run.id));
    for (const id of chosen) if (!ids.has(id)) chosen.delete(id);
    if (!chosen.size && this.runs.length && !this.cleared) {
      chosen.add((this.runs.find((run) => run.status === "running") ?? this.runs[0]).id);
    }
  }

  #showLayout() {
    // So that nothing jumps, what depends on the runs appears with them.
    this.layout.classList.toggle("train-waiting", this.runs === null);
    const none = this.runs !== null && !this.runs.length;
    this.first.hidden = !none;
    this.runsCard.hidden = none;
    this.charts.element.hidden = none;
  }

  #showRows() {
    const actions = {
      select: (run, on) => this.#choose(run, on), stop: (run) => this.#tell(run, "stop", {}),
      resume: (run) => this.#tell(run, "resume", further(run).body), watch: (run) => this.#watch(run),
      rename: (run) => this.care.rename(run), remove: (run) => this.care.remove(run),
    };
    const order = this.runs.map((run) => {
      if (!this.rows.has(run.id)) this.rows.set(run.id, runRow(actions));
      return this.rows.get(run.id).element;
    });
    const same = order.length === this.list.children.length && order.every((row, at) => row === this.list.children[at]);
    if (!same) this.list.replaceChildren(...order);
    this.#paintRows();
  }

  #paintRows() {
    const colors = [...this.#shownRuns()].map((run) => run.id);
    for (const run of this.runs) {
      const name = gameName(this.app, { game: run.game, rules: run.rules });
      this.rows.get(run.id).update(run, { chosen: chosen.has(run.id), color: colors.indexOf(run.id) + 1, name });
    }
  }

  #shownRuns() {
    return (this.runs ?? []).filter((run) => chosen.has(run.id)).slice(0, MOST_SHOWN);
  }

  #choose(run, on) {
    if (on && chosen.size >= MOST_SHOWN) this.app.toast(t("train.atmost", { n: MOST_SHOWN }));
    else if (on) chosen.add(run.id);
    else chosen.delete(run.id);
    this.cleared = !chosen.size;
    this.#paintRows();
    this.#draw();
    this.#loadRecords().catch(() => undefined);
  }

  async #loadRecords() {
    await Promise.all(this.#shownRuns().map((run) => this.#loadRecordsOf(run.id)));
    if (this.open) this.#draw();
  }

  async #loadRecordsOf(id) {
    const had = this.records.get(id) ?? { next: 0, list: [] };
    const answer = await this.app.api.get(`/api/runs/${encodeURIComponent(id)}?after=${had.next}`);
    if (this.records.has(id) && this.records.get(id) !== had) return;
    const rewound = answer.next < had.next;
    const list = [...had.list, ...answer.records];
    this.records.set(id, rewound ? { next: 0, list: [] } : { next: answer.next, list });
  }

  #draw() {
    const shown = this.#shownRuns().map((run, at) =>
      ({ run, records: this.records.get(run.id)?.list ?? [], color: at + 1 }));
    const key = JSON.stringify(shown.map(({ run, records }) => [run.id, run.name, records.length]));
    if (key === this.drawn) return;
    this.drawn = key;
    this.charts.draw(shown);
  }

  async #start(body) {
    const run = await this.app.api.post("/api/runs", body);
    chosen.clear();
    chosen.add(run.id);
    this.app.announce(t("train.started", { name: run.name }));
    await this.#loadRuns();
    await this.#loadRecords();
  }

  async #tell(run, what, body) {
    try {
      await this.app.api.post(`/api/runs/${encodeURIComponent(run.id)}/${what}`, body);
      await this.#loadRuns();
    } catch (problem) {
      this.app.toast(problem.message, "error");
    }
  }

  /** Renames or deletes a run; throws the server's refusal. */
  async #change(run, what, body) {
    const answer = await this.app.api.post(`/api/runs/${encodeURIComponent(run.id)}/${what}`, body);
    this.records.delete(run.id);
    if (chosen.delete(run.id) && what === "rename") chosen.add(answer.id);
    this.app.announce(t(what === "rename" ? "train.isnow" : "train.deleted", { name: run.name, now: answer.name }));
    await this.#loadRuns();
    await this.#loadRecords();
    await this.app.refreshModels();
  }

  async #watch(run) {
    try {
      await this.app.refreshModels();
    } catch (problem) {
      return this.app.toast(problem.message, "error");
    }
    this.app.chooseModel(run.model);
    this.app.go(`play/${run.model}`);
  }
}
