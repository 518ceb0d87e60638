// Many games of two models: a job of the server, its progress, and the table of what it found.

import { persist } from "./api.js";
import { button, h, selectField, whole } from "./dom.js";
import { percent, signed } from "./scale.js";
import { t } from "./texts.js";

const POLL_MS = 400;
const COUNTS = [20, 100, 300, 1000];
let last = null; // the match that this page has started; it goes on while another view is shown

export class MatchCard {
  constructor(app) {
    this.app = app;
    this.closed = false;
    this.count = 100;
    const counts = COUNTS.map((count) => [String(count), t("versus.each", { n: whole(count) })]);
    const games = selectField(t("word.games"), counts, "100", (value) => { this.count = Number(value); },
      { data: { testid: "versus-games" } });
    this.start = button(t("versus.compare"), () => this.begin(), { kind: "primary", testid: "versus-start" });
    this.stop = button(t("word.stopit"), () => this.cancel(), { testid: "versus-stop" });
    this.stop.hidden = true;
    this.error = h("p", { class: "error", role: "alert" });
    this.result = h("div", { class: "stack tight", "aria-live": "polite" });
    const props = { class: "card stack versus-match", "aria-label": t("versus.many") };
    this.element = h("section", props, h("h2", {}, t("versus.many")),
      h("div", { class: "row versus-start" }, games, this.start, this.stop), this.error, this.result);
    if (last) this.follow();
  }

  /** The two players that a comparison would be of. */
  offer(request) {
    this.request = request;
  }

  async begin() {
    this.start.disabled = true;
    this.error.textContent = "";
    try {
      const games = { ...this.request, games: this.count };
      last = await persist(() => this.app.api.post("/api/versus", games));
      await this.follow();
    } catch (problem) {
      this.error.textContent = problem.message;
    }
    this.start.disabled = false;
  }

  async cancel() {
    this.stop.disabled = true;
    try {
      last = await this.app.api.post(`/api/versus/${last.id}/stop`, {});
    } catch (problem) {
      this.app.toast(problem.message, "error");
    }
  }

  async follow() {
    this.stop.disabled = false;
    try {
      for (;;) {
        this.show(last);
        const alive = last.status === "running" || last.status === "stopping";
        this.start.disabled = alive;
        this.stop.hidden = !alive;
        if (!alive || this.closed) return;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        if (this.closed) return;
        last = await persist(() => this.app.api.get(`/api/versus/${last.id}`));
      }
    } catch (problem) {
      last = null;
      this.stop.hidden = true;
      this.start.disabled = false;
      this.result.replaceChildren();
      this.error.textContent = problem.message;
    }
  }

  show(match) {
    if (match.status === "running" || match.status === "stopping") return this.result.replaceChildren(progress(match));
    if (match.status === "failed") {
      this.error.textContent = match.why;
      return this.result.replaceChildren();
    }
    if (!match.difference) {
      return this.result.replaceChildren(h("p", {}, t("versus.nogame")));
    }
    return this.result.replaceChildren(verdict(match), table(match), note(match));
  }

  close() {
    this.closed = true;
  }
}

function progress(match) {
  const words = match.status === "stopping" ? t("versus.stopping")
    : t("versus.playing");
  const rows = match.sides.map((side, at) => {
    const bar = h("progress", { max: match.games, "aria-label": t("versus.gamesof", { name: "AB"[at] }) });
    bar.value = side.played;
    const told = h("span", { class: "num" }, t("train.timeof", { n: whole(side.played), all: whole(match.games) }));
    return h("div", { class: "versus-progress" }, h("span", {}, "AB"[at]), bar, told);
  });
  const note = h("p", { class: "muted little" }, words);
  return h("div", { class: "stack tight", data: { testid: "versus-progress" } }, rows, note);
}

function verdict(match) {
  const { mean, interval, games } = match.difference;
  const clear = interval !== null && Math.abs(mean) > interval;
  const range = interval === null ? ""
    : t("versus.range", { low: signed(mean - interval), high: signed(mean + interval) });
  const facts = { who: mean >= 0 ? "A" : "B", more: whole(Math.abs(mean)), range, n: whole(games) };
  const words = t(clear ? "versus.clear" : "versus.unclear", facts);
  return h("p", { class: "versus-verdict num", data: { testid: "versus-verdict", clear } }, words);
}

function table(match) {
  const [a, b] = match.sides;
  const { mean, interval, ahead } = match.difference;
  const spread = (value, half) => `${whole(value)}${half === null ? "" : ` ± ${whole(half)}`}`;
  const rate = ({ win_rate: share, win_interval: [low, high] }) =>
    t("versus.rate", { share: percent(share), low: percent(low), high: percent(high) });
  const gap = interval === null ? signed(mean) : `${signed(mean)} ± ${whole(interval)}`;
  const rows = [
    [t("games.mean"), spread(a.mean, a.interval), spread(b.mean, b.interval), gap],
    [t("versus.median"), whole(a.median), whole(b.median), signed(a.median - b.median)],
    [t("versus.highest"), whole(a.maximum), whole(b.maximum), ""],
    [t("word.reach", { tile: a.win_tile }), rate(a), rate(b), ""],
    [t("versus.ahead"), percent(ahead), percent(1 - ahead), ""],
  ];
  const head = ["", sideName("A", a), sideName("B", b), "A − B"].map((text) => h("th", { scope: "col" }, text));
  const body = rows.map(([name, ...cells]) =>
    h("tr", {}, h("th", { scope: "row" }, name), cells.map((cell) => h("td", { class: "num" }, cell))));
  const inside = h("table", { class: "versus-table", data: { testid: "versus-table" } },
    h("thead", {}, h("tr", {}, head)), h("tbody", {}, body));
  const props = { class: "table-scroll", tabindex: 0, role: "region", "aria-label": t("versus.how") };
  return h("div", props, inside);
}

function sideName(letter, side) {
  return t("versus.side", { letter, name: side.name, depth: side.depth });
}

function note(match) {
  const { games, correlation } = match.difference;
  const measured = correlation === null ? ""
    : t("versus.correlation", { value: correlation.toFixed(2).replace("-", "−") });
  const words = t("versus.note", { n: whole(games), seed: match.seed, measured });
  return h("p", { class: "muted little" }, words);
}
