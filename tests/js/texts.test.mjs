// The texts of the page: two languages with the same keys, each key used, and no text outside of them.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { load } from "./page.mjs";

const { texts: en } = await load("texts-en.js");
const { texts: zh } = await load("texts-zh.js");
const read = (name) => readFileSync(`${process.env.PAGE}/${name}`, "utf8");
const OWN = /^(texts-|docs)/; // the texts themselves, and the description of the API, which is in English
const MODULES = readdirSync(process.env.PAGE).filter((name) => name.endsWith(".js") && !OWN.test(name));
const HTML = read("index.html");
const FILES = new Set(["games.json", "games.txt"]); // look like keys

const flat = (texts) => Object.entries(texts).flatMap(([group, all]) =>
  Object.entries(all).map(([name, text]) => [`${group}.${name}`, text]));
const keys = flat(en).map(([key]) => key);

// --- string literals of a module

const QUOTED = /\/\/.*|\/\*[\s\S]*?\*\/|"((?:\\.|[^"\\])*)"|`/g;
const BEFORE_PATTERN = /(?:^|[=(,:;!&|?{}[\n]|return)\s*$/;

/** All strings of a source as {text, before}: the parts of a template one by one, comments and patterns left out. */
export function stringsOf(source) {
  const found = [];
  const plain = source.replaceAll(/\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g, (match, at) =>
    BEFORE_PATTERN.test(source.slice(Math.max(0, at - 30), at)) ? " ".repeat(match.length) : match);
  const scan = new RegExp(QUOTED);
  for (let match = scan.exec(plain); match; match = scan.exec(plain)) {
    const before = plain.slice(Math.max(0, match.index - 60), match.index);
    if (match[1] !== undefined) found.push({ text: match[1], before });
    if (match[0] === "`") scan.lastIndex = template(plain, match.index + 1, before, found);
  }
  return found;
}

/** Reads a template from its first character on -> where it ends; what stands in ${..} is scanned, too. */
function template(source, from, before, found) {
  let text = "";
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === "`") {
      found.push({ text, before });
      return at + 1;
    } else if (source.startsWith("${", at)) {
      const end = closing(source, at + 2);
      found.push(...stringsOf(source.slice(at + 2, end)));
      text += "${}";
      at = end;
    } else text += source[at];
  }
  throw new Error("a template has no end");
}

function closing(source, from) {
  for (let at = from, depth = 1; at < source.length; at += 1) {
    if (source[at] === "`") at = template(source, at + 1, "", []) - 1;
    else if (source[at] === "{") depth += 1;
    else if (source[at] === "}" && (depth -= 1) === 0) return at;
  }
  throw new Error("a ${ has no end");
}

const strings = new Map(MODULES.map((name) => [name, stringsOf(read(name))]));

// --- the two languages

test("both languages have the same keys in the same order", () => {
  assert.deepEqual(flat(zh).map(([key]) => key), keys);
  assert.equal(new Set(keys).size, keys.length);
});

test("both have the same places for values, and no text is empty", () => {
  const other = new Map(flat(zh));
  const places = (text) => text.match(/\{\w+\}/g)?.toSorted() ?? [];
  for (const [key, text] of flat(en)) {
    assert.deepEqual(places(other.get(key)), places(text), key);
    assert.ok(text.trim() && other.get(key).trim(), key);
  }
});

test("the Chinese is in traditional characters, and the English has none", () => {
  const simplified = /[们个这来时为说国会对学开关机长门问间见现觉观规则训练损运气选择数从动发过还进远连边让认识读谁请单号马鸟鱼龙买卖东车轮转输队阶阳阴页项顺须预领频题颜额风飞饭饮馆银钱错铁键键锁镜层届属岁币师帐带归当录彻径御忆忧怀态总恋恶悬惊惯愿戏战户扑执扩扫扬护报担拟拥拨挂换据]/u;
  for (const [key, text] of flat(zh)) assert.doesNotMatch(text, simplified, key);
  for (const [key, text] of flat(en)) if (key !== "app.other") assert.doesNotMatch(text, /\p{Script=Han}/u, key);
});

