// The card of the current game: what it is, and what can be done with it.

import { button, card, h, icon, whole } from "./dom.js";
import { gameName } from "./games.js";

export class GameCard {
  /** `hooks` are {share(), analyse(), coach()}. */
  constructor(app, { game, rules, size }, hooks) {
    this.seed = h("span", { class: "num mono" });
    this.moves = h("span", { class: "num", data: { testid: "moves" } });
    const which = `${gameName(app, { game, rules })}, ${size.replace("x", " × ")}, `;
    const facts = h("p", { class: "muted little" }, which, this.moves, ", seed ", this.seed);
    const analyse = button("Analyse", hooks.analyse, { label: "Analyse this board" });
    const coach = button("Coach", hooks.coach, { label: "Coach this game" });
    const share = button([icon("share"), "Share"], hooks.share, { testid: "share" });
    this.element = card("This game", facts, h("div", { class: "row game-buttons" }, share, analyse, coach));
  }

  /** Shows the number of moves. */
  tell(moves) {
    this.moves.textContent = `${whole(moves)} ${moves === 1 ? "move" : "moves"}`;
  }

  /** Shows the seed. */
  tellSeed(seed) {
    if (this.seed.textContent !== String(seed)) this.seed.textContent = seed;
  }
}
