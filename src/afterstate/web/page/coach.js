// The Coach: reviews of games, your games, and puzzles.

import { persist } from "./api.js";
import { Review } from "./coach-review.js";
import { askFor, sources } from "./coach-sources.js";
import { cardsOf } from "./coach-words.js";
import { copyFrom } from "./copy.js";
import { addCards, newDeck } from "./deck.js";
import { h, selectField, whole } from "./dom.js";
import { gameName, isKnown } from "./games.js";
import { gamesView } from "./games-view.js";
import { changeGame, idOf, keepState, listGames } from "./kept.js";
import { gameLink } from "./links.js";
import { playedBy } from "./marks.js";
import { puzzlesView } from "./puzzles-view.js";
import { loadGame, loadObject, saveObject } from "./store.js";
import { t } from "./texts.js";

const TABS = [["", "coach.review"], ["games", "games.yours"], ["puzzles", "puzzle.puzzles"]];
const PUZZLES = 10; // of one game

let kept = null; // the answer of the last review, for when the view is opened again

/** Shows the view in `root`; returns a function that removes it. */
export function mount(root, app) {
  const [tab] = app.route.rest.split("/");
  const shown = TABS.some(([name]) => name === tab) ? tab : "";
  const links = TABS.map(([name, words]) => {
    const current = name === shown ? "page" : null;
    const data = { testid: `tab-${name || "review"}` };
    return h("a", { href: `#coach${name && `/${name}`}`, "aria-current": current, data }, t(words));
  });
  const tabs = h("nav", { class: "coach-tabs", "aria-label": t("view.coach") }, links);
  root.append(h("div", { class: "row apart coach-top" }, h("h1", {}, t("view.coach")), tabs));
  if (shown === "games") return gamesView(root, app);
  if (shown === "puzzles") return puzzlesView(root, app);
  const view = new Coach(root, app);
  return () => view.close();
}

class Coach {
  constructor(root, app) {
    this.app = app;
    this.turn = 0;
    this.from = sources(app, (request, about) => this.#look(request, about));
    this.sources = h("details", { class: "coach-choose", data: { testid: "coach-choose" } },
      h("summary", {}, t("coach.another")), this.from.element);
    this.place = h("div", { class: "coach-place" });
    root.append(this.sources, this.place);
    this.listener = () => this.from.refresh();
    app.events.addEventListener("models", this.listener);
    this.#begin(app.route.rest);
  }

  // "mine" is the current game, an id one of the list, nothing the last review.
  #begin(rest) {
    const id = rest.split("/")[1];
    const game = rest.startsWith("game/") && listGames().find((one) => one.id === id);
    if (rest) history.replaceState(null, "", "#coach");
    const last = loadObject("review");
    if (rest === "mine" && this.from.mine) this.from.mine();
    else if (game) this.#look(...askFor(game));
    else if (kept) this.#show(kept);
    else if (last?.request && isKnown(this.app, last.request)) this.#look(last.request, last.about, last.ply);
    else this.#invite();
  }

  close() {
    this.turn += 1;
    this.from.close();
    this.app.events.removeEventListener("models", this.listener);
    this.review?.close();
  }

  #put(chosen, ...children) {
    this.review?.close();
    this.review = null;
    this.sources.open = !chosen;
    this.sources.classList.toggle("chosen", chosen);
    this.place.replaceChildren(...children);
  }

  #invite() {
    this.#put(false, h("div", { class: "empty" }, h("h2", {}, t("coach.seegame")),
      h("p", { class: "coach-invite" }, t("coach.invitation"))));
  }

  /** Asks for a review of a game, and shows it at a ply, or at its worst move. */
  async #look(request, about, ply = null) {
    const turn = (this.turn += 1);
    const model = this.app.model(request.game, request.rules, request.size);
    if (!model) return this.#noModel(request);
    this.#wait(model);
    try {
      const answer = await persist(() => this.app.api.post("/api/coach", { ...request, model: model.id }));
      if (turn !== this.turn) return;
      kept = { answer, request, about, model: model.id, ply: ply ?? answer.worst[0]?.ply ?? 0 };
      this.#keep();
      this.#learn(answer, request, about);
      this.#show(kept);
      this.app.announce(t("coach.ready", { n: Math.round(answer.yours ?? answer.accuracy) }));
    } catch (problem) {
      if (turn === this.turn) this.#fail(problem.message, () => this.#look(request, about, ply));
    }
  }

  #keep() {
    const { request, about, model, ply } = kept;
    saveObject("review", { request, about, model, ply });
  }

  // A game of the list gets its accuracy; your mistakes become puzzles.
  #learn(answer, { marks }, { id }) {
    if (id === undefined) return;
    const current = loadGame();
    if (current && idOf(current) === id) keepState(current);
    changeGame(id, { accuracy: answer.yours ?? answer.accuracy });
    const cards = cardsOf(answer, marks, this.app.faces(answer.game), PUZZLES);
    if (cards.length) saveObject("puzzles", addCards({ ...newDeck(), ...loadObject("puzzles") }, cards));
  }

  #wait(model) {
    const bar = h("progress", { "aria-label": t("coach.checking") });
    this.#put(true, h("div", { class: "empty coach-wait" }, h("p", {}, t("coach.ischecking", { name: model.name })), bar));
  }

  #fail(message, again) {
    const button = h("button", { class: "button", type: "button", onclick: again }, t("word.again"));
    this.#put(false, h("div", { class: "banner", role: "alert", data: { kind: "error", testid: "coach-error" } },
      h("p", {}, message), button));
  }

  #noModel(request) {
    const words = t("coach.needs", { name: gameName(this.app, request) });
    this.#put(false, h("div", { class: "banner", role: "alert", data: { testid: "coach-error" } }, h("p", {}, words),
      h("a", { class: "button primary", href: "#training" }, t("word.trainone"))));
  }

  #show({ answer, request, about, model, ply }) {
    const onPly = (to) => {
      kept.ply = to;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.#keep(), 300);
    };
    const { announce } = this.app;
    const shown = { faces: this.app.faces(answer.game), who: about.who, marks: request.marks, ply, onPly, announce };
    const review = new Review(answer, shown);
    this.#put(true, this.#head(answer, request, about, model), review.element);
    this.review = review;
    review.placed();
  }

  #head(answer, request, about, id) {
    const whose = { you: t("coach.yourgame"), both: t("coach.byboth"), ai: t("coach.byai") };
    const other = about.who ? t("coach.by", { who: about.who }) : t("coach.game");
    const facts = { name: gameName(this.app, answer), n: whole(answer.plies) };
    const words = t("coach.title", { whose: whose[playedBy(request.marks)] ?? other, ...facts });
    const fits = (one) => ["game", "rules", "size"].every((key) => one[key] === answer[key]);
    const fitting = this.app.models().filter(fits);
    const change = (value) => {
      this.app.chooseModel(value);
      this.#look(request, about, this.review?.ply);
    };
    const link = h("button", { class: "button", type: "button", data: { testid: "coach-link" } }, t("coach.copy"));
    link.addEventListener("click", () => copyFrom(link, gameLink(request)));
    const title = h("h2", { data: { testid: "coach-game" } }, words);
    return h("div", { class: "row apart coach-head" }, title, h("div", { class: "row" },
      fitting.length > 1 && selectField(t("coach.reviewer"), fitting.map((one) => [one.id, one.name]), id, change),
      request.seed !== undefined && link));
  }
}
