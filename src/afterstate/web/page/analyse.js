// Analyse: here is my board, what now, and why?

import { persist } from "./api.js";
import { shapeOf } from "./board.js";
import { lookField, modelField } from "./choice.js";
import { button, card, h, segmented, selectField } from "./dom.js";
import { Editor } from "./editor.js";
import { boardOf, fitRef, gameFacts, isKnown, ruleOptions, rulesOf, sizeOptions } from "./games.js";
import { analyseHash, readAnalyse } from "./links.js";
import { guessRef, readBoard, textOf, tilesOf } from "./notation.js";
import { keep, loadGame, lookAhead, setting } from "./store.js";
import { TrainCard } from "./trainnow.js";
import { bestLine, valuesTable } from "./values.js";
import { Why } from "./why.js";

const TYPING_MS = 350;

/** Shows Analyse in `root`; returns a function that removes it. */
export function mount(root, app) {
  const view = new AnalyseView(root, app);
  view.open();
  return () => view.close();
}

class AnalyseView {
  constructor(root, app) {
    Object.assign(this, { root, app });
    this.turn = 0;
    this.train = new TrainCard(app, {});
    this.onmodels = () => this.ask();
    for (const type of ["models", "model", "look"]) app.events.addEventListener(type, this.onmodels);
  }

  // --- which board

  open() {
    this.build();
    const { ref, text } = this.first();
    this.take(ref, text);
  }

  first() {
    const game = loadGame();
    const own = game && { ref: { game: game.game, rules: game.rules, size: game.size }, text: game.position.text };
    const linked = readAnalyse(this.app.route.rest);
    const analysed = setting("analysed");
    const kept = analysed && isKnown(this.app, analysed.ref) ? analysed : null;
    if (linked?.ref && isKnown(this.app, linked.ref)) return linked;
    if (linked) return { ref: guessRef(this.app, linked.text, own?.ref ?? fitRef(this.app, null)), text: linked.text };
    return kept ?? own ?? this.example(fitRef(this.app, null));
  }

  /** A board to start with: a first state of the game. */
  example(ref) {
    return { ref, text: boardOf(this.app, ref).example };
  }

  /** Shows the board of a text as far as it can be read, and asks for its values. */
  take(ref, text) {
    this.setGame(ref);
    this.text = text;
    if (this.field.value.trim() !== text) this.field.value = text;
    const board = readBoard(text);
    const tiles = board && tilesOf(board.rows, this.faces);
    this.next = board?.next ?? null;
    if (tiles && tiles.length === this.editor.tiles.length) this.editor.set(tiles);
    this.drawNext();
    this.ask();
  }

  setGame(ref) {
    const key = `${ref.game}/${ref.rules}/${ref.size}`;
    if (key === this.key) return;
    Object.assign(this, { key, ref, faces: this.app.faces(ref.game) });
    this.editor = new Editor({ ...ref, faces: this.faces, onedit: () => this.edited() });
    this.editorSlot.replaceChildren(this.editor.element);
    this.why = new Why({ ...ref, faces: this.faces });
    this.models.refresh(ref);
    this.drawChoices();
  }

  /** The chosen next tile, or the first that these rules can show; null if they show none. */
  get nextTile() {
    const { next } = rulesOf(this.app, this.ref);
    return (next.find((one) => one.text === this.next) ?? next[0])?.text ?? null;
  }

  edited() {
    this.text = textOf(this.editor.tiles, this.faces, shapeOf(this.ref.size).columns, this.nextTile);
    this.field.value = this.text;
    this.ask();
  }

  pasted() {
    const text = this.field.value.trim();
    this.take(guessRef(this.app, text, this.ref), text);
  }

  changeGame(change) {
    const ref = fitRef(this.app, { ...this.ref, ...change });
    if (ref.game !== this.ref.game || ref.size !== this.ref.size) return this.take(ref, this.example(ref).text);
    const { tiles } = this.editor;
    this.setGame(ref);
    this.editor.set(tiles);
    this.drawNext();
    return this.edited();
  }

  takeMine() {
    const game = loadGame();
    if (!game) return this.app.toast("There is no game in Play yet.");
    return this.take({ game: game.game, rules: game.rules, size: game.size }, game.position.text);
  }

  clear() {
    this.editor.set("0".repeat(this.editor.tiles.length));
    this.edited();
  }

  // --- what is drawn once

