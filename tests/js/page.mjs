// What the tests of the page's modules share: the modules themselves, and numbers that are random but the same in every run.

import { pathToFileURL } from "node:url";

/** A module of the page, from a copy of the page in a folder that says that its files are modules. */
export async function load(name) {
  return import(pathToFileURL(`${process.env.PAGE}/${name}`));
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
