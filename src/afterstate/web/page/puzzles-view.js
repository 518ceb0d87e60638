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
    const kinds = [["you", "Your mistakes"], ["ai", "The AI's mistakes"]];
    const choice = segmented("Whose mistakes", kinds, this.from, (from) => {
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
      if (turn === this.turn) this.#say("The puzzle could not be made", problem.message, this.#again());
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
      if (!model) return this.#say(`There is no model for ${gameName(this.app, card)}`, "Puzzles need one.", trainLink());
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
    const bar = h("progress", { "aria-label": "Looking for a position" });
    this.place.replaceChildren(h("div", { class: "empty coach-wait" }, h("p", {}, "Looking for a position …"), bar));
  }

  #nothing() {
    if (this.from === "ai") {
      const none = this.app.models().length === 0;
      return none ? this.#say("There is no model yet", "Puzzles need one.", trainLink())
        : this.#say("No puzzle found", "A deeper look agreed with a quick one everywhere.", this.#again());
    }
    const words = "Let the coach review a game that you played. Your mistakes come here, until you have found each one twice.";
    return this.#say("No mistakes of yours", words, h("a", { class: "button primary", href: "#coach/games" }, "Your games"));
  }

  #again() {
    return button("Try again", () => this.#next());
  }

  #say(title, words, control) {
    const parts = [h("h2", {}, title), h("p", { class: "coach-invite" }, words), control];
    this.place.replaceChildren(h("div", { class: "empty" }, parts));
  }

  #tellCount() {
    const { open, done } = countCards(this.deck, this.from);
    this.count.textContent = open + done ? `${full(open)} open, ${full(done)} found` : "";
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
      h("p", {}, "Which slide is best? Use the arrow keys, swipe, or choose."));
    const next = /\| next (\S+)/.exec(card.text)?.[1];
    const facts = [gameName(this.app, card), `score ${full(card.score)}`, ...(next ? [`next tile ${next}`] : [])].join(", ");
    const side = h("div", { class: "card stack puzzle-side" }, h("h2", {}, "Find the best slide"),
      h("p", { class: "muted little num" }, facts),
      h("div", { class: "puzzle-choices" }, Object.values(this.buttons)), this.told);
    this.place.replaceChildren(h("div", { class: "puzzle" }, h("div", { class: "puzzle-board" }, board.element), side));
  }

  #choice(slide) {
    const legal = this.values[slide] !== null;
    const control = button([h("span", { class: "coach-chip-arrow", "aria-hidden": "true" }, ARROWS[slide]), slide,
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
    const words = right ? `Right: ${slide}.` : `${lostWords(slide, lost, best)}.`;
    const whose = from === "you" ? "In your game" : "The AI's quick look";
    const before = made === slide ? "" : `${whose}: ${made}, −${full(this.values[made].lost)}.`;
    const again = right ? this.#found() : `That is ${percent(share)} of the expected score. This position comes again.`;
    const next = button(["Next", h("kbd", {}, "N")], () => this.#next(), { kind: "primary", testid: "puzzle-next" });
    const href = `#${analyseHash(this.card, this.card.text)}`;
    const analyse = h("a", { class: "button", href, data: { testid: "puzzle-analyse" } }, "Analyse");
    this.told.replaceChildren(h("p", { class: "puzzle-verdict", data: { right, testid: "puzzle-verdict" } }, words),
      h("p", { class: "muted little" }, [before, again].filter(Boolean).join(" ")), h("div", { class: "row" }, next, analyse));
    this.told.scrollIntoView({ block: "nearest" });
    next.focus({ preventScroll: true });
  }

  #found() {
    const card = this.deck.cards.find((one) => one.key === this.card.key);
    return card.found > 1 ? "Found twice: it is done." : "It comes once more.";
  }
}

/** {slide: {value, lost, share}}, null if a slide is not possible; `share` is of the expected final score. */
function judge(values, { score }) {
  const top = Math.max(...Object.values(values).filter((value) => value !== null));
  const judged = (value) => ({ value, lost: top - value, share: (top - value) / Math.max(1, score + top) });
  return Object.fromEntries(SLIDES.map((slide) => [slide, values[slide] === null ? null : judged(values[slide])]));
}

function trainLink() {
  return h("a", { class: "button primary", href: "#training" }, "Train one");
}
