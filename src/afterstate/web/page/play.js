// Play: the board, what is told around it, and what the player can do.

import { Board, shapeOf } from "./board.js";
import { h, icon, whole } from "./dom.js";
import { Session } from "./game.js";
import { Hints } from "./hints.js";
import { listenKeys, listenSwipes } from "./input.js";
import { gameLink, readLink } from "./links.js";
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

/** Shows Play in `root`; returns what takes it away. */
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
    } catch (error) {
      this.app.toast(error.message, "error");
    }
  }

  firstChoice() {
    const model = this.app.defaultModel();
    return model ? { game: model.game, rules: model.rules, size: model.size } : setting("last");
  }

  build() {
    this.undoButton = this.button("Undo ", "undo", "undo", () => this.undo(), h("kbd", {}, "Z"));
    this.undoButton.setAttribute("aria-label", "Undo the last move");
    const fresh = this.button("New", "plus", "new-game", () => this.openDialog());
    fresh.setAttribute("aria-label", "New game");
    fresh.lastChild.append(h("span", { class: "wide" }, " game"));
    const top = h("div", { class: "play-top" }, this.scores.element, h("div", { class: "row play-buttons" }, this.undoButton, fresh));
    this.place = h("div", { class: "board-place" });
    this.stage = h("div", { class: "stage" }, this.hints.elements, this.place);
    this.replaySlot = h("div", { class: "replay-slot" });
    this.side = h("aside", { class: "stack play-side" });
    const main = h("div", { class: "play-main" }, top, this.stage, this.status.element, this.replaySlot);
    this.root.append(h("h1", { class: "visually-hidden" }, "Play"), h("div", { class: "play" }, main, this.side), this.dialog.element);
    this.listen();
    if (this.session.state) this.showGame();
  }

  button(text, picture, testid, onclick, ...more) {
    return h("button", { class: "button", type: "button", onclick, data: { testid } }, icon(picture), h("span", {}, text), more);
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
    const commands = { KeyZ: () => this.undo(), KeyU: () => this.undo(), KeyH: () => this.setHints(!setting("hints")) };
    Object.assign(commands, { KeyN: () => this.openDialog(), KeyP: () => this.toggleWatch(), Period: () => this.stepWatch() });
    this.unlisten = listenKeys((slide) => this.slide(slide), commands);
    listenSwipes(this.place, (slide) => this.slide(slide));
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
    this.app.announce("A new game has begun.");
  }

  async share() {
    const link = gameLink(this.session.state);
    try {
      await navigator.clipboard.writeText(link);
      this.app.toast("A link to this game is in the clipboard.");
    } catch {
      this.status.showLink(link);
    }
  }

  // --- a game that comes by a link

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
    else this.status.ask(game, () => this.openLink(game), () => this.endReplay());
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
    const named = [this.app.rules(game).title, rules === "standard" ? null : rules, size.replace("x", " × ")];
    this.seedText = h("span", { class: "num mono" });
    this.movesText = h("span", { class: "num", data: { testid: "moves" } });
    const facts = h("p", { class: "muted little" }, `${named.filter(Boolean).join(", ")}, `, this.movesText, ", seed ", this.seedText);
    const analyse = h("button", { class: "button", type: "button", "aria-label": "Analyse this board" }, "Analyse");
    analyse.addEventListener("click", () => this.app.go(`analyse/${encodeURIComponent(this.session.state.position.text)}`));
    const coach = h("button", { class: "button", type: "button", "aria-label": "Coach this game" }, "Coach");
    coach.addEventListener("click", () => this.app.go("coach"));
    const share = this.button("Share", "share", "share", () => this.share());
    const buttons = h("div", { class: "row game-buttons" }, share, analyse, coach);
    return h("section", { class: "card stack tight", "aria-label": "This game" }, h("h2", {}, "This game"), facts, buttons);
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
    const [cell] = newCells(after, tiles);
    const { columns } = this.board;
    const where = cell === undefined ? "" : ` New ${this.board.face(tiles[cell])} in row ${Math.floor(cell / columns) + 1}, column ${(cell % columns) + 1}.`;
    const brought = gain > 0 ? `, ${whole(gain)} points` : "";
    this.app.announce(`Slid ${slide}${brought}.${where}${this.session.state.position.over ? " The game is over." : ""}`);
  }

  showFrame({ frame, slid }) {
    if (slid) this.board.play({ before: this.board.tiles, slide: frame.slide, after: frame.after, tiles: frame.tiles });
    else this.board.set(frame.tiles);
    this.tell(frame.score, frame.moves);
    this.refresh();
  }

  tell(score, moves) {
    this.scores.tell(score);
    this.movesText.textContent = `${whole(moves)} ${moves === 1 ? "move" : "moves"}`;
  }

  nudge(slide) {
    const [x, y] = { up: [0, -5], right: [5, 0], down: [0, 5], left: [-5, 0] }[slide];
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.board.element.animate([{ transform: "none" }, { transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], { duration: 120 });
  }

  whenWatching() {
    this.endReplay();
  }

  whenModels() {
    if (!this.session.state) return;
    const { game, rules, size } = this.session.ref;
    if (Boolean(this.app.model(game, rules, size)) !== Boolean(this.panel)) this.drawSide();
    const offer = this.train.offer();
    if (offer) this.status.offer(offer);
    this.whenLook();
  }

  whenLook() {
    this.watcher.restart();
    this.askedFor = null;
    this.refresh();
  }

  /** Brings all that depends on the position and the choices in step; cheap enough for every frame. */
  refresh() {
    const { state } = this.session;
    if (!state) return;
    this.scores.showNext(state.game, this.board.faces, state.position.next);
    this.undoButton.disabled = !state.moves;
    if (this.seedText.textContent !== String(state.seed)) this.seedText.textContent = state.seed;
    this.board.element.classList.toggle("over", state.position.over && !this.watcher.running);
    const mode = this.watcher.running ? "watching" : this.replay ? "replaying" : "keys";
    this.status.show(this.session, mode, {
      keep: () => this.session.keepPlaying(),
      coach: () => this.app.go("coach"),
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
    const wanted = setting("hints") && model && !state.position.over && !(this.watcher.running && this.watcher.speed > HINTS_UP_TO);
    if (!wanted) {
      if (this.askedFor !== null) this.hints.clear();
      this.askedFor = null;
      return;
    }
    if (this.askedFor === state.position.text) return;
    this.askedFor = state.position.text;
    this.hints.ask({ board: state.position.text, model: model.id });
  }
}
