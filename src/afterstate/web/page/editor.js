// An editor for a board: choose a cell, then a tile from the palette or with keys. Or: pick one of some cells.

import { Board, loneTile, shapeOf } from "./board.js";
import { h } from "./dom.js";
import { t } from "./texts.js";

const STEPS = { ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowDown: [1, 0], ArrowLeft: [0, -1] };
const TYPING_MS = 900;

export class Editor {
  /** `onedit(tiles)` is called when a cell has changed, `onpick(cell)` when one of the offered cells is picked. */
  constructor({ game, size, faces, onedit, onpick }) {
    Object.assign(this, { game, faces, onedit, onpick, ...shapeOf(size) });
    this.offered = null;
    this.chosen = 0;
    this.typed = { text: "", at: 0 };
    this.board = new Board({ rows: this.rows, columns: this.columns, faces, game });
    this.board.element.dataset.testid = "analyse-board";
    this.buttons = this.board.cells.map((_, cell) => this.cellButton(cell));
    const layer = h("div", { class: "cell-buttons", role: "group", "aria-label": t("look.cells") }, this.buttons);
    layer.style.setProperty("--columns", this.columns);
    layer.addEventListener("keydown", (event) => this.onkey(event));
    this.board.element.append(layer);
    this.board.grid.setAttribute("aria-hidden", "true"); // the buttons say what is where
    this.palette = this.makePalette();
    this.refresh();
  }

  get tiles() {
    return this.board.tiles;
  }

  /** Shows another board. */
  set(tiles) {
    this.offered = null;
    this.board.set(tiles, { animate: true });
    this.refresh();
  }

  /** Shows a slide: {before, slide, after, tiles}. */
  play(motion) {
    this.offered = null;
    this.board.play(motion);
    this.refresh();
  }

  /** Lets people pick one of these cells. */
  offer(cells) {
    this.offered = new Set(cells);
    this.refresh();
  }

  cellButton(cell) {
    const button = h("button", { type: "button", class: "cell-button" });
    button.addEventListener("click", () => (this.offered ? this.onpick(cell) : this.choose(cell)));
    button.addEventListener("focus", () => this.choose(cell));
    return button;
  }

  makePalette() {
    const tiles = this.faces.map((face, index) => {
      const words = index ? t("look.put", { face }) : t("look.empty");
      const props = { type: "button", class: "palette-tile", "aria-label": words, data: { face } };
      const button = h("button", props, loneTile(this.game, this.faces, index));
      button.addEventListener("click", () => this.put(index));
      return button;
    });
    return h("div", { class: "palette", role: "group", "aria-label": t("look.tiles"), data: { testid: "palette" } }, tiles);
  }

  choose(cell) {
    if (cell === this.chosen || this.offered) return;
    this.chosen = cell;
    this.typed.text = "";
    this.refresh();
  }

  put(index) {
    const { tiles, chosen } = this;
    this.board.set(tiles.slice(0, chosen) + index.toString(36) + tiles.slice(chosen + 1));
    this.refresh();
    if (this.tiles !== tiles) this.onedit(this.tiles);
  }

  refresh() {
    this.buttons.forEach((button, cell) => {
      const face = this.board.face(this.tiles[cell]);
      const where = t("board.place", { row: Math.floor(cell / this.columns) + 1, column: (cell % this.columns) + 1 });
      const isOffered = this.offered?.has(cell) ?? false;
      button.tabIndex = cell === this.chosen || isOffered ? 0 : -1;
      button.disabled = this.offered !== null && !isOffered;
      button.classList.toggle("offered", isOffered);
      button.setAttribute("aria-pressed", String(cell === this.chosen && !this.offered));
      button.setAttribute("aria-label", `${face || t("board.empty")}, ${where}`);
    });
    const here = parseInt(this.tiles[this.chosen], 36);
    [...this.palette.children].forEach((button, index) => button.setAttribute("aria-pressed", String(index === here)));
  }

  onkey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.offered) return;
    if (event.key === "Escape") event.target.blur();
    const handled = this.move(STEPS[event.key]) || this.change(event.key);
    if (handled) event.preventDefault();
  }

  move(step) {
    if (!step) return false;
    const row = Math.floor(this.chosen / this.columns) + step[0];
    const column = (this.chosen % this.columns) + step[1];
    const inside = row >= 0 && row < this.rows && column >= 0 && column < this.columns;
    if (inside) this.buttons[row * this.columns + column].focus();
    return true;
  }

  change(key) {
    const here = parseInt(this.tiles[this.chosen], 36);
    if (key === "+" || key === "=") this.put(Math.min(here + 1, this.faces.length - 1));
    else if (key === "-") this.put(Math.max(here - 1, 0));
    else if (key === "Backspace" || key === "Delete") this.put(0);
    else if (/^\d$/.test(key)) this.type(key);
    else return false;
    return true;
  }

  // Digits typed in a row make one face: 1, 2, 8 is 128.
  type(digit) {
    const now = performance.now();
    const text = now - this.typed.at < TYPING_MS ? this.typed.text + digit : digit;
    const begins = this.faces.some((face) => String(face).startsWith(text));
    this.typed = { text: begins ? text : digit, at: now };
    const index = this.faces.indexOf(Number(this.typed.text));
    if (index >= 0) this.put(index);
  }
}
