// The card of the current game: what it is, and what can be done with it.

import { button, card, h, icon, whole } from "./dom.js";
import { gameName } from "./games.js";
import { t } from "./texts.js";

export class GameCard {
  /** `hooks` are {share(), analyse(), coach()}. */
  constructor(app, { game, rules, size }, hooks) {
    this.seed = h("span", { class: "num mono" });
    this.moves = h("span", { class: "num", data: { testid: "moves" } });
    const which = `${gameName(app, { game, rules })}, ${size.replace("x", " × ")}, `;
    const facts = h("p", { class: "muted little" }, which, this.moves, t("play.seed"), this.seed);
    const analyse = button(t("view.analyse"), hooks.analyse, { label: t("look.analysethis") });
    const coach = button(t("view.coach"), hooks.coach, { label: t("word.coachthis") });
    const share = button([icon("share"), t("play.share")], hooks.share, { testid: "share" });
    this.element = card(t("play.thisgame"), facts, h("div", { class: "row game-buttons" }, share, analyse, coach));
  }

  /** Shows the number of moves. */
  tell(moves) {
    this.moves.textContent = t(moves === 1 ? "play.move" : "play.moves", { n: whole(moves) });
  }

  /** Shows the seed. */
  tellSeed(seed) {
    if (this.seed.textContent !== String(seed)) this.seed.textContent = seed;
  }
}
