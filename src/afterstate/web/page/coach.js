// The Coach view: choose a game, let a model check every move, see what cost most and what was luck.

import { persist } from "./api.js";
import { Review } from "./coach-review.js";
import { sources } from "./coach-sources.js";
import { copyFrom } from "./copy.js";
import { h, selectField, whole } from "./dom.js";
import { gameName } from "./games.js";
import { gameLink } from "./links.js";

const INVITATION =
  "Choose a game above. For every move, the coach shows what it cost, which slide was better, and how much was luck.";

let kept = null; // the last review, for when the view is opened again

/** Shows the view in `root`; returns a function that removes it. */
export function mount(root, app) {
  const view = new Coach(root, app);
  return () => view.close();
}

class Coach {
  constructor(root, app) {
    this.app = app;
    this.turn = 0;
    this.from = sources(app, (request, who) => this.#look(request, who));
    this.place = h("div", { class: "coach-place" });
    root.append(h("h1", { class: "coach-title" }, "Coach"), this.from.element, this.place);
    this.listener = () => this.from.refresh();
    app.events.addEventListener("models", this.listener);
    if (app.route.rest === "mine" && this.from.mine) this.from.mine();
    else if (kept) this.#show(kept);
    else this.#invite();
  }

  close() {
    this.turn += 1;
    this.from.close();
    this.app.events.removeEventListener("models", this.listener);
    this.review?.close();
  }

  #put(...children) {
    this.review?.close();
    this.review = null;
    this.place.replaceChildren(...children);
  }

  #invite() {
    this.#put(h("div", { class: "empty" }, h("h2", {}, "See a game as a strong player sees it"),
      h("p", { class: "coach-invite" }, INVITATION)));
  }

  /** Asks for a review of a game. */
  async #look(request, who) {
    const turn = (this.turn += 1);
    const model = this.app.model(request.game, request.rules, request.size);
    if (!model) return this.#noModel(request);
    this.#wait(model);
    try {
      const answer = await persist(() => this.app.api.post("/api/coach", { ...request, model: model.id }));
      if (turn !== this.turn) return;
      kept = { answer, request, who, model: model.id, ply: answer.worst[0]?.ply ?? 0 };
      this.#show(kept);
      this.app.announce(`The review is ready: accuracy ${Math.round(answer.accuracy)} percent.`);
      this.place.scrollIntoView({ block: "start" });
    } catch (problem) {
      if (turn === this.turn) this.#fail(problem.message, () => this.#look(request, who));
    }
  }

  #wait(model) {
    const bar = h("progress", { "aria-label": "Checking every move" });
    this.#put(h("div", { class: "empty coach-wait" }, h("p", {}, `${model.name} is checking every move …`), bar));
  }

  #fail(message, again) {
    const button = h("button", { class: "button", type: "button", onclick: again }, "Try again");
    this.#put(h("div", { class: "banner", role: "alert", data: { kind: "error", testid: "coach-error" } },
      h("p", {}, message), button));
  }

  #noModel(request) {
    const words = `There is no model for ${gameName(this.app, request)} yet. The coach needs one.`;
    this.#put(h("div", { class: "banner", role: "alert", data: { testid: "coach-error" } }, h("p", {}, words),
      h("a", { class: "button primary", href: "#training" }, "Train one")));
  }

  #show({ answer, request, who, model, ply }) {
    const onPly = (to) => {
      kept.ply = to;
    };
    const { announce } = this.app;
    const review = new Review(answer, { faces: this.app.faces(answer.game), who, ply, onPly, announce });
    this.#put(this.#head(answer, request, who, model), review.element);
    this.review = review;
  }

  #head(answer, request, who, id) {
    const whose = who === "You" ? "Your game" : `A game by ${who === "The model" ? "the model" : who}`;
    const words = `${whose}: ${gameName(this.app, answer)}, ${whole(answer.plies)} moves`;
    const fits = (one) => ["game", "rules", "size"].every((key) => one[key] === answer[key]);
    const fitting = this.app.models().filter(fits);
    const change = (value) => {
      this.app.chooseModel(value);
      this.#look(request, who);
    };
    const link = h("button", { class: "button", type: "button", data: { testid: "coach-link" } }, "Copy link");
    link.addEventListener("click", () => copyFrom(link, gameLink(request)));
    return h("div", { class: "row apart coach-head" }, h("h2", {}, words), h("div", { class: "row" },
      fitting.length > 1 && selectField("Reviewed by", fitting.map((one) => [one.id, one.name]), id, change),
      request.seed !== undefined && link));
  }
}
