// Games as files: JSON of the list, lines of an episode file, a board as a picture; and back again.

import { persist } from "./api.js";
import { Board, shapeOf } from "./board.js";
import { h } from "./dom.js";
import { readEpisodes, guessRecord } from "./episodes.js";
import { isKnown } from "./games.js";
import { fitMarks } from "./marks.js";
import { t } from "./texts.js";

const LARGEST = 20_000_000;
const MOST = 300;
const SIDE = 1024;

/** Lets the browser save a file. */
export function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A name for a file: "2048-4x4-12345.png". */
export function fileName({ game, size, score }, ending) {
  return `${game}-${size}-${score}.${ending}`;
}

/** The list as JSON. */
export function jsonOf(games) {
  const plain = games.map(({ id, ...game }) => game);
  return `${JSON.stringify({ format: "afterstate games", version: 1, games: plain }, null, 1)}\n`;
}

/** One line of an episode file. */
export async function episodeOf(app, { game, rules, size, seed, moves, episode, begun, ended }) {
  if (episode !== undefined) return episode;
  const request = { game, rules, size, seed, moves, began: begun, ended };
  return (await persist(() => app.api.post("/api/episode", request))).episode;
}

/** The final board as a PNG, in the colours of the page. */
export async function pictureOf(app, { game, size, tiles }) {
  const board = new Board({ ...shapeOf(size), faces: app.faces(game), game, size: SIDE / 2 });
  board.set(tiles);
  board.element.classList.add("picture");
  document.body.append(board.element);
  try {
    return await drawn(board.element);
  } finally {
    board.element.remove();
  }
}

function drawn(element) {
  const box = element.getBoundingClientRect();
  const scale = SIDE / box.width;
  const canvas = h("canvas", { width: SIDE, height: Math.round(box.height * scale) });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.translate(-box.left, -box.top);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const part of element.querySelectorAll(".board-cells, .cell, .tile")) paint(pen, part);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function paint(pen, part) {
  const style = getComputedStyle(part), box = part.getBoundingClientRect();
  if (style.visibility === "hidden") return;
  pen.fillStyle = style.backgroundColor;
  pen.beginPath();
  pen.roundRect(box.left, box.top, box.width, box.height, parseFloat(style.borderTopLeftRadius) || 0);
  pen.fill();
  if (!part.matches(".tile") || !part.textContent) return;
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  pen.fillStyle = style.color;
  pen.fillText(part.textContent, box.left + box.width / 2, box.top + box.height / 2 + box.height * 0.02);
}

/** Reads a file of games: JSON of this page, or an episode file -> entries for the list; throws an Error for people. */
export async function readGames(app, file) {
  if (file.size > LARGEST) throw new Error(t("file.larger", { name: file.name }));
  const text = await file.text();
  const rows = text.trimStart().startsWith("{") ? readJson(file.name, text) : await readLines(app, file);
  if (rows.length > MOST) throw new Error(t("file.many", { name: file.name, n: rows.length, most: MOST }));
  const entries = [];
  for (const [at, row] of rows.entries()) entries.push(await check(app, row, t("file.game", { name: file.name, n: at + 1 })));
  return entries;
}

function readJson(name, text) {
  let content = null;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error(t("file.nojson", { name }));
  }
  const isList = content.format === "afterstate games" && Array.isArray(content.games);
  if (!isList) throw new Error(t("file.nolist", { name }));
  return content.games;
}

async function readLines(app, file) {
  const games = await readEpisodes(file);
  const ref = guessRecord(games[0], app);
  return games.map(({ slider, text }) => ({ ...ref, slider, episode: text }));
}

// The server plays every game again, so that a score in the list is true.
async function check(app, row, where) {
  if (!isKnown(app, row)) throw new Error(t("file.unknown", { where, game: row?.game, size: row?.size }));
  const number = (value) => (Number.isFinite(value) && value >= 0 ? value : undefined);
  const ref = { game: row.game, rules: row.rules, size: row.size };
  const times = { begun: number(row.begun) ?? 0, ended: number(row.ended) ?? Date.now(), accuracy: number(row.accuracy) };
  try {
    return { ...times, ...(await (typeof row.episode === "string" ? checkEpisode(app, ref, row) : checkMoves(app, ref, row))) };
  } catch (problem) {
    throw new Error(`${where}: ${problem.message}`, { cause: problem });
  }
}

async function checkEpisode(app, ref, { episode }) {
  const found = await persist(() => app.api.post("/api/episode", { ...ref, episode }));
  const { score, largest, tiles, over, slider, moves } = found;
  const facts = { slider, plies: moves.length, marks: "", score, largest, tiles, over };
  return { id: `e-${hash(episode)}`, ...ref, episode: found.episode, ...facts };
}

async function checkMoves(app, ref, { seed, moves, start, marks, begun }) {
  const from = typeof start === "string" ? { start } : {};
  const { position, score } = await persist(() => app.api.post("/api/replay", { ...ref, seed, moves, ...from }));
  const { largest, tiles, over } = position;
  const id = `${(Number(begun) || 0).toString(36)}-${seed.toString(36)}`;
  return { id, ...ref, seed, ...from, moves, marks: fitMarks(String(marks ?? ""), moves.length), score, largest, tiles, over };
}

function hash(text) {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return `${text.length.toString(36)}-${(sum >>> 0).toString(36)}`;
}