  build() {
    this.models = modelField(this.app, fitRef(this.app, null));
    this.choices = h("div", { class: "stack tight" });
    this.editorSlot = h("div", { class: "editor-slot" });
    this.nextSlot = h("div", { class: "next-choice" });
    const props = { rows: "2", spellcheck: "false", "aria-describedby": "analyse-error" };
    this.field = h("textarea", { ...props, data: { testid: "analyse-text" } });
    this.field.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.pasted(), TYPING_MS);
    });
    this.error = h("p", { class: "error", role: "alert", id: "analyse-error", data: { testid: "analyse-error" } });
    const mine = button("Use the board of my game", () => this.takeMine());
    const buttons = h("div", { class: "row" }, mine, button("Clear", () => this.clear()));
    const text = h("label", { class: "field" }, h("span", {}, "Board as text: type or paste"), this.field);
    const left = [this.choices, this.editorSlot, this.nextSlot, h("div", {}, text, this.error), buttons];
    this.result = h("div", { class: "stack analyse-result", "aria-live": "polite" });
    const choices = h("div", { class: "choices" }, this.models.element, lookField(this.app));
    this.options = h("section", { class: "card", "aria-label": "The player" }, choices);
    const setup = h("section", { class: "card stack analyse-setup", "aria-label": "The board" }, left);
    const answer = h("div", { class: "stack analyse-answer" }, this.options, this.result);
    this.root.append(h("h1", { class: "visually-hidden" }, "Analyse"), h("div", { class: "analyse" }, setup, answer));
  }

  drawChoices() {
    const { games } = this.app.about;
    const titles = games.map((one) => [one.game, one.title]);
    const game = segmented("Game", titles, this.ref.game, (name) => this.changeGame({ game: name }));
    const rules = ruleOptions(this.app, this.ref);
    const sizes = sizeOptions(this.app, this.ref);
    const ruleField = selectField("Rules", rules, this.ref.rules, (name) => this.changeGame({ rules: name }));
    const sizeField = selectField("Size", sizes, this.ref.size, (size) => this.changeGame({ size }));
    this.choices.replaceChildren(game, h("div", { class: "choices" }, ruleField, sizeField));
  }

  drawNext() {
    const offered = rulesOf(this.app, this.ref).next.map(({ text }) => [text, text]);
    if (!offered.length) return this.nextSlot.replaceChildren();
    const choice = segmented("Next tile", offered, this.nextTile, (next) => {
      this.next = next;
      this.edited();
    });
    const legend = h("span", { class: "legend" }, "Next tile");
    return this.nextSlot.replaceChildren(h("div", { class: "row" }, legend, choice));
  }

  // --- asking

  async ask() {
    if (!this.ref) return;
    const turn = (this.turn += 1);
    const { game, rules, size } = this.ref;
    const model = this.app.model(game, rules, size);
    this.options.hidden = !model;
    if (!model) return this.invite();
    this.result.classList.add("waiting");
    try {
      const request = { board: this.text, model: model.id, ...lookAhead() };
      const answer = await persist(() => this.app.api.post("/api/analyse", request));
      if (turn !== this.turn) return undefined;
      this.accepted();
      return await this.showAnswer(answer, model, turn);
    } catch (error) {
      return turn === this.turn ? this.refused(error.message) : undefined;
    }
  }

  // There is no model to ask, and without one the server reads no boards, so the page checks the text.
  invite() {
    this.train.show(this.ref);
    this.result.classList.remove("waiting");
    this.result.replaceChildren(this.train.element);
    const board = readBoard(this.text);
    const fits = board && tilesOf(board.rows, this.faces)?.length === this.editor.tiles.length;
    const what = `${gameFacts(this.app, this.ref.game).title}, ${this.ref.size}`;
    this.tellError(fits ? "" : `This is not a board of ${what}: write rows of tiles, with / between them.`);
  }

  tellError(message) {
    this.error.textContent = message;
    if (message) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
  }

  accepted() {
    this.tellError("");
    keep("analysed", { ref: this.ref, text: this.text });
    history.replaceState(null, "", `#${analyseHash(this.ref, this.text)}`);
  }

  refused(message) {
    this.tellError(message);
    this.result.classList.remove("waiting");
    const words = h("p", {}, "The values appear when the board can be read.");
    this.result.replaceChildren(h("div", { class: "empty" }, words));
  }

  async showAnswer(answer, model, turn) {
    const chosen = answer.move;
    if (this.editor.tiles !== answer.position.tiles) this.editor.set(answer.position.tiles);
    const parts = [this.valuesCard(answer, model)];
    if (answer.line.length) {
      const line = bestLine(answer.line, { ...this.ref, faces: this.faces }, (text) => this.take(this.ref, text));
      parts.push(card("Best line", line));
    }
    if (chosen) {
      const first = await this.explain(model, chosen);
      if (turn !== this.turn) return;
      this.why.show(first);
      parts.push(card("Why this value", this.why.words, this.why.element));
    }
    this.result.classList.remove("waiting");
    this.result.replaceChildren(...parts);
  }

  valuesCard(answer, model) {
    const verdict = answer.move ? `Slide ${answer.move}` : "No slide is possible";
    const ms = answer.ms < 10 ? answer.ms.toFixed(1) : Math.round(answer.ms);
    const cost = h("span", { class: "muted little num" }, `depth ${answer.depth}, ${ms} ms`);
    const head = h("div", { class: "row apart" }, h("h2", {}, verdict), cost);
    const table = valuesTable(answer, answer.move, (slide) => this.explainOther(model, slide));
    const scroll = h("div", { class: "table-scroll" }, table);
    return h("section", { class: "card stack tight", "aria-label": "Values" }, head, scroll);
  }

  explain(model, slide) {
    const request = { model: model.id, board: this.text };
    return persist(() => this.app.api.post("/api/explain", slide ? { ...request, slide } : request));
  }

  async explainOther(model, slide) {
    const turn = this.turn;
    this.explained = slide;
    try {
      const answer = await this.explain(model, slide);
      if (turn === this.turn && this.explained === slide) this.why.show(answer);
    } catch (error) {
      this.app.toast(error.message, "error");
    }
  }

  close() {
    this.turn += 1;
    clearTimeout(this.typing);
    this.why?.rest();
    this.train.close();
    this.models.close();
    for (const type of ["models", "model", "look"]) this.app.events.removeEventListener(type, this.onmodels);
  }
}
