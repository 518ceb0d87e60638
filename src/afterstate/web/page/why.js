// Why this value: each cell's share on the board, and each pattern's share.

import { Board, shapeOf } from "./board.js";
import { ARROWS, brief, h, svg } from "./dom.js";
import { valueText } from "./hints.js";
import { t, way } from "./texts.js";

const CYCLE_MS = 650;
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

/** A small drawing of the cells that a pattern covers. */
export function cellsDrawing(cells, rows, columns) {
  const boxes = Array.from({ length: rows * columns }, (_, cell) => {
    const place = { x: (cell % columns) * 10 + 1, y: Math.floor(cell / columns) * 10 + 1 };
    return svg("rect", { ...place, width: 8, height: 8, rx: 1.5, class: cells.includes(cell) ? "in" : "out" });
  });
  const viewBox = `0 0 ${columns * 10} ${rows * 10}`;
  return svg("svg", { class: "cells-drawing", viewBox, "aria-hidden": "true" }, ...boxes);
}

function legend() {
  const scale = h("span", { class: "heat-scale", "aria-hidden": "true" });
  return h("p", { class: "heat-legend little muted" }, h("span", {}, t("look.lowers")), scale, h("span", {}, t("look.raises")));
}

export class Why {
  constructor({ game, size, faces }) {
    Object.assign(this, shapeOf(size));
    this.board = new Board({ rows: this.rows, columns: this.columns, faces, game });
    this.board.element.dataset.testid = "analyse-heat";
    this.timer = 0;
    this.words = h("p", { class: "muted little why-words" });
    this.list = h("div", { class: "patterns", data: { testid: "analyse-patterns" } });
    const picture = h("div", { class: "why-board" }, this.board.element, legend());
    const patterns = h("div", { class: "stack tight why-patterns" }, h("h3", {}, t("look.shares")), this.list);
    this.element = h("div", { class: "why" }, picture, patterns);
  }

  /** Shows an answer of /api/explain. */
  show(answer) {
    this.rest();
    this.board.set(answer.tiles);
    this.board.heat(answer.cells);
    this.board.describe(t("look.cellshares", { shares: answer.cells.map(brief).join(", ") }));
    const slide = answer.slide && `${ARROWS[answer.slide]} ${way(answer.slide)}`;
    const words = answer.of === "afterstate" ? "look.afterworth" : "look.boardworth";
    this.words.textContent = t(words, { slide, value: valueText(answer.value) });
    const most = Math.max(...answer.patterns.map((one) => Math.abs(one.value)), 1e-9);
    const ordered = [...answer.patterns].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    this.list.replaceChildren(...ordered.map((pattern) => this.pattern(pattern, most)));
  }

  pattern({ pattern, value, isomorphs }, most) {
    const fill = h("span", { class: "share-fill", data: { sign: value < 0 ? "minus" : "plus" } });
    fill.style.setProperty("--length", Math.abs(value) / most);
    const bar = h("span", { class: "share-bar", "aria-hidden": "true" }, fill);
    const name = h("span", { class: "mono pattern-name" }, pattern);
    const number = h("span", { class: "num pattern-value" }, valueText(value));
    const summary = h("summary", {}, this.drawing(isomorphs[0]?.cells ?? []), name, bar, number);
    this.pointing(summary, () => this.cycle(isomorphs));
    return h("details", { class: "pattern" }, summary, this.isomorphs(isomorphs));
  }

  drawing(cells) {
    return cellsDrawing(cells, this.rows, this.columns);
  }

  isomorphs(isomorphs) {
    const chips = isomorphs.map(({ cells, weight }) => {
      const words = t("look.cellsof", { cells: cells.map((cell) => cell + 1).join(", "), weight: valueText(weight) });
      const props = { class: "isomorph num", type: "button", "aria-label": words };
      const chip = h("button", props, this.drawing(cells), brief(weight));
      this.pointing(chip, () => this.board.mark(cells));
      return chip;
    });
    return h("div", { class: "isomorphs" }, chips);
  }

  pointing(element, begin) {
    for (const type of ["pointerenter", "focus"]) {
      element.addEventListener(type, () => {
        this.rest();
        begin();
      });
    }
    for (const type of ["pointerleave", "blur"]) element.addEventListener(type, () => this.rest());
  }

  // A pattern is looked up once for each way to turn and mirror the board; show them in turn.
  cycle(isomorphs) {
    let at = 0;
    const mark = () => {
      this.board.mark(isomorphs[at % isomorphs.length]?.cells ?? []);
      at += 1;
    };
    mark();
    if (!calm.matches) this.timer = setInterval(mark, CYCLE_MS);
  }

  rest() {
    clearInterval(this.timer);
    this.board.mark(null);
  }
}
