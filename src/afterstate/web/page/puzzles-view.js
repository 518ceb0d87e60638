// Puzzles: positions in which you, or the AI at a quick look, went wrong. Find the best slide.

import { persist } from "./api.js";
import { Board, shapeOf } from "./board.js";
import { lostWords } from "./coach-words.js";
import { addCards, answered, countCards, dropped, hasNew, newDeck, nextCard } from "./deck.js";
import { ARROWS, SLIDES, button, h, segmented } from "./dom.js";
import { gameName, isKnown } from "./games.js";
import { listenKeys, listenSwipes } from "./input.js";
import { analyseHash } from "./links.js";
import { full, percent } from "./scale.js";
import { loadObject, saveObject } from "./store.js";
import { t, way } from "./texts.js";

const DEPTH = 3;
const BATCH = 8;
const EQUAL = 0.001; // share of the expected score: less is as good as the best

/** Shows the view in `root`; returns a function that removes it. */
export function puzzlesView(root, app) {
  const view = new Puzzles(app);
  root.append(view.element);
  return () => view.close();
}

class Puzzles {
  constructor(app) {
    this.app = app;
    this.deck = { ...newDeck(), ...loadObject("puzzles") };
    this.turn = 0;
    this.from = countCards(this.deck, "you").open ? "you" : "ai";
    this.count = h("p", { class: "muted little num", data: { testid: "puzzle-count" } });
    const kinds = [["you", t("puzzle.yours")], ["ai", t("puzzle.ais")]];
    const choice = segmented(t("puzzle.whose"), kinds, this.from, (from) => {
      this.from = from;
      this.#next();
    });
    this.place = h("div", { class: "puzzle-place" });
    const head = h("div", { class: "row apart" }, choice, this.count);
    this.element = h("div", { class: "stack puzzles", data: { testid: "puzzles" } }, head, this.place);
    const next = () => this.answer && this.#next();
    this.unlisten = listenKeys((slide) => this.#answer(slide), { KeyN: next });
    this.#next();
  }

  close() {
    this.turn += 1;
    this.unlisten();
  }

  #keep(deck) {
    this.deck = deck;
    saveObject("puzzles", deck);
  }

  // --- the next position

