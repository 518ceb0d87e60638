// Play: the board, what is shown around it, and what the player can do.

import { Board, shapeOf } from "./board.js";
import { button, card, h, icon, whole } from "./dom.js";
import { Session } from "./game.js";
import { boardOf, fitRef, gameName, rulesOf } from "./games.js";
import { Hints } from "./hints.js";
import { listenKeys, listenSwipes } from "./input.js";
import { bestScore } from "./kept.js";
import { analyseHash, gameLink, isLocal, readLink } from "./links.js";
import { newCells } from "./motion.js";
import { NewGameDialog } from "./newgame.js";
import { ReplayBar } from "./replaybar.js";
import { ScoreBar } from "./scorebar.js";
import { Status } from "./status.js";
import { keep, setting } from "./store.js";
import { TrainCard } from "./trainnow.js";
import { Watcher } from "./watch.js";
import { watchPanel } from "./watchpanel.js";

const HINTS_UP_TO = 6;

/** Shows Play in `root`; returns a function that removes it. */
export function mount(root, app) {
  const view = new PlayView(root, app);
  view.open();
  return () => view.close();
}

class PlayView {
  constructor(root, app) {
    Object.assign(this, { root, app });
    this.session = new Session(app);
    this.watcher = new Watcher(app, this.session);
    this.hints = new Hints(app, (slide) => this.slide(slide));
    this.scores = new ScoreBar();
    this.status = new Status();
    this.panel = null;
    this.replay = null;
    this.train = new TrainCard(app, { onwatch: () => this.watcher.play(), onhints: () => this.setHints(true) });
    this.dialog = new NewGameDialog(app, (choice) => this.startGame(choice));
  }

  // --- opening and closing

  async open() {
    this.build();
    try {
      if (!this.session.state) await this.session.start(this.firstChoice());
      if (this.app.route.name === "replay") this.offerLink();
      else if (this.app.route.rest) this.offerModel(this.app.route.rest);
    } catch (error) {
      this.app.toast(error.message, "error");
    }
  }

  firstChoice() {
    const model = this.app.defaultModel();
    return fitRef(this.app, model ?? setting("last"));
  }

  build() {
    const undo = [icon("undo"), h("span", {}, "Undo"), h("kbd", {}, "Z")];
    this.undoButton = button(undo, () => this.undo(), { testid: "undo", label: "Undo the last move" });
    const start = [icon("plus"), h("span", {}, "New", h("span", { class: "wide" }, " game"))];
    const fresh = button(start, () => this.openDialog(), { testid: "new-game", label: "New game" });
    const buttons = h("div", { class: "row play-buttons" }, this.undoButton, fresh);
    const top = h("div", { class: "play-top" }, this.scores.element, buttons);
    this.place = h("div", { class: "board-place" });
    this.stage = h("div", { class: "stage" }, this.hints.elements, this.place);
    this.replaySlot = h("div", { class: "replay-slot" });
    this.side = h("aside", { class: "stack play-side" });
    const main = h("div", { class: "play-main" }, top, this.stage, this.status.element, this.replaySlot);
    this.columns = h("div", { class: "play waiting" }, main, this.side);
    this.root.append(h("h1", { class: "visually-hidden" }, "Play"), this.columns, this.dialog.element);
    this.listen();
    if (this.session.state) this.showGame();
  }

  listen() {
    const { session, watcher, app } = this;
    session.addEventListener("change", () => this.showGame());
    session.addEventListener("slid", ({ detail }) => this.showSlide(detail));
    session.addEventListener("refused", ({ detail }) => this.nudge(detail.slide));
    watcher.addEventListener("moved", ({ detail }) => this.showFrame(detail));
    watcher.addEventListener("start", () => this.whenWatching());
    watcher.addEventListener("stop", () => this.refresh());
    this.onmodels = () => this.whenModels();
    this.onlook = () => this.whenLook();
    app.events.addEventListener("models", this.onmodels);
    app.events.addEventListener("model", this.onmodels);
    app.events.addEventListener("look", this.onlook);
    this.unlisten = listenKeys((slide) => this.slide(slide), this.commands());
    listenSwipes(this.place, (slide) => this.slide(slide));
    // After a choice by pointer, the arrow keys slide the board and not the control.
    this.root.addEventListener("change", ({ target }) => target.matches(":focus-visible") || target.blur());
  }

  commands() {
    return {
      KeyZ: () => this.undo(),
      KeyU: () => this.undo(),
      KeyH: () => this.setHints(!setting("hints")),
      KeyN: () => this.openDialog(),
      KeyP: () => this.toggleWatch(),
      Period: () => this.stepWatch(),
    };
  }

