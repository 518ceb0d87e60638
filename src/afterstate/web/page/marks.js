// Who made each move of a game, as counts: "12y3a" is twelve moves by you, then three by the AI. "?" is not known.

export const YOU = "y";
export const AI = "a";
export const UNKNOWN = "?";

function runsOf(marks) {
  return [...(marks ?? "").matchAll(/(\d+)([ya?])/g)].map(([, count, who]) => [Number(count), who]);
}

function textOf(runs) {
  const joined = [];
  for (const [count, who] of runs) {
    if (joined.at(-1)?.[1] === who) joined.at(-1)[0] += count;
    else if (count > 0) joined.push([count, who]);
  }
  return joined.map(([count, who]) => `${count}${who}`).join("");
}

/** Marks for exactly `count` moves: cut off, or filled up with moves of nobody known. */
export function fitMarks(marks, count) {
  const runs = [];
  let left = count;
  for (const [length, who] of runsOf(marks)) {
    runs.push([Math.min(length, left), who]);
    left -= runs.at(-1)[0];
  }
  return textOf([...runs, [left, UNKNOWN]]);
}

/** The marks of a game of `before` moves, and `count` more by `who`. */
export function addMarks(marks, before, who, count = 1) {
  return textOf([...runsOf(fitMarks(marks, before)), [count, who]]);
}

/** One letter for each of `count` moves. */
export function spreadMarks(marks, count) {
  return runsOf(fitMarks(marks, count)).map(([length, who]) => who.repeat(length)).join("");
}

/** "you", "ai", "both", or "nobody" if no move is known to be of either. */
export function playedBy(marks) {
  const [you, ai] = [YOU, AI].map((who) => (marks ?? "").includes(who));
  if (you && ai) return "both";
  return you ? "you" : ai ? "ai" : "nobody";
}

/** Whether you made every move. */
export function isAllYours(marks) {
  return /^\d+y$/.test(marks ?? "");
}