  async #next() {
    const turn = (this.turn += 1);
    this.card = this.values = this.answer = null;
    this.#tellCount();
    try {
      if (this.from === "ai" && !hasNew(this.deck, "ai")) await this.#fetch(turn);
      if (turn === this.turn) await this.#open(turn);
    } catch (problem) {
      if (turn === this.turn) this.#say(t("puzzle.failed"), problem.message, this.#again());
    }
  }

  async #fetch(turn) {
    const model = this.app.defaultModel();
    if (!model) return;
    if (!nextCard(this.deck, "ai")) this.#wait();
    const { puzzles, ...ref } = await persist(() => this.app.api.post("/api/puzzles", { model: model.id, count: BATCH }));
    if (turn === this.turn) this.#keep(addCards(this.deck, puzzles.map((one) => ({ ...ref, ...one, from: "ai" }))));
  }

  // A position whose slide is right after all, by a deeper look, leaves the deck.
  async #open(turn) {
    for (;;) {
      const card = this.#first();
      if (!card) return this.#nothing();
      const model = this.app.model(card.game, card.rules, card.size);
      if (!model) return this.#say(t("puzzle.nofor", { name: gameName(this.app, card) }), t("puzzle.need"), trainLink());
      this.#wait();
      const asked = { model: model.id, board: card.text, depth: DEPTH };
      const { values } = await persist(() => this.app.api.post("/api/move", asked));
      if (turn !== this.turn) return undefined;
      const judged = judge(values, card);
      if (judged[card.slide]?.share >= EQUAL) return this.#show(card, judged);
      this.#keep(dropped(this.deck, card.key));
    }
  }

  #first() {
    const known = { ...this.deck, cards: this.deck.cards.filter((one) => isKnown(this.app, one)) };
    return nextCard(known, this.from);
  }

  #wait() {
    const bar = h("progress", { "aria-label": t("puzzle.looking") });
    this.place.replaceChildren(h("div", { class: "empty coach-wait" }, h("p", {}, t("puzzle.wait")), bar));
  }

  #nothing() {
    if (this.from === "ai") {
      const none = this.app.models().length === 0;
      return none ? this.#say(t("puzzle.nomodel"), t("puzzle.need"), trainLink())
        : this.#say(t("puzzle.none"), t("puzzle.agreed"), this.#again());
    }
    const words = t("puzzle.how");
    return this.#say(t("puzzle.noneyours"), words, h("a", { class: "button primary", href: "#coach/games" }, t("games.yours")));
  }

  #again() {
    return button(t("word.again"), () => this.#next());
  }

  #say(title, words, control) {
    const parts = [h("h2", {}, title), h("p", { class: "coach-invite" }, words), control];
    this.place.replaceChildren(h("div", { class: "empty" }, parts));
  }

  #tellCount() {
    const { open, done } = countCards(this.deck, this.from);
    this.count.textContent = open + done ? t("puzzle.count", { open: full(open), done: full(done) }) : "";
  }

  // --- question and answer

  #show(card, judged) {
    this.card = card;
    this.values = judged;
    const board = new Board({ ...shapeOf(card.size), faces: this.app.faces(card.game), game: card.game, size: 420 });
    board.set(card.tiles);
    board.element.dataset.testid = "puzzle-board";
    listenSwipes(board.element, (slide) => this.#answer(slide));
    this.buttons = Object.fromEntries(SLIDES.map((slide) => [slide, this.#choice(slide)]));
    this.told = h("div", { class: "stack tight puzzle-told", "aria-live": "polite" },
      h("p", {}, t("puzzle.which")));
    const next = /\| next (\S+)/.exec(card.text)?.[1];
    const score = t("coach.score", { score: full(card.score) });
    const facts = [gameName(this.app, card), score, ...(next ? [t("puzzle.tile", { next })] : [])].join(", ");
    const side = h("div", { class: "card stack puzzle-side" }, h("h2", {}, t("puzzle.find")),
      h("p", { class: "muted little num" }, facts),
      h("div", { class: "puzzle-choices" }, Object.values(this.buttons)), this.told);
    this.place.replaceChildren(h("div", { class: "puzzle" }, h("div", { class: "puzzle-board" }, board.element), side));
  }

  #choice(slide) {
    const legal = this.values[slide] !== null;
    const control = button([h("span", { class: "coach-chip-arrow", "aria-hidden": "true" }, ARROWS[slide]), way(slide),
      h("span", { class: "num puzzle-loss" })], () => this.#answer(slide), { testid: `puzzle-${slide}` });
    control.disabled = !legal;
    return control;
  }

  #answer(slide) {
    if (!this.card || this.answer || !this.values[slide]) return;
    this.answer = slide;
    const { share } = this.values[slide];
    const right = share < EQUAL;
    this.#keep(answered(this.deck, this.card.key, right));
    this.#tellCount();
    this.#reveal(slide, right);
  }

  #reveal(slide, right) {
    const best = SLIDES.find((one) => this.values[one]?.lost === 0);
    for (const one of SLIDES) {
      const judged = this.values[one], control = this.buttons[one];
      control.disabled = true;
      control.dataset.kind = one === best ? "best" : one === slide ? (right ? "best" : "wrong") : "other";
      const worth = judged && (one === best ? full(judged.value) : `−${full(judged.lost)}`);
      control.querySelector(".puzzle-loss").textContent = worth ?? "";
    }
    const { from, slide: made } = this.card;
    const { lost, share } = this.values[slide];
    const words = right ? t("puzzle.right", { slide: way(slide) }) : `${lostWords(slide, lost, best)}${t("word.stop")}`;
    const whose = from === "you" ? t("puzzle.ingame") : t("puzzle.quick");
    const before = made === slide ? "" : t("puzzle.before", { whose, slide: way(made), lost: full(this.values[made].lost) });
    const again = right ? this.#found() : t("puzzle.comes", { share: percent(share) });
    const next = button([t("puzzle.next"), h("kbd", {}, "N")], () => this.#next(), { kind: "primary", testid: "puzzle-next" });
    const href = `#${analyseHash(this.card, this.card.text)}`;
    const analyse = h("a", { class: "button", href, data: { testid: "puzzle-analyse" } }, t("view.analyse"));
    this.told.replaceChildren(h("p", { class: "puzzle-verdict", data: { right, testid: "puzzle-verdict" } }, words),
      h("p", { class: "muted little" }, [before, again].filter(Boolean).join(" ")), h("div", { class: "row" }, next, analyse));
    this.told.scrollIntoView({ block: "nearest" });
    next.focus({ preventScroll: true });
  }

  #found() {
    const card = this.deck.cards.find((one) => one.key === this.card.key);
    return card.found > 1 ? t("puzzle.twice") : t("puzzle.once");
  }
}

/** {slide: {value, lost, share}}, null if a slide is not possible; `share` is of the expected final score. */
function judge(values, { score }) {
  const top = Math.max(...Object.values(values).filter((value) => value !== null));
  const judged = (value) => ({ value, lost: top - value, share: (top - value) / Math.max(1, score + top) });
  return Object.fromEntries(SLIDES.map((slide) => [slide, values[slide] === null ? null : judged(values[slide])]));
}

function trainLink() {
  return h("a", { class: "button primary", href: "#training" }, t("word.trainone"));
}