  close() {
    this.unlisten();
    this.watcher.close();
    this.replay?.pause();
    this.train.close();
    this.panel?.close();
    this.session.close();
    for (const type of ["models", "model"]) this.app.events.removeEventListener(type, this.onmodels);
    this.app.events.removeEventListener("look", this.onlook);
  }

  // --- what people do

  slide(slide) {
    if (!this.session.state) return;
    this.watcher.pause();
    this.endReplay();
    this.session.slide(slide);
  }

  undo() {
    if (!this.session.state?.moves) return;
    this.watcher.pause();
    this.endReplay();
    this.session.undo();
  }

  toggleWatch() {
    if (this.watcher.running) this.watcher.pause();
    else this.watcher.play();
  }

  stepWatch() {
    this.endReplay();
    this.watcher.step();
  }

  setHints(on) {
    keep("hints", on);
    this.refresh();
  }

  openDialog() {
    this.watcher.pause();
    this.dialog.open(this.session.state ? this.session.ref : setting("last"), this.session.inProgress);
  }

  async startGame(choice) {
    await this.session.start(choice);
    this.endReplay();
    const { game, rules, size } = choice;
    keep("last", { game, rules, size });
    this.app.announce("A new game has started.");
  }

  async share() {
    const link = gameLink(this.session.state);
    try {
      await navigator.clipboard.writeText(link);
      this.app.toast("Copied a link to this game.");
    } catch {
      this.status.showLink(link);
    }
  }

  // --- a game from a link

  offerLink() {
    let game = null;
    try {
      game = readLink(this.app.route.rest);
    } catch (error) {
      this.app.toast(error.message, "error");
      history.replaceState(null, "", "#play");
      return;
    }
    const { state } = this.session;
    const same = state && state.seed === game.seed && state.game === game.game && game.moves.startsWith(state.moves);
    if (same || !this.session.inProgress) this.openLink(game);
    else this.status.ask(gameName(this.app, game), game, () => this.openLink(game), () => this.endReplay());
  }

  // "#play/MODEL": watch a model in a new game.
  offerModel(id) {
    history.replaceState(null, "", "#play");
    const model = this.app.models().find((one) => one.id === id);
    if (!model) return;
    this.app.chooseModel(id);
    if (!this.session.inProgress) this.watchModel(model);
    else this.status.askToWatch(model, () => this.watchModel(model), () => this.endReplay());
  }

  async watchModel({ game, rules, size }) {
    this.status.answered();
    try {
      await this.startGame({ game, rules, size });
      this.watcher.play();
    } catch (error) {
      this.app.toast(error.message, "error");
    }
  }

  async openLink(game) {
    this.status.answered();
    try {
      await this.session.replay(game);
      this.replay = new ReplayBar(this.app, this.session, game, () => this.endReplay());
      this.replaySlot.replaceChildren(this.replay.element);
      this.refresh();
    } catch (error) {
      this.app.toast(error.message, "error");
      this.endReplay();
    }
  }

  endReplay() {
    this.status.answered();
    this.replay?.pause();
    this.replay = null;
    this.replaySlot.replaceChildren();
    if (location.hash.startsWith("#replay")) history.replaceState(null, "", "#play");
    this.refresh();
  }

  // --- what is shown

  showGame() {
    const { state } = this.session;
    const key = `${state.game}/${state.rules}/${state.size}`;
    if (this.key !== key) this.changeGame(key);
    this.board.set(state.position.tiles, { animate: true });
    this.tell(state.score, state.moves.length);
    this.refresh();
  }

  changeGame(key) {
    this.key = key;
    this.columns.classList.remove("waiting");
    const { game, size } = this.session.state;
    this.board = new Board({ ...shapeOf(size), faces: this.app.faces(game), game });
    this.board.element.dataset.testid = "board";
    this.place.replaceChildren(this.board.element);
    this.hints.clear();
    this.drawSide();
  }

  // A card for the player, or for training one, and one for the game.
  drawSide() {
    const { game, rules, size } = this.session.ref;
    this.panel?.close();
    this.panel = null;
    const info = this.gameCard();
    if (this.app.model(game, rules, size)) {
      const hints = { on: () => setting("hints"), toggle: () => this.setHints(!setting("hints")) };
      this.panel = watchPanel(this.app, this.session, this.watcher, hints);
      this.side.replaceChildren(this.panel.element, info);
    } else {
      this.train.show(this.session.ref);
      this.side.replaceChildren(this.train.element, info);
    }
    this.tell(this.session.state.score, this.session.state.moves.length);
  }

