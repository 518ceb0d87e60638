// What the tests of the page's modules share: the modules themselves, and numbers that are random but the same in every run.

import { readFile } from "node:fs/promises";

/** A module of the page that imports no other. By its text, since no file beside it says that it is a module. */
export async function load(name) {
  const source = await readFile(new URL(`../../src/afterstate/web/page/${name}`, import.meta.url));
  return import(`data:text/javascript;base64,${source.toString("base64")}`);
}

/** A generator: random() is in 0..1, random(n) is a whole number below n. */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const share = state / 2 ** 32;
    return below === undefined ? share : Math.floor(share * below);
  };
}

/** An array of what `make` gives. */
export function times(count, make) {
  return Array.from({ length: count }, (_, index) => make(index));
}
