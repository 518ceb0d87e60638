// A board: shows and slides tiles, and colours cells by their share of a value.

import { h, brief } from "./dom.js";
import { newCells, slideMoves } from "./motion.js";
import { t } from "./texts.js";

const SLIDE_MS = 110;
const POP_MS = 130;
const FADE_MS = 80;
const EASE = "cubic-bezier(0.25, 0.8, 0.4, 1)";
const APPEAR = [{ transform: "scale(0.3)", opacity: 0 }, { transform: "none" }];
const FADE = [{ opacity: 0.25 }, { opacity: 1 }];
const POP = [{ transform: "scale(0.9)" }, { transform: "scale(1.12)", offset: 0.45 }, { transform: "none" }];
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

/** What is written on a tile. Boards that no game reaches may hold larger tiles than a game has: they double on. */
export function faceOf(faces, index) {
  return faces[index] ?? faces.at(-1) * 2 ** (index - faces.length + 1);
}

/** A tile for use outside of a board. */
export function loneTile(game, faces, index) {
  return alone(game, index, faceOf(faces, index));
}

/** A mark for a kind of tile, such as "+" for any bonus tile. */
export function markTile(game, text) {
  return alone(game, "mark", text);
}

function alone(game, index, face) {
  const tile = h("span", { class: "tile" });
  dress(tile, index, face);
  return h("span", { class: "tile-alone", data: { game } }, tile);
}

function dress(tile, index, face) {
  const text = index === 0 ? "" : String(face);
  tile.dataset.tile = index;
  tile.dataset.digits = Math.min(text.length, 7);
  tile.textContent = text;
}

export class Board {
  constructor({ rows, columns, faces, game, size, small = false }) {
    Object.assign(this, { rows, columns, faces, game });
    this.running = [];
    this.ghosts = [];
    this.tiles = null;
    this.cells = Array.from({ length: rows * columns }, () => h("div", { class: "cell" }));
    this.faced = this.cells.map((cell) => cell.appendChild(h("div", { class: "tile" })));
    this.grid = h("div", { class: "board-cells", role: "img" }, this.cells);
    const classes = small || size === "small" ? "board small" : "board";
    this.element = h("div", { class: classes, data: { game } }, this.grid);
    this.element.style.setProperty("--columns", columns);
    this.element.style.setProperty("--rows", rows);
    if (typeof size === "number") this.element.style.setProperty("--board-size", `${size}px`);
    this.set("0".repeat(rows * columns));
  }

  /** What a screen reader says for the board. */
  get label() {
    const rows = [];
    for (let row = 0; row < this.rows; row += 1) {
      const line = [...this.tiles.slice(row * this.columns, (row + 1) * this.columns)];
      const cells = line.map((tile) => (tile === "0" ? t("board.empty") : this.face(tile))).join(", ");
      rows.push(t("board.row", { row: row + 1, cells }));
    }
    return t("board.board", { rows: rows.join("; ") });
  }

  face(tile) {
    return faceOf(this.faces, parseInt(tile, 36));
  }

  /** Shows `tiles` at once, or with a short fade of the cells that change. */
  set(tiles, { animate = false } = {}) {
    this.stop();
    const changed = animate && this.tiles ? newCells(this.tiles, tiles) : [];
    this.show(tiles);
    this.fade(changed);
  }

  show(tiles) {
    if (tiles === this.tiles) return;
    const largest = [...tiles].reduce((most, tile) => (tile > most ? tile : most), "0");
    for (let cell = 0; cell < this.cells.length; cell += 1) {
      const tile = this.faced[cell];
      const changed = !this.tiles || tiles[cell] !== this.tiles[cell];
      if (changed) dress(tile, parseInt(tiles[cell], 36), this.face(tiles[cell]));
      tile.classList.toggle("largest", tiles[cell] === largest && largest > "3");
    }
    this.tiles = tiles;
    this.element.dataset.tiles = tiles;
    this.describe(this.label);
  }

  /** Sets what a screen reader says for the board. */
  describe(words) {
    this.grid.setAttribute("aria-label", words);
  }