  gameCard() {
    const { game, rules, size } = this.session.ref;
    this.seedText = h("span", { class: "num mono" });
    this.movesText = h("span", { class: "num", data: { testid: "moves" } });
    const which = `${gameName(this.app, { game, rules })}, ${size.replace("x", " × ")}, `;
    const facts = h("p", { class: "muted little" }, which, this.movesText, ", seed ", this.seedText);
    const analyse = button("Analyse", () => this.analyse(), { label: "Analyse this board" });
    const coach = button("Coach", () => this.app.go("coach/mine"), { label: "Coach this game" });
    const share = button([icon("share"), "Share"], () => this.share(), { testid: "share" });
    return card("This game", facts, h("div", { class: "row game-buttons" }, share, analyse, coach));
  }

  analyse() {
    this.app.go(analyseHash(this.session.ref, this.session.state.position.text));
  }

  showSlide({ before, slide, after, tiles, gain }) {
    const { state } = this.session;
    this.board.play({ before, slide, after, tiles });
    this.tell(state.score, state.moves.length);
    this.scores.gain(gain);
    this.announceSlide(slide, after, tiles, gain);
    this.refresh();
  }

  announceSlide(slide, after, tiles, gain) {
    const { columns } = this.board;
    const news = newCells(after, tiles).map((cell) => {
      const place = `row ${Math.floor(cell / columns) + 1}, column ${(cell % columns) + 1}`;
      return ` New ${this.board.face(tiles[cell])} in ${place}.`;
    });
    const brought = gain > 0 ? `, ${whole(gain)} points` : "";
    const end = this.session.state.position.over ? " The game is over." : "";
    this.app.announce(`Slid ${slide}${brought}.${news.join("")}${end}`);
  }

  showFrame({ frame, slid }) {
    if (slid) this.board.play({ before: this.board.tiles, slide: frame.slide, after: frame.after, tiles: frame.tiles });
    else this.board.set(frame.tiles);
    this.tell(frame.score, frame.moves);
    this.refresh();
  }

  tell(score, moves) {
    this.scores.tell(score, bestScore(this.session.state));
    this.movesText.textContent = `${whole(moves)} ${moves === 1 ? "move" : "moves"}`;
  }

  nudge(slide) {
    const [x, y] = { up: [0, -5], right: [5, 0], down: [0, 5], left: [-5, 0] }[slide];
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const there = { transform: `translate(${x}px, ${y}px)` };
    this.board.element.animate([{ transform: "none" }, there, { transform: "none" }], { duration: 120 });
  }

  whenWatching() {
    this.endReplay();
  }

  whenModels() {
    if (!this.session.state) return;
    const { game, rules, size } = this.session.ref;
    if (Boolean(this.app.model(game, rules, size)) !== Boolean(this.panel)) this.drawSide();
    if (!this.panel) this.train.show(this.session.ref);
    const offer = this.panel && this.train.offer(this.session.ref);
    if (offer) this.status.offer(offer);
    this.whenLook();
  }

  whenLook() {
    this.watcher.restart();
    this.askedFor = null;
    this.refresh();
  }

  /** Updates everything that depends on the position and the choices; cheap enough for every frame. */
  refresh() {
    const { state } = this.session;
    if (!state) return;
    const { next } = state.position;
    const words = rulesOf(this.app, state).next.find((one) => one.text === next)?.words ?? next;
    this.scores.showNext(state.game, this.board.faces, next, words);
    this.undoButton.disabled = !state.moves;
    if (this.seedText.textContent !== String(state.seed)) this.seedText.textContent = state.seed;
    this.board.element.classList.toggle("over", state.position.over && !this.watcher.running);
    const mode = this.watcher.running ? "watching" : this.replay ? "replaying" : "keys";
    this.status.show(this.session, mode, boardOf(this.app, state).goal, {
      keep: () => this.session.keepPlaying(),
      coach: () => this.app.go("coach/mine"),
      fresh: () => this.openDialog(),
    });
    if (!this.watcher.running) {
      this.panel?.refresh();
      this.replay?.refresh();
    }
    this.askHints();
  }

  askHints() {
    const { state } = this.session;
    const model = this.app.model(state.game, state.rules, state.size);
    const tooFast = this.watcher.running && this.watcher.speed > HINTS_UP_TO;
    if (!setting("hints") || !model || state.position.over || tooFast) {
      if (this.askedFor !== null) this.hints.clear();
      this.askedFor = null;
      return;
    }
    if (this.askedFor === state.position.text) return;
    this.askedFor = state.position.text;
    this.hints.ask({ board: state.position.text, model: model.id });
  }
}