// --- keys

test("every key is used, and every key that is used exists", () => {
  const used = new Set([...HTML.matchAll(/data-t(?:label)?="([^"]+)"/g)].map(([, key]) => key));
  const groups = new Set();
  for (const { text } of [...strings.values()].flat()) {
    const made = /^(\w+)\.\$\{\}$/.exec(text)?.[1]; // such as `slide.${slide}`: any of its group
    if (made in en) groups.add(made);
    if (/^\w+\.\w+$/.test(text) && text.split(".")[0] in en && !FILES.has(text)) used.add(text);
  }
  for (const key of used) assert.ok(keys.includes(key), `there is no text ${key}`);
  const unused = keys.filter((key) => !used.has(key) && !groups.has(key.split(".")[0]));
  assert.deepEqual(unused, []);
  assert.deepEqual([...groups].toSorted(), ["slide", "status", "theme", "view"]);
});

test("every call of t names a key", () => {
  for (const [name, all] of strings) {
    for (const { text, before } of all) {
      if (/(?<![\w.])t\($/.test(before) && !text.includes("${}")) assert.ok(keys.includes(text), `${name}: t("${text}")`);
    }
  }
});

test("what the frame says before its script has run is the English", () => {
  const said = [...HTML.matchAll(/data-t="(\w+)\.(\w+)"[^>]*>([^<]*)</g)];
  assert.ok(said.length > 8);
  for (const [, group, name, text] of said) assert.equal(text, en[group][name]);
  assert.ok(HTML.includes(`content="${en.app.about}"`));
  assert.ok(HTML.includes(`aria-label="${en.app.views}" data-tlabel="app.views"`));
});

// --- no text outside

// What a string may be that has words in it and is not for people.
const PLACES = [
  /(class|classes|kind|mark|rel|easing|accept|EASE|FIELDS|CONTROLS|ORDER|name)"?\s*[:=]\s*$/, // names for style sheets and browsers
  /(class|kind|classes)"?\s*[:=][^,]*\?[^,]*$/,
  /(querySelector|querySelectorAll|closest|matches|matchMedia|addEventListener|setProperty|getContext|Event|\bon|svg)\($/,
  /(from|import\()\s*$/,
];
const FORMS = [
  /^(M|m)[\d$]/, // a path to draw
  /^(Arrow|Key)\w*$|^[A-Z]$/, // keys
  /^[GMk]B$/, // units
  /^translate\(/, // movements
];
const NAMES = new Set([
  "Escape", "Space", "Period", "Backspace", "Delete", "Home", "End", "Esc", "GET", "POST", "URDL", "AB", "A − B",
  "Afterstate ${}", "JSON", "afterstate games", "right points", "train-swatch chart-c${}", "next ${}",
]);

function isText({ text, before }) {
  if (!/[A-Za-z]{2,}[,:]?\s+([A-Za-z]{2,}|\$\{)|\} [a-z]{2,}|^[A-Z]|\p{Script=Han}/u.test(text.trim())) return false;
  return !NAMES.has(text) && !FORMS.some((form) => form.test(text)) && !PLACES.some((place) => place.test(before));
}

test("the scan finds texts, and only texts", () => {
  const found = (source) => stringsOf(source).filter(isText).map(({ text }) => text);
  assert.deepEqual(found('h("p", { class: "muted little" }, "Game over")'), ["Game over"]);
  assert.deepEqual(found("toast(`You have ${count(\"of them\")} points left`)"), ["of them", "You have ${} points left"]);
  assert.deepEqual(found('button("Stop", go)'), ["Stop"]);
  assert.deepEqual(found('label("盤面")'), ["盤面"]);
  assert.deepEqual(found("say(`${count} moves`, `score ${score}`)"), ["${} moves", "score ${}"]);
  assert.deepEqual(found('// "Not this one"\nconst a = /"/; t("play.over")'), []);
});

test("no module has a text of its own", () => {
  const found = [...strings].flatMap(([name, all]) => all.filter(isText).map(({ text }) => `${name}: ${text}`));
  assert.deepEqual(found, []);
});