  /** Animates a slide from `before` to `tiles`; resolves when it is over or the next slide interrupts it. */
  play({ before, slide, after, tiles, speed = 1 }) {
    this.stop();
    this.show(tiles);
    const news = newCells(after, tiles);
    if (calm.matches) return this.fade(newCells(before, tiles));
    const duration = SLIDE_MS / speed;
    const moves = slideMoves({ before, after, slide, rows: this.rows, columns: this.columns });
    const slides = moves.flatMap((move) => this.animateMove(move, before, duration));
    const pop = { duration: POP_MS / speed, delay: duration, fill: "backwards", easing: "ease-out" };
    for (const cell of news) this.run(this.faced[cell], APPEAR, pop);
    return Promise.all(slides.map((animation) => animation.finished.catch(() => undefined)));
  }

  fade(cells) {
    const fades = cells.map((cell) => this.run(this.faced[cell], FADE, { duration: FADE_MS }));
    return Promise.all(fades.map((animation) => animation.finished.catch(() => undefined)));
  }

  animateMove({ to, from }, before, duration) {
    const timing = { duration, easing: EASE };
    if (from.length === 1) {
      return from[0] === to ? [] : [this.run(this.faced[to], this.path(from[0], to), timing)];
    }
    const merged = this.faced[to];
    merged.classList.add("popping");
    this.run(merged, [{ opacity: 0 }, { opacity: 0 }], { duration });
    this.run(merged, POP, { duration: POP_MS * (duration / SLIDE_MS), delay: duration, easing: "ease-out" });
    return from.map((cell) => {
      const ghost = this.ghost(before[cell], to);
      const animation = this.run(ghost, this.path(cell, to), { ...timing, fill: "forwards" });
      animation.finished.then(() => ghost.remove(), () => undefined);
      return animation;
    });
  }

  ghost(tile, cell) {
    const ghost = h("div", { class: "tile ghost" });
    dress(ghost, parseInt(tile, 36), this.face(tile));
    this.cells[cell].append(ghost);
    this.ghosts.push(ghost);
    return ghost;
  }

  path(from, to) {
    const across = (from % this.columns) - (to % this.columns);
    const down = Math.floor(from / this.columns) - Math.floor(to / this.columns);
    const length = (steps) => `calc(${steps} * (100% + var(--tile-gap)))`;
    return [{ transform: `translate(${length(across)}, ${length(down)})` }, { transform: "none" }];
  }

  /** Shows that a slide is not possible. */
  nudge(slide) {
    if (calm.matches) return;
    const [x, y] = { up: [0, -5], right: [5, 0], down: [0, 5], left: [-5, 0] }[slide];
    const there = { transform: `translate(${x}px, ${y}px)` };
    this.element.animate([{ transform: "none" }, there, { transform: "none" }], { duration: 120 });
  }

  run(element, keyframes, timing) {
    const animation = element.animate(keyframes, timing);
    this.running.push(animation);
    return animation;
  }

  /** Ends all movement; the tiles stand where they go. */
  stop() {
    if (!this.running.length && !this.ghosts.length) return;
    for (const animation of this.running) animation.cancel();
    for (const ghost of this.ghosts) ghost.remove();
    for (const tile of this.faced) tile.classList.remove("popping");
    this.running = [];
    this.ghosts = [];
  }

  /** Colours each cell by its share (blue below zero, orange above), or removes the colours. */
  heat(shares) {
    for (const cell of this.cells) cell.querySelector(".heat")?.remove();
    if (!shares) return;
    const most = Math.max(...shares.map(Math.abs), 1e-9);
    shares.forEach((share, cell) => {
      const face = this.tiles[cell] === "0" ? "" : String(this.face(this.tiles[cell]));
      const parts = [h("span", { class: "heat-face" }, face), h("span", {}, brief(share))];
      const layer = h("div", { class: "heat", data: { sign: share < 0 ? "minus" : "plus" } }, parts);
      layer.style.setProperty("--heat", (0.62 * Math.abs(share)) / most);
      this.cells[cell].append(layer);
    });
  }

  /** Outlines some cells, or none. */
  mark(cells) {
    this.cells.forEach((cell, number) => cell.classList.toggle("marked", Boolean(cells?.includes(number))));
  }
}

/** Rows and columns of a size such as "4x4". */
export function shapeOf(size) {
  const [rows, columns] = size.split("x").map(Number);
  return { rows, columns };
}
