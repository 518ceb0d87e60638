// Episode files: one game a line, SLIDER:PLACER@TICK|ACTIONS|WINNER@TOCK.

const LARGEST = 50_000_000;
const LINE = /^\s*([^:|@]*):[^@|]*@\d+\|([^|]*)\|/;

/** The games of a file as [{line, slider, actions, text}]; throws an Error with a sentence for people. */
export async function readEpisodes(file) {
  const size = Math.ceil(file.size / 1e6);
  if (file.size > LARGEST) throw new Error(`${file.name} has ${size} MB. Files up to 50 MB are read here.`);
  const games = [];
  let line = 0;
  for (const text of (await file.text()).split(/\r?\n/)) {
    line += 1;
    const game = readLine(text, line);
    if (game) games.push(game);
  }
  if (!games.length) throw new Error(`${file.name} has no line such as player:random@time|actions|winner@time.`);
  return games;
}

function readLine(text, line) {
  const match = LINE.exec(text);
  if (!match || !match[2].includes("#")) return null;
  return { line, slider: match[1].trim() || "unnamed", actions: match[2], text: text.trim() };
}

/** Slides and the sum of all rewards, counted when they are asked for. */
export function countsOf({ actions }) {
  let slides = 0;
  for (let at = actions.indexOf("#"); at >= 0; at = actions.indexOf("#", at + 1)) slides += 1;
  let score = 0;
  for (const [, reward] of actions.matchAll(/\[(-?\d+)\]/g)) score += Number(reward);
  return { slides, score };
}

/** The game and rules of a record by its first tiles: 2 of 2048, 9 of Threes! with or without what comes next. */
export function guessRules({ actions }) {
  const firsts = actions.slice(0, actions.indexOf("#")).replace(/\[[^\]]*\]|\([^)]*\)/g, "").length;
  if (firsts <= 4) return { game: "2048", rules: "standard" };
  return { game: "threes", rules: firsts % 3 === 0 && firsts !== 18 ? "tcg2022" : "tcg2018" };
}
