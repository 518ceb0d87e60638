// Play: the board, what is shown around it, and what people can do.

import { arrive } from "./arrivals.js";
import { Board, shapeOf } from "./board.js";
import { button, h, icon } from "./dom.js";
import { Session, recordOf } from "./game.js";
import { GameCard } from "./gamecard.js";
import { boardOf, fitRef, rulesOf } from "./games.js";
import { Hints } from "./hints.js";
import { listenKeys, listenSwipes, releaseAfterChoice } from "./input.js";
import { bestScore } from "./kept.js";
import { analyseHash, gameLink, isLocal } from "./links.js";
import { NewGameDialog } from "./newgame.js";
import { Tally } from "./pace.js";
import { ReplayBar } from "./replaybar.js";
import { ScoreBar } from "./scorebar.js";
import { slideWords, undoWords } from "./speech.js";
import { Status } from "./status.js";
import { keep, setting } from "./store.js";
import { refused, t } from "./texts.js";
import { TrainCard } from "./trainnow.js";
import { Watcher } from "./watch.js";
import { watchPanel } from "./watchpanel.js";

const HINTS_UP_TO = 6; // moves a second
const REST_MS = 1_000; // between two games of the AI

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
    this.tally = new Tally();
    this.resting = 0;
    this.train = new TrainCard(app, { onwatch: () => this.watcher.play(), onhints: () => this.setHints(true) });
    this.dialog = new NewGameDialog(app, (choice, signal) => this.startGame(choice, signal));
  }

  // --- opening and closing

  async open() {
    this.build();
    try {
      if (!this.session.state) await this.session.start(this.firstChoice());
      if (this.app.route.rest) arrive(this, this.app.route);
    } catch (error) {
      this.app.toast(error.message, "error");
    }
  }

  firstChoice() {
    const model = this.app.defaultModel();
    return fitRef(this.app, model ?? setting("last"));
  }

  build() {
    const undo = [icon("undo"), h("span", {}, t("play.undo")), h("kbd", {}, "Z")];
    this.undoButton = button(undo, () => this.undo(), { testid: "undo", label: t("play.undolast") });
    const start = [icon("plus"), h("span", {}, t("play.new"), h("span", { class: "wide" }, t("play.newwide")))];
    const fresh = button(start, () => this.openDialog(), { testid: "new-game", label: t("play.newgame") });
    const buttons = h("div", { class: "row play-buttons" }, this.undoButton, fresh);
    const top = h("div", { class: "play-top" }, this.scores.element, buttons);
    this.place = h("div", { class: "board-place" });
    this.stage = h("div", { class: "stage" }, this.hints.elements, this.place);
    this.replaySlot = h("div", { class: "replay-slot" });
    this.side = h("aside", { class: "stack play-side" });
    const main = h("div", { class: "play-main" }, top, this.stage, this.status.element, this.replaySlot);
    this.columns = h("div", { class: "play waiting" }, main, this.side);
    this.root.append(h("h1", { class: "visually-hidden" }, t("view.play")), this.columns, this.dialog.element);
    this.listen();
    if (this.session.state) this.showGame();
  }

  listen() {
    const { session, watcher, app } = this;
    session.addEventListener("change", () => this.showGame());
    session.addEventListener("slid", ({ detail }) => this.showSlide(detail));
    session.addEventListener("refused", ({ detail }) => this.refuse(detail.slide));
    session.addEventListener("undone", () => app.announce(undoWords(session.state.score)));
    watcher.addEventListener("moved", ({ detail }) => this.showFrame(detail));
    watcher.addEventListener("start", () => this.endReplay());
    watcher.addEventListener("stop", () => this.refresh());
    watcher.addEventListener("over", ({ detail }) => this.whenOver(detail));
    this.onmodels = () => this.whenModels();
    this.onlook = () => this.whenLook();
    app.events.addEventListener("models", this.onmodels);
    app.events.addEventListener("model", this.onmodels);
    app.events.addEventListener("look", this.onlook);
    this.unlisten = listenKeys((slide) => this.slide(slide), this.commands());
    listenSwipes(this.place, (slide) => this.slide(slide));
    releaseAfterChoice(this.root);
  }

  commands() {
    return {
      KeyZ: (repeated) => this.undo(repeated),
      KeyU: (repeated) => this.undo(repeated),
      KeyH: () => this.setHints(!setting("hints")),
      KeyN: () => this.openDialog(),
      KeyP: () => this.toggleWatch(),
      Space: () => (this.replay ? this.replay.toggle.click() : this.toggleWatch()),
      Period: () => this.stepWatch(),
    };
  }

  close() {
    this.unlisten();
    this.rest();
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
    this.rest();
    this.watcher.pause();
    this.endReplay();
    this.session.slide(slide);
  }

  // A key that is held takes back one move after the other, as fast as they are answered.
  undo(repeated = false) {
    if (!this.session.state?.moves || (repeated && this.session.busy)) return;
    this.rest();
    this.watcher.pause();
    this.endReplay();
    this.session.undo();
  }

  toggleWatch() {
    const { state } = this.session;
    if (!state) return;
    if (!this.watcher.model) this.app.toast(t("play.nomodel"));
    else if (this.watcher.running) this.watcher.pause();
    else if (this.resting) this.rest();
    else if (state.position.over) this.watchModel(this.session.ref);
    else this.watcher.play();
  }

  stepWatch() {
    if (!this.session.state) return;
    if (!this.watcher.model) this.app.toast(t("play.nomodel"));
    this.endReplay();
    this.watcher.step();
  }

  setHints(on) {
    if (this.session.state && !this.watcher.model) {
      this.app.toast(t("play.nomodel"));
      return;
    }
    keep("hints", on);
    this.panel?.refresh();
    this.refresh();
  }

  /** Starts no other game of the AI by itself. */
  rest() {
    clearTimeout(this.resting);
    this.resting = 0;
  }

  openDialog() {
    this.rest();
    this.watcher.pause();
    this.dialog.open(this.session.state ? this.session.ref : setting("last"), this.session.inProgress);
  }

  async startGame(choice, signal) {
    await this.session.start(choice, signal);
    this.endReplay();
    const { game, rules, size } = choice;
    keep("last", { game, rules, size });
    this.app.announce(t("play.started"));
  }

  async share() {
    const link = gameLink(recordOf(this.session.state));
    try {
      await navigator.clipboard.writeText(link);
      this.app.toast(isLocal() ? t("play.copiedhere") : t("play.copied"));
    } catch {
      this.status.showLink(link);
    }
  }

  // --- other games

  async watchModel({ game, rules, size }) {
    this.rest();
    this.status.answered();
    try {
      await this.startGame({ game, rules, size });
      this.watcher.play();
    } catch (error) {
      this.app.toast(error.message, "error");
    }
  }

  /** Starts with a board of one's own. */
  async playFrom(ref, text) {
    this.status.answered();
    try {
      await this.session.startFrom(ref, text);
    } catch (error) {
      this.app.toast(error.message, "error");
    }
  }

  /** Shows the game of a link. */
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
    this.tally = new Tally();
    this.columns.classList.remove("waiting");
    const { game, size } = this.session.state;
    this.board = new Board({ ...shapeOf(size), faces: this.app.faces(game), game });
    this.board.element.dataset.testid = "board";
    this.place.replaceChildren(this.board.element);
    for (const [name, count] of Object.entries(shapeOf(size))) this.columns.style.setProperty(`--${name}`, count);
    this.hints.clear();
    this.drawSide();
  }

  // A card for the AI, or for training one, and one for the game.
  drawSide() {
    const { game, rules, size } = this.session.ref;
    this.panel?.close();
    this.panel = null;
    this.card = new GameCard(this.app, this.session.ref, {
      share: () => this.share(),
      analyse: () => this.analyse(),
      coach: () => this.app.go("coach/mine"),
    });
    const info = this.card.element;
    if (this.app.model(game, rules, size)) {
      this.panel = watchPanel(this.app, this.session, this.watcher, {
        toggle: () => this.toggleWatch(),
        hintsOn: () => setting("hints"),
        toggleHints: () => this.setHints(!setting("hints")),
        tally: () => this.tally,
      });
      this.side.replaceChildren(this.panel.element, info);
    } else {
      this.train.show(this.session.ref);
      this.side.replaceChildren(this.train.element, info);
    }
    this.tell(this.session.state.score, this.session.state.moves.length);
  }

  analyse() {
    this.app.go(analyseHash(this.session.ref, this.session.state.position.text));
  }

  showSlide({ before, slide, after, tiles, gain }) {
    const { state } = this.session;
    this.board.play({ before, slide, after, tiles });
    this.tell(state.score, state.moves.length);
    this.scores.gain(gain);
    this.app.announce(slideWords(this.board, { slide, after, tiles, gain, over: state.position.over }));
    this.refresh();
  }

  showFrame({ frame, slid }) {
    const { tiles } = frame.position;
    if (slid) this.board.play({ before: this.board.tiles, slide: frame.slide, after: frame.after, tiles });
    else this.board.set(tiles);
    this.tell(frame.score, this.session.state.moves.length);
    this.refresh();
  }

  // A game of the AI has ended; the next one begins by itself if wanted.
  whenOver(state) {
    this.tally.add({ score: state.score, largest: state.position.largest });
    this.finished = state;
    if (setting("goOn")) this.resting = setTimeout(() => this.watchModel(this.session.ref), REST_MS);
  }

  tell(score, moves) {
    this.scores.tell(score, bestScore(this.session.state));
    this.card.tell(moves);
  }

  refuse(slide) {
    this.app.announce(refused(slide));
    this.board.nudge(slide);
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

  // Another model, or another look-ahead: what was counted so far is of another AI.
  whenLook() {
    if (!this.session.state) return;
    const { game, rules, size } = this.session.ref;
    const who = `${this.app.model(game, rules, size)?.id} ${setting("look")}`;
    if (who !== this.who) this.tally = new Tally();
    this.who = who;
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
    this.card.tellSeed(state.seed);
    this.board.element.classList.toggle("over", state.position.over && !this.watcher.running);
    const mode = this.watcher.running ? "watching" : this.replay ? "replaying" : "keys";
    this.tellGoal(boardOf(this.app, state).goal);
    this.status.show(this.session, mode, {
      coach: () => this.app.go("coach/mine"),
      fresh: () => this.openDialog(),
      next: this.finished === state ? () => this.watchModel(this.session.ref) : null,
    });
    if (!this.watcher.running) {
      this.panel?.refresh();
      this.replay?.refresh();
    }
    this.askHints();
  }

  tellGoal(goal) {
    const { state } = this.session;
    if (goal === null || state.kept || this.replay || state.position.largest < goal) return;
    this.session.keepPlaying();
    this.app.toast(this.watcher.running ? t("play.aireached", { goal }) : t("play.reached", { goal }));
  }

  askHints() {
    const { state } = this.session;
    this.hints.quiet = this.watcher.running;
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
