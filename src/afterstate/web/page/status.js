// The line below the board. Its place is always there, so that nothing jumps when a game is won or over.

import { ARROWS, button, h, whole } from "./dom.js";
import { showKeys } from "./keys.js";
import { t } from "./texts.js";

const WORDS = { watching: "play.watching", replaying: "play.replaying" };

export class Status {
  constructor() {
    this.element = h("div", { class: "play-status" });
    this.special = null;
    this.kind = null;
  }

  /** Shows what fits the position; a question or an offer stays until it is answered. */
  show(session, mode, actions) {
    if (this.special) return;
    const { state } = session;
    const kind = mode !== "replaying" && mode !== "watching" && state.position.over ? "over" : mode;
    const key = kind === "over" ? `over ${state.moves.length} ${state.seed}` : kind;
    if (key === this.kind) return;
    this.kind = key;
    this.element.replaceChildren(kind === "over" ? this.over(state, actions) : this.words(kind));
  }

  words(kind) {
    return h("p", { class: "muted little keys" }, WORDS[kind] ? t(WORDS[kind]) : this.keys());
  }

  keys() {
    const arrows = Object.values(ARROWS).flatMap((arrow) => [h("kbd", {}, arrow), " "]);
    const all = button([h("kbd", {}, "?"), t("play.allkeys")], showKeys, { kind: "quiet", testid: "all-keys" });
    const words = [...arrows, t("play.wasd"), all];
    const touch = h("span", { class: "keys-touch" }, t("play.swipe"));
    return h("span", {}, h("span", { class: "keys-wide" }, words), touch);
  }

  // `next` starts the AI's next game, if this one was the AI's.
  over(state, { coach, fresh, next }) {
    const { score, position, moves } = state;
    const facts = t("play.facts", { score: whole(score), tile: position.largest, n: whole(moves.length) });
    const words = h("p", {}, h("strong", {}, t("play.over")), facts);
    const onward = next ? button(t("play.nextgame"), next, { kind: "primary", testid: "next-game" })
      : button(t("play.newgame"), fresh, { kind: "primary" });
    const buttons = [button(t("word.coachthis"), coach), onward];
    return h("div", { class: "banner", role: "status", data: { testid: "game-over" } }, words, buttons);
  }

  setSpecial(element) {
    this.special = element;
    this.kind = null;
    this.element.replaceChildren(element);
  }

  /** Asks whether something may replace the current game. */
  question(words, yes, onyes, onkeep) {
    const parts = [h("p", {}, words), button(yes, onyes, { kind: "primary" }), button(t("play.keep"), onkeep)];
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
    const field = h("label", { class: "field" }, h("span", {}, t("play.copythis")), input);
    this.setSpecial(h("div", { class: "banner" }, field, button(t("play.done"), () => this.answered())));
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
