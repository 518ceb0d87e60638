// A slide on the analysis board, and the choice of the new tile that follows.

import { button, h, segmented } from "./dom.js";
import { t } from "./texts.js";

/** Draws one of the outcomes by their probabilities; `share` is a random number from 0 to 1. */
export function drawOutcome(outcomes, share) {
  let rest = share;
  for (const outcome of outcomes) {
    rest -= outcome.probability;
    if (rest < 0) return outcome;
  }
  return outcomes.at(-1);
}

function distinct(values) {
  return [...new Set(values)];
}

/** A choice among outcomes of /api/try: which tile, which next tile, and then a cell of the board. */
export class Tryout {
  /** `onchange()` is called when other cells are on offer, `ondraw()` and `oncancel()` by the buttons. */
  constructor({ outcomes, faceOf, onchange, ondraw, oncancel }) {
    Object.assign(this, { outcomes, faceOf, onchange });
    this.tile = this.tiles[0];
    this.next = this.nexts[0];
    this.slot = h("div", { class: "row" });
    const words = h("p", {}, h("strong", {}, t("look.where")), t("look.choosecell"));
    const buttons = h("div", { class: "row" }, button(t("look.drawit"), ondraw), button(t("word.cancel"), oncancel));
    this.element = h("div", { class: "stack tight tryout", role: "status", data: { testid: "tryout" } }, words, this.slot, buttons);
    this.draw();
  }

  tileOf({ cells, position }) {
    return position.tiles[cells[0]];
  }

  get tiles() {
    return distinct(this.outcomes.map((one) => this.tileOf(one))).sort();
  }

  get nexts() {
    return distinct(this.outcomes.filter((one) => this.tileOf(one) === this.tile).map((one) => one.position.next));
  }

  get fitting() {
    return this.outcomes.filter((one) => this.tileOf(one) === this.tile && one.position.next === this.next);
  }

  /** The cells in which the chosen tile may appear. */
  get cells() {
    return distinct(this.fitting.map((one) => one.cells[0]));
  }

  /** The outcome with the chosen tile in a cell. */
  at(cell) {
    return this.fitting.find((one) => one.cells[0] === cell);
  }

  draw() {
    const tiles = this.tiles.map((tile) => [tile, String(this.faceOf(tile))]);
    const nexts = this.nexts.map((next) => [next, String(next)]);
    const parts = [];
    const add = (label, ...rest) => parts.push(h("span", { class: "legend" }, label), segmented(label, ...rest));
    if (tiles.length > 1) add(t("look.newtile"), tiles, this.tile, (tile) => this.choose({ tile }));
    if (nexts.length > 1) add(t("look.thennext"), nexts, this.next, (next) => this.choose({ next }));
    this.slot.replaceChildren(...parts);
  }

  choose(change) {
    Object.assign(this, change);
    if (!this.nexts.includes(this.next)) [this.next] = this.nexts;
    if (change.tile) {
      this.draw();
      this.slot.querySelector("input:checked")?.focus();
    }
    this.onchange();
  }
}
