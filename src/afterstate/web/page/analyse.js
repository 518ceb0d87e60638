// Analyse: here is my board, what now, and why? The board can be set up, pasted, and played on.

import { persist } from "./api.js";
import { faceOf, shapeOf } from "./board.js";
import { lookField, modelField } from "./choice.js";
import { card, h } from "./dom.js";
import { Editor } from "./editor.js";
import { boardOf, fitRef, isKnown, rulesOf } from "./games.js";
import { Hints, bestSlides } from "./hints.js";
import { listenKeys, listenSwipes, releaseAfterChoice } from "./input.js";
import { analyseHash, readAnalyse } from "./links.js";
import { LONGEST, besides, guessRef, textOf } from "./notation.js";
import { Setup } from "./setup.js";
import { keep, loadGame, lookAhead, setting } from "./store.js";
import { refused, t, way } from "./texts.js";
import { Timeline } from "./timeline.js";
import { TrainCard } from "./trainnow.js";
import { Tryout, drawOutcome } from "./tryout.js";
import { bestLine, valuesCard } from "./values.js";
import { Why } from "./why.js";

/** Shows Analyse in `root`; returns a function that removes it. */
export function mount(root, app) {
  const view = new AnalyseView(root, app);
  view.open();
  return Object.assign(() => view.close(), { follow: () => view.follow() });
}

class AnalyseView {
  constructor(root, app) {
    Object.assign(this, { root, app });
    this.turn = 0;
    this.timeline = new Timeline();
    this.moves = Promise.resolve();
    this.tryout = null;
    this.train = new TrainCard(app, {});
    this.hints = new Hints(app, (slide) => this.slide(slide));
    this.setup = new Setup(app, this.hints, {
      text: (text) => this.pasted(text),
      change: (change) => this.changeGame(change),
      next: (next) => this.chooseNext(next),
      mine: () => this.takeMine(),
      clear: () => this.clear(),
      back: () => this.back(),
      forward: () => this.forward(),
      play: () => this.app.go(analyseHash(this.ref, this.text).replace("analyse=", "play=")),
    });
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
    const linked = this.linked(own?.ref ?? fitRef(this.app, null));
    const analysed = setting("analysed");
    const kept = analysed && isKnown(this.app, analysed.ref) ? analysed : null;
    return linked ?? kept ?? own ?? this.example(fitRef(this.app, null));
  }

  /** The position of the address, or null. */
  linked(near) {
    const linked = readAnalyse(this.app.route.rest);
    if (!linked || (linked.ref && isKnown(this.app, linked.ref))) return linked;
    return { ref: guessRef(this.app, linked.text, near), text: linked.text };
  }

  /** A board to start with: a first state of the game. */
  example(ref) {
    return { ref, text: boardOf(this.app, ref).example };
  }

  /** The address has changed: by Back or Forward, or by a link to another position. */
  follow() {
    const linked = this.linked(this.ref);
    if (!linked) history.replaceState(null, "", `#${analyseHash(this.ref, this.text)}`);
    else if (linked.text !== this.text) {
      this.timeline.goTo(linked);
      this.take(linked.ref, linked.text);
    }
  }

  back() {
    const { now } = this.timeline;
    if (this.tryout) this.cancelTryout();
    else if (!this.position && now) this.take(now.ref, now.text);
    else if (this.timeline.canGoBack) history.back();
  }

  forward() {
    if (this.timeline.canGoForward) history.forward();
  }

  /** Reads a text; if it is a board, shows it and asks for its values. `motion` is the slide that led to it. */
  async take(ref, text, motion = null) {
    const turn = (this.turn += 1);
    this.setGame(ref);
    this.tryout = null;
    this.hints.wait();
    this.setup.tellText(text.slice(0, LONGEST));
    if (text.length > LONGEST) return this.refused(t("look.long"));
    try {
      const position = await persist(() => this.app.api.post("/api/read", { ...ref, board: text }));
      return turn === this.turn ? this.show(position, motion) : undefined;
    } catch (error) {
      return turn === this.turn ? this.refused(error.message) : undefined;
    }
  }

  show(position, motion) {
    this.position = position;
    this.text = position.text;
    this.setup.tellText(position.text);
    this.setup.tellError("");
    if (motion) this.editor.play({ ...motion, tiles: position.tiles });
    else if (this.editor.tiles !== position.tiles || this.editor.offered) this.editor.set(position.tiles);
    this.remember();
    this.setup.refresh(this);
    return this.ask();
  }

