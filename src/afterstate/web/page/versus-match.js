// Many games of two models: a job of the server, its progress, and the table of what it found.

import { persist } from "./api.js";
import { button, h, selectField, whole } from "./dom.js";
import { percent, signed } from "./scale.js";

const POLL_MS = 400;
const COUNTS = [20, 100, 300, 1000];
const SEEDS = "Game number n has the same seed for both. That hardly sharpens the comparison: after the first "
  + "different move, the two games have little in common";
let last = null; // the match that this page has started; it goes on while another view is shown

export class MatchCard {
  constructor(app) {
    this.app = app;
    this.closed = false;
    this.count = 100;
    const counts = COUNTS.map((count) => [String(count), `${whole(count)} games each`]);
    const games = selectField("Games", counts, "100", (value) => { this.count = Number(value); },
      { data: { testid: "versus-games" } });
    this.start = button("Compare", () => this.begin(), { kind: "primary", testid: "versus-start" });
    this.stop = button("Stop", () => this.cancel(), { testid: "versus-stop" });
    this.stop.hidden = true;
    this.error = h("p", { class: "error", role: "alert" });
    this.result = h("div", { class: "stack tight", "aria-live": "polite" });
    const props = { class: "card stack versus-match", "aria-label": "Many games" };
    this.element = h("section", props, h("h2", {}, "Many games"),
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
      return this.result.replaceChildren(h("p", {}, "It was stopped before both had finished a game."));
    }
    return this.result.replaceChildren(verdict(match), table(match), note(match));
  }

  close() {
    this.closed = true;
  }
}

function progress(match) {
  const words = match.status === "stopping" ? "Stopping: the games under way are finished first."
    : "Playing. You can do something else meanwhile.";
  const rows = match.sides.map((side, at) => {
    const bar = h("progress", { max: match.games, "aria-label": `Games of ${"AB"[at]}` });
    bar.value = side.played;
    const told = h("span", { class: "num" }, `${whole(side.played)} of ${whole(match.games)}`);
    return h("div", { class: "versus-progress" }, h("span", {}, "AB"[at]), bar, told);
  });
  const note = h("p", { class: "muted little" }, words);
  return h("div", { class: "stack tight", data: { testid: "versus-progress" } }, rows, note);
}

function verdict(match) {
  const { mean, interval, games } = match.difference;
  const clear = interval !== null && Math.abs(mean) > interval;
  const more = `${mean >= 0 ? "A" : "B"} scores ${whole(Math.abs(mean))} more on average`;
  const range = interval === null ? ""
    : `, 95% interval of A − B: ${signed(mean - interval)} to ${signed(mean + interval)}`;
  const words = clear ? `${more}${range}.` : `No clear difference over ${whole(games)} games: ${more}${range}.`;
  return h("p", { class: "versus-verdict num", data: { testid: "versus-verdict", clear } }, words);
}

function table(match) {
  const [a, b] = match.sides;
  const { mean, interval, ahead } = match.difference;
  const spread = (value, half) => `${whole(value)}${half === null ? "" : ` ± ${whole(half)}`}`;
  const rate = ({ win_rate: share, win_interval: [low, high] }) =>
    `${percent(share)} (${percent(low)} to ${percent(high)})`;
  const gap = interval === null ? signed(mean) : `${signed(mean)} ± ${whole(interval)}`;
  const rows = [
    ["Mean score", spread(a.mean, a.interval), spread(b.mean, b.interval), gap],
    ["Median", whole(a.median), whole(b.median), signed(a.median - b.median)],
    ["Highest", whole(a.maximum), whole(b.maximum), ""],
    [`Reach ${a.win_tile}`, rate(a), rate(b), ""],
    ["Scores more", percent(ahead), percent(1 - ahead), ""],
  ];
  const head = ["", sideName("A", a), sideName("B", b), "A − B"].map((text) => h("th", { scope: "col" }, text));
  const body = rows.map(([name, ...cells]) =>
    h("tr", {}, h("th", { scope: "row" }, name), cells.map((cell) => h("td", { class: "num" }, cell))));
  const inside = h("table", { class: "versus-table", data: { testid: "versus-table" } },
    h("thead", {}, h("tr", {}, head)), h("tbody", {}, body));
  const props = { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "How the two models compare" };
  return h("div", props, inside);
}

function sideName(letter, side) {
  return `${letter}: ${side.name}, depth ${side.depth}`;
}

function note(match) {
  const { games, correlation } = match.difference;
  const measured = correlation === null ? ""
    : ` (correlation of the scores here: ${correlation.toFixed(2).replace("-", "−")})`;
  const words = `${whole(games)} games each, seed ${match.seed}. ± is half of a 95% interval; `
    + "that of the difference is by Student's t, game by game.";
  return h("p", { class: "muted little" }, `${words} ${SEEDS}${measured}.`);
}
