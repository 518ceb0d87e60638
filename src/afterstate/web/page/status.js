// The line below the board. Its place is always there, so that nothing jumps when a game is won or over.

import { ARROWS, button, h, whole } from "./dom.js";

const WORDS = {
  watching: "The model is playing. Make a move to take over.",
  replaying: "Make a move to continue from here.",
};

export class Status {
  constructor() {
    this.element = h("div", { class: "play-status" });
    this.special = null;
    this.kind = null;
  }

  /** Shows what fits the position; a question or an offer stays until it is answered. */
  show(session, mode, goal, actions) {
    if (this.special) return;
    const { state } = session;
    const kind = this.kindOf(state, mode, goal);
    const key = kind === "over" ? `over ${state.moves.length} ${state.seed}` : kind;
    if (key === this.kind) return;
    this.kind = key;
    this.element.replaceChildren(this.make(kind, state, goal, actions));
  }

  kindOf(state, mode, goal) {
    if (mode === "replaying") return mode;
    if (state.position.over && mode !== "watching") return "over";
    if (goal !== null && !state.kept && state.position.largest >= goal) return "won";
    return mode;
  }

  make(kind, state, goal, actions) {
    if (kind === "over") return this.over(state, actions);
    if (kind === "won") {
      const words = h("p", {}, h("strong", {}, `You reached ${goal}. `), "You can keep playing as long as you like.");
      const goOn = button("Keep playing", actions.keep, { testid: "keep-playing" });
      return h("div", { class: "banner", role: "status" }, words, goOn);
    }
    return h("p", { class: "muted little keys" }, WORDS[kind] ?? this.keys());
  }

  keys() {
    const arrows = Object.values(ARROWS).flatMap((arrow) => [h("kbd", {}, arrow), " "]);
    const words = [...arrows, "or WASD to slide, ", h("kbd", {}, "N"), " for a new game"];
    const touch = h("span", { class: "keys-touch" }, "Swipe the board to slide.");
    return h("span", {}, h("span", { class: "keys-wide" }, words), touch);
  }

  over(state, { coach, fresh }) {
    const { score, position, moves } = state;
    const facts = `${whole(score)} points, largest tile ${position.largest}, ${whole(moves.length)} moves.`;
    const words = h("p", {}, h("strong", {}, "Game over. "), facts);
    const buttons = [button("Coach this game", coach), button("New game", fresh, { kind: "primary" })];
    return h("div", { class: "banner", role: "status", data: { testid: "game-over" } }, words, buttons);
  }

  setSpecial(element) {
    this.special = element;
    this.kind = null;
    this.element.replaceChildren(element);
  }

  /** Asks whether the game of a link may replace the current one. */
  ask(name, game, onshow, onkeep) {
    const words = `This link is a game of ${name}, ${whole(game.moves.length)} moves. Show it instead of yours?`;
    this.question(words, "Show it", onshow, onkeep);
  }

  /** Asks whether a new game for a model may replace the current one. */
  askToWatch(model, onstart, onkeep) {
    this.question(`Start a new game for ${model.name}, instead of yours?`, "Start", onstart, onkeep);
  }

  question(words, yes, onyes, onkeep) {
    const parts = [h("p", {}, words), button(yes, onyes, { kind: "primary" }), button("Keep my game", onkeep)];
    this.setSpecial(h("div", { class: "banner", role: "alert", data: { testid: "link-question" } }, parts));
  }

  /** Shows an offer until one of its buttons is used. */
  offer(element) {
    element.addEventListener("click", (event) => event.target.closest("button") && this.answered());
    this.setSpecial(element);
  }

  /** Shows a link that could not be copied, to copy by hand. */
  showLink(link) {
    const input = h("input", { type: "text", readonly: true, value: link });
    const field = h("label", { class: "field" }, h("span", {}, "Copy this link"), input);
    this.setSpecial(h("div", { class: "banner" }, field, button("Done", () => this.answered())));
    input.select();
  }

  /** Removes a question or an offer. */
  answered() {
    if (!this.special) return;
    this.special = null;
    this.kind = null;
    this.element.replaceChildren();
  }
}
