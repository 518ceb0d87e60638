// Links into the page: a game as its seed and two bits for each move, and a position to analyse.

import { t } from "./texts.js";

const ORDER = "URDL";

function damaged(why) {
  return new Error(t("link.damaged", { why: t(why) }));
}

function bytesOfCount(count) {
  const bytes = [];
  let rest = count;
  while (rest >= 128) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

/** Moves such as "URDL" as base64url: a varint count, then four moves a byte. */
export function packMoves(moves) {
  const head = bytesOfCount(moves.length);
  const bytes = new Uint8Array(head.length + Math.ceil(moves.length / 4));
  bytes.set(head);
  for (let at = 0; at < moves.length; at += 1) {
    bytes[head.length + (at >> 2)] |= ORDER.indexOf(moves[at]) << (2 * (at & 3));
  }
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(packed) {
  try {
    const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  } catch {
    throw damaged("link.moves");
  }
}

/** The moves in a link; throws an Error with a readable message. */
export function unpackMoves(packed) {
  const bytes = bytesOf(packed);
  let count = 0;
  let head = 0;
  for (let scale = 1; ; scale *= 128) {
    if (head >= bytes.length || head > 4) throw damaged("link.count");
    const byte = bytes[head];
    head += 1;
    count += (byte & 127) * scale;
    if (byte < 128) break;
  }
  if (bytes.length !== head + Math.ceil(count / 4)) throw damaged("link.missing");
  const moves = new Array(count);
  for (let at = 0; at < count; at += 1) moves[at] = ORDER[(bytes[head + (at >> 2)] >> (2 * (at & 3))) & 3];
  return moves.join("");
}

// Where a game of a link begins if it is not the first state of its seed: a sixth part.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    throw damaged("link.percent");
  }
}

/** A link that opens this game in Play. */
export function gameLink({ game, rules, size, seed, moves, start }) {
  const parts = [game, rules, size, seed, packMoves(moves), ...(start ? [encodeURIComponent(start)] : [])];
  return `${location.origin}/#replay/${parts.join("/")}`;
}

/** Reads what follows "#replay/" -> {game, rules, size, seed, moves, start}; throws an Error with a readable message. */
export function readLink(rest) {
  const parts = rest.split("/").map(decoded);
  if (parts.length < 5 || parts.length > 6) throw damaged("link.parts");
  const [game, rules, size, seed, packed, start] = parts;
  if (!/^\d{1,16}$/.test(seed)) throw damaged("link.seed");
  if (!Number.isSafeInteger(Number(seed))) throw damaged("link.large");
  const found = { game, rules, size, seed: Number(seed), moves: unpackMoves(packed) };
  return start ? { ...found, start } : found;
}

/** Whether only this machine can open a link to this page. */
export function isLocal() {
  return /^(localhost|127\..*|\[::1\])$/.test(location.hostname);
}

/** The hash that opens Analyse with a position: `text` is the state as boards are written. Use it with app.go(). */
export function analyseHash({ game, rules, size }, text) {
  return `analyse=${[game, rules, size, text].map(encodeURIComponent).join("/")}`;
}

/** Reads what follows "#analyse=" -> {ref, text}; ref is null if there is only a text; null if it cannot be read. */
export function readAnalyse(rest) {
  try {
    const parts = rest.split("/").map(decodeURIComponent);
    if (parts.length !== 4) return rest ? { ref: null, text: decodeURIComponent(rest) } : null;
    const [game, rules, size, text] = parts;
    return /[\s|]/.test(game) ? { ref: null, text: parts.join("/") } : { ref: { game, rules, size }, text };
  } catch {
    return null;
  }
}
