// What a review says, in words that several of its parts share.

import { LETTERS, NAMES, SLIDES } from "./dom.js";
import { AI, YOU, spreadMarks } from "./marks.js";
import { textOf } from "./notation.js";
import { full } from "./scale.js";
import { capital, t, way } from "./texts.js";

const MISTAKE = 0.01; // share of the expected final score
const SMALLEST = 4; // points; less is not worth a word

const WHO = { [YOU]: "word.you", [AI]: "word.ai" };

/** Who made each move: a function of the ply. `who` is whoever made those that no mark tells of; "" if nobody knows. */
export function moversOf({ plies }, marks, who = "") {
  const letters = spreadMarks(marks, plies);
  return (ply) => (WHO[letters[ply]] ? t(WHO[letters[ply]]) : who);
}

/** Plies that lost at least one percent of the expected final score. */
export function mistakesOf({ regrets, shares }) {
  return regrets.flatMap((regret, ply) => (shares[ply] >= MISTAKE && regret >= SMALLEST ? [ply] : []));
}

/** The same, the largest share first. */
export function rankedOf(answer) {
  return mistakesOf(answer).sort((one, other) => answer.shares[other] - answer.shares[one]);
}

/** "Down lost 8,467. Best: up", or what else can be said of a move. */
export function verdict(answer, ply) {
  const made = NAMES[answer.slides[ply]], best = NAMES[answer.best[ply]], lost = answer.regrets[ply];
  if (answer.choices[ply] === 1) return t("coach.only", { slide: capital(way(made)) });
  if (made === best) return t("coach.isbest", { slide: capital(way(made)) });
  if (lost < 0.5) return t("coach.asgood", { slide: capital(way(made)) });
  return lostWords(made, lost, best);
}

export function lostWords(made, lost, best) {
  return t("coach.lost", { slide: capital(way(made)), lost: full(lost), best: way(best) });
}

/** The text of a position, as Analyse reads it. */
export function positionText(answer, ply, faces) {
  const columns = Number(answer.size.split("x")[1]);
  return textOf(answer.tiles[ply], faces, columns, null) + (answer.beside[ply] ?? "");
}

/** Positions in which you went wrong, as cards of the deck of puzzles. */
export function cardsOf(answer, marks, faces, most) {
  const letters = spreadMarks(marks, answer.plies);
  const { game, rules, size } = answer;
  return rankedOf(answer).filter((ply) => letters[ply] === YOU).slice(0, most).map((ply) => ({
    from: "you", game, rules, size, text: positionText(answer, ply, faces), tiles: answer.tiles[ply],
    score: answer.scores[ply], slide: NAMES[answer.slides[ply]],
  }));
}

/** The four values of a position: [{slide, value, lost, best, made}], in the order of the slides. */
export function fourOf(answer, ply) {
  const top = Math.max(...answer.options[ply].filter((value) => value !== null));
  return SLIDES.map((slide, at) => {
    const value = answer.options[ply][at];
    const [made, best] = [answer.slides[ply], answer.best[ply]].map((letter) => letter === LETTERS[slide]);
    return { slide, value, lost: value === null ? null : top - value, made, best };
  });
}
