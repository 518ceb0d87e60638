// The list of moves with all four values of each position, and the mistakes, ranked. Only rows in sight are drawn.

import { ARROWS, SLIDES, h, segmented } from "./dom.js";
import { fourOf, rankedOf } from "./coach-words.js";
import { full, percent } from "./scale.js";
import { t, way } from "./texts.js";

const ROW = 36;
const HIGH = 10; // rows in sight
const AROUND = 6; // rows drawn above and below

/** The list: {element, go(ply)}; `pick(ply)` is called when a row is chosen. */
export function moveList(answer, mover, pick) {
  const list = new MoveList(answer, mover, pick);
  return { element: list.element, go: (ply) => list.go(ply) };
}

class MoveList {
  constructor(answer, mover, pick) {
    Object.assign(this, { answer, mover, pick, ply: 0 });
    this.all = Array.from({ length: answer.plies }, (_, ply) => ply);
    this.ranked = rankedOf(answer);
    this.rows = this.all;
    this.body = h("tbody");
    const region = { class: "moves-scroll", tabindex: 0, role: "region", "aria-label": t("coach.moves") };
    this.scroller = h("div", region, this.#table());
    this.scroller.addEventListener("scroll", () => this.#draw());
    this.scroller.style.setProperty("--high", `${ROW * (HIGH + 1)}px`);
    const words = [["all", t("coach.all")], ["mistakes", t("coach.mistakes", { n: full(this.ranked.length) })]];
    const choice = segmented(t("coach.list"), words, "all", (value) => this.#list(value));
    this.note = h("p", { class: "muted little" });
    const head = h("div", { class: "row apart" }, h("h2", {}, t("coach.moves")), choice);
    const props = { class: "card stack tight coach-moves", data: { testid: "coach-moves" } };
    this.element = h("section", props, head, this.note, this.scroller);
    this.#list("all");
  }

  #table() {
    const names = [t("word.move"), t("coach.who"), ...SLIDES.map((slide) => ARROWS[slide]), t("word.loss")];
    const labels = Object.fromEntries(SLIDES.map((slide) => [ARROWS[slide], way(slide)]));
    const cells = names.map((name) => h("th", { scope: "col", "aria-label": labels[name] }, name));
    this.table = h("table", { class: "moves-table num" }, h("thead", {}, h("tr", {}, cells)), this.body);
    return this.table;
  }

  #list(kind) {
    const ranked = kind === "mistakes";
    this.rows = ranked ? this.ranked : this.all;
    this.note.textContent = ranked ? t("coach.ranked")
      : t("coach.four");
    this.table.setAttribute("aria-rowcount", this.rows.length + 1);
    this.drawn = null;
    this.scroller.scrollTop = 0;
    this.#draw();
    this.#show();
  }

  /** Marks the row of a ply and brings it into sight. */
  go(ply) {
    this.ply = ply;
    this.#show();
  }

  #show() {
    const at = this.rows.indexOf(this.ply);
    const top = at * ROW, seen = this.scroller.scrollTop;
    if (at >= 0 && (top < seen || top > seen + ROW * (HIGH - 1))) this.scroller.scrollTop = top - (ROW * HIGH) / 2;
    this.drawn = null;
    this.#draw();
  }

  #draw() {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - AROUND);
    const last = Math.min(this.rows.length, first + HIGH + 2 * AROUND);
    const key = `${first} ${last}`;
    if (key === this.drawn) return;
    this.drawn = key;
    const focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.ply : null;
    const space = (count) => h("tr", { class: "moves-space", "aria-hidden": "true" }, spaced(count));
    const rows = this.rows.slice(first, last).map((ply, at) => this.#row(ply, first + at));
    this.body.replaceChildren(space(first), ...rows, space(this.rows.length - last));
    if (focused) this.body.querySelector(`[data-ply="${focused}"]`)?.focus({ preventScroll: true });
  }

  #row(ply, at) {
    const { regrets, shares, choices } = this.answer;
    const four = fourOf(this.answer, ply).map(({ value, made, best }) => {
      const shown = value === null ? "–" : full(value);
      return h("td", { class: `${best ? "best" : ""} ${made ? "made" : ""}`.trim() }, h("span", {}, shown));
    });
    const jump = h("button", { class: "moves-jump", type: "button", data: { ply } }, full(ply + 1));
    jump.setAttribute("aria-label", t("coach.goto", { n: full(ply + 1) }));
    const lost = choices[ply] > 1 && regrets[ply] >= 0.5;
    const loss = lost ? [full(regrets[ply]), h("span", { class: "moves-share" }, ` ${percent(shares[ply])}`)] : "";
    const here = ply === this.ply;
    const props = { class: here ? "here" : "", "aria-rowindex": at + 2, "aria-current": here ? "true" : null };
    const row = h("tr", props, h("th", { scope: "row" }, jump), h("td", {}, this.mover(ply)), four, h("td", {}, loss));
    row.addEventListener("click", () => this.pick(ply));
    return row;
  }
}

function spaced(count) {
  const cell = h("td", { colspan: 7 });
  cell.style.height = `${count * ROW}px`;
  return cell;
}
