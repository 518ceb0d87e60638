// The texts of the page in the language that is chosen: by the switch in the header, or else by the browser.

import { keep, setting } from "./store.js";

// A visitor loads the texts of one language.
const TEXTS = { en: () => import("./texts-en.js"), "zh-Hant": () => import("./texts-zh.js") };

// The first language of the browser that the page has; English if it has none of them.
function wanted(languages) {
  const known = languages.find((one) => /^(en|zh)\b/i.test(one)) ?? "en";
  return /^zh/i.test(known) ? "zh-Hant" : "en";
}

let chosen = TEXTS[setting("language")] ? setting("language") : wanted(globalThis.navigator?.languages ?? []);
let { texts } = await TEXTS[chosen]();

/** "en" or "zh-Hant". */
export function language() {
  return chosen;
}

/** The one that the switch offers. */
export function otherLanguage() {
  return chosen === "en" ? "zh-Hant" : "en";
}

/** Changes the language and keeps the choice; what is on the screen must be written anew. Fails if there is no server. */
export async function setLanguage(name) {
  ({ texts } = await TEXTS[name]());
  chosen = name;
  keep("language", name);
}

/** The text with a key such as "play.over"; `values` fill its {places}. */
export function t(key, values = {}) {
  const [group, name] = key.split(".");
  return texts[group][name].replaceAll(/\{(\w+)\}/g, (_, place) => values[place]);
}

/** The name of a slide, "up", "right", "down" or "left". */
export function way(slide) {
  return t(`slide.${slide}`);
}

/** A word at the beginning of a sentence. */
export function capital(word) {
  return word[0].toUpperCase() + word.slice(1);
}

/** That a slide is not possible. */
export function refused(slide) {
  return t("slide.refused", { slide: capital(way(slide)) });
}