  remember() {
    const { ref, text } = this;
    const first = this.timeline.at < 0;
    const { added, forgotten, forward } = this.timeline.push({ ref, text });
    const hash = `#${analyseHash(ref, text)}`;
    keep("analysed", { ref, text });
    if (forgotten) this.app.toast(t("look.forgotten"));
    if (forward) history.forward();
    else if (added && !first && location.hash !== hash) history.pushState(null, "", hash);
    else if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  setGame(ref) {
    const key = `${ref.game}/${ref.rules}/${ref.size}`;
    if (key === this.key) return;
    Object.assign(this, { key, ref, faces: this.app.faces(ref.game), position: null });
    const onpick = (cell) => this.finish(this.tryout.at(cell));
    this.editor = new Editor({ ...ref, faces: this.faces, onedit: () => this.edited(), onpick });
    this.why = new Why({ ...ref, faces: this.faces });
    this.hints.clear();
    this.models.refresh(ref);
    this.setup.showGame(ref, this.editor);
  }

  /** The next tile of the board, or the first that these rules can show; null if they show none. */
  get nextTile() {
    const { next } = rulesOf(this.app, this.ref);
    return (next.find((one) => one.text === this.position?.next) ?? next[0])?.text ?? null;
  }

  // --- what people do

  /** A cell or the next tile has changed: what else is known of the position stays, if it still fits. */
  async edited(next = this.nextTile) {
    const { columns } = shapeOf(this.ref.size);
    const write = (known) => textOf(this.editor.tiles, this.faces, columns, next, known);
    const known = this.position ? besides(this.position.text) : [];
    const turn = (this.turn += 1);
    const fitting = await this.stillFits(known, write);
    if (turn !== this.turn) return;
    const lost = known.filter((part) => !fitting.includes(part));
    if (lost.length) this.app.toast(t("look.left", { parts: lost.join(", ") }));
    await this.take(this.ref, write(fitting));
  }

  // All that is known, or all but the bag, or nothing: the first that the rules allow.
  async stillFits(known, write) {
    const ways = known.length ? [known, known.filter((part) => !part.startsWith("bag "))] : [];
    for (const way of ways) {
      try {
        await persist(() => this.app.api.post("/api/read", { ...this.ref, board: write(way) }));
        return way;
      } catch {
        // The next way says less.
      }
    }
    return [];
  }

  chooseNext(next) {
    return this.edited(next);
  }

  pasted(text) {
    return this.take(guessRef(this.app, text, this.ref), text);
  }

  changeGame(change) {
    const ref = fitRef(this.app, { ...this.ref, ...change });
    if (ref.game !== this.ref.game || ref.size !== this.ref.size) return this.take(ref, this.example(ref).text);
    const { tiles } = this.editor;
    this.setGame(ref);
    this.editor.set(tiles);
    return this.edited();
  }

  takeMine() {
    const game = loadGame();
    if (!game) return this.app.toast(t("look.nogame"));
    return this.take({ game: game.game, rules: game.rules, size: game.size }, game.position.text);
  }

  clear() {
    this.position = null;
    this.editor.set("0".repeat(this.editor.tiles.length));
    return this.edited();
  }

  // --- moves on the board

  /** Slides, once earlier slides are done. */
  slide(slide) {
    this.moves = this.moves.then(() => this.makeSlide(slide));
  }

  async makeSlide(slide) {
    if (!this.position || this.tryout) return;
    if (!this.position.legal.includes(slide)) {
      this.app.announce(refused(slide));
      this.editor.board.nudge(slide);
      return;
    }
    const turn = (this.turn += 1);
    try {
      const request = { ...this.ref, board: this.text, slide };
      const { after, outcomes } = await persist(() => this.app.api.post("/api/try", request));
      if (turn !== this.turn) return;
      this.motion = { before: this.position.tiles, slide, after };
      if (setting("choose")) this.offer(outcomes);
      else await this.finish(drawOutcome(outcomes, Math.random()));
    } catch (error) {
      this.app.toast(error.message, "error");
    }
  }

  /** Lets people choose the new tile. */
  offer(outcomes) {
    this.tryout = new Tryout({
      outcomes,
      faceOf: (tile) => faceOf(this.faces, parseInt(tile, 36)),
      onchange: () => this.editor.offer(this.tryout.cells),
      ondraw: () => this.finish(drawOutcome(outcomes, Math.random())),
      oncancel: () => this.cancelTryout(),
    });
    this.hints.clear();
    this.editor.play({ ...this.motion, tiles: this.motion.after });
    this.editor.offer(this.tryout.cells);
    this.setup.refresh(this);
  }

  cancelTryout() {
    this.take(this.ref, this.text);
  }

  finish({ position }) {
    const { before, slide, after } = this.motion;
    const motion = this.tryout ? { before: after, slide, after } : { before, slide, after };
    return this.take(this.ref, position.text, motion);
  }

  // --- what is drawn once

  build() {
    this.models = modelField(this.app, fitRef(this.app, null));
    this.result = h("div", { class: "stack analyse-result", "aria-live": "polite" });
    const choices = h("div", { class: "choices" }, this.models.element, lookField(this.app));
    this.options = h("section", { class: "card", "aria-label": t("word.ai") }, choices);
    const answer = h("div", { class: "stack analyse-answer" }, this.options, this.result);
    const columns = h("div", { class: "analyse" }, this.setup.element, answer);
    this.root.append(h("h1", { class: "visually-hidden" }, t("view.analyse")), columns);
    const commands = {
      KeyZ: () => this.back(),
      KeyU: () => this.back(),
      KeyY: () => this.forward(),
      Escape: () => this.tryout && this.cancelTryout(),
    };
    this.unlisten = listenKeys((slide) => this.slide(slide), commands);
    listenSwipes(this.setup.place, (slide) => this.slide(slide));
    releaseAfterChoice(this.root);
  }

  // --- asking

  async ask() {
    if (!this.position) return;
    const turn = (this.turn += 1);
    const { game, rules, size } = this.ref;
    const model = this.app.model(game, rules, size);
    this.options.hidden = !model;
    if (!model) {
      this.invite();
      return;
    }
    this.result.classList.add("waiting");
    this.hints.wait();
    try {
      const request = { board: this.text, model: model.id, ...lookAhead() };
      const answer = await persist(() => this.app.api.post("/api/analyse", request));
      if (turn === this.turn) await this.showAnswer(answer, model, turn);
    } catch (error) {
      if (turn === this.turn) this.refused(error.message);
    }
  }

  // There is no model to ask: the board can be played on all the same.
  invite() {
    this.train.show(this.ref);
    this.hints.clear();
    this.setup.tellVerdict("");
    this.result.classList.remove("waiting");
    this.result.replaceChildren(this.train.element);
  }

  refused(message) {
    this.position = null;
    this.hints.clear();
    this.setup.tellError(message);
    this.setup.refresh(this);
    this.result.classList.remove("waiting");
    const words = h("p", {}, t("look.unread"));
    this.result.replaceChildren(h("div", { class: "empty" }, words));
  }

  async showAnswer(answer, model, turn) {
    if (!this.tryout) this.hints.show(answer);
    this.setup.tellVerdict(answer.move ? t("look.best", { slides: bestSlides(answer).map(way).join(", ") }) : t("look.none"));
    const parts = [valuesCard(answer, (slide) => this.explainOther(model, slide))];
    if (answer.line.length) {
      const line = bestLine(answer.line, { ...this.ref, faces: this.faces }, (text) => this.take(this.ref, text));
      parts.push(card(t("look.line"), line));
    }
    if (answer.move) {
      const first = await this.explain(model, answer.move);
      if (turn !== this.turn) return;
      this.why.show(first);
      parts.push(card(t("look.why"), this.why.words, this.why.element));
    }
    this.result.classList.remove("waiting");
    this.result.replaceChildren(...parts);
  }

  explain(model, slide) {
    const request = { model: model.id, board: this.text };
    return persist(() => this.app.api.post("/api/explain", slide ? { ...request, slide } : request));
  }

  async explainOther(model, slide) {
    const { turn } = this;
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
    this.unlisten();
    this.setup.close();
    this.why?.rest();
    this.train.close();
    this.models.close();
    for (const type of ["models", "model", "look"]) this.app.events.removeEventListener(type, this.onmodels);
  }
}
