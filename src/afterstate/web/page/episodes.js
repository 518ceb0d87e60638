// Episode files: one game a line, SLIDER:PLACER@TICK|ACTIONS|WINNER@TOCK.

import { fitRef } from "./games.js";
import { t } from "./texts.js";

const LARGEST = 50_000_000;
const LINE = /^\s*([^:|@]*):[^@|]*@\d+\|([^|]*)\|/;

/** The games of a file as [{line, slider, actions, text}]; throws an Error with a sentence for people. */
export async function readEpisodes(file) {
  const size = Math.ceil(file.size / 1e6);
  if (file.size > LARGEST) throw new Error(t("file.large", { name: file.name, size, most: 50 }));
  const games = [];
  let line = 0;
  for (const text of (await file.text()).split(/\r?\n/)) {
    line += 1;
    const game = readLine(text, line);
    if (game) games.push(game);
  }
  if (!games.length) throw new Error(t("file.noline", { name: file.name }));
  return games;
}

function readLine(text, line) {
  const match = LINE.exec(text);
  if (!match || !match[2].includes("#")) return null;
  return { line, slider: match[1].trim() || t("file.unnamed"), actions: match[2], text: text.trim() };
}

/** The number of slides and the sum of all rewards. */
export function countsOf({ actions }) {
  let slides = 0;
  for (let at = actions.indexOf("#"); at >= 0; at = actions.indexOf("#", at + 1)) slides += 1;
  let score = 0;
  for (const [, reward] of actions.matchAll(/\[(-?\d+)\]/g)) score += Number(reward);
  return { slides, score };
}

/** Guesses the game, rules and size of a record from the length of its first tiles; prefers large boards. */
export function guessRecord({ actions }, app) {
  const length = actions.slice(0, actions.indexOf("#")).replace(/\[[^\]]*\]|\([^)]*\)/g, "").length;
  const fitting = app.about.games.flatMap(({ game, rules }) => rules.flatMap(({ name, hints, sizes }) =>
    sizes.filter(({ firsts }) => firsts * (hints ? 3 : 2) === length)
      .map(({ size }) => ({ game, rules: name, size, largest: size === sizes.at(-1).size }))));
  return fitRef(app, fitting.find((one) => one.largest) ?? fitting.at(-1));
}
