// What survives a reload: the current game and the settings. Each tab has its own game; a new tab begins with the last one.

const memory = new Map();

function read(key) {
  try {
    return localStorage.getItem(`afterstate.${key}`);
  } catch {
    return memory.get(key) ?? null;
  }
}

function write(key, value) {
  memory.set(key, value);
  try {
    localStorage.setItem(`afterstate.${key}`, value);
  } catch {
    // Storage is full or forbidden: the page works without it.
  }
}

function ownGame(value) {
  try {
    if (value !== undefined) sessionStorage.setItem("afterstate.game", value);
    return sessionStorage.getItem("afterstate.game");
  } catch {
    return null;
  }
}

function objectOf(text) {
  try {
    const value = JSON.parse(text ?? "null");
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function readObject(key) {
  return objectOf(read(key));
}

/** An object that a part of the page keeps, by its name; null if there is none. */
export const loadObject = readObject;

/** Keeps an object under a name. */
export function saveObject(key, value) {
  write(key, JSON.stringify(value));
}

const DEFAULTS = {
  models: {},
  look: "depth:1",
  hints: false,
  goOn: false,
  choose: false,
  speed: 0.18,
  last: null,
  analysed: null,
  language: null,
};

const settings = { ...DEFAULTS, ...readObject("settings") };

/** A setting by its name, one of DEFAULTS. */
export function setting(name) {
  return settings[name];
}

/** Saves a setting. */
export function keep(name, value) {
  settings[name] = value;
  write("settings", JSON.stringify(settings));
}

/** The look-ahead of the whole page, as fields of a request: {depth} or {move_time}. */
export function lookAhead() {
  const [kind, value] = settings.look.split(":");
  return kind === "time" ? { move_time: Number(value) / 1000 } : { depth: Number(value) };
}

let isShown = () => true;

/** Ignores a saved game that fails `test`, such as a game that the server does not have. */
export function showGamesIf(test) {
  isShown = test;
}

function isWhole(game) {
  return game && typeof game.moves === "string" && game.position && typeof game.rng === "string" && isShown(game);
}

/** This tab's game: {game, rules, size, seed, start, moves, position, rng, rewards, score, kept} or null. */
export function loadGame() {
  return [objectOf(ownGame()), readObject("game")].find(isWhole) ?? null;
}

/** Saves the game of this tab. */
export function saveGame(game) {
  const text = JSON.stringify(game);
  ownGame(text);
  write("game", text);
}

/** "auto", "light" or "dark". */
export function loadTheme() {
  const theme = read("theme");
  return theme === "light" || theme === "dark" ? theme : "auto";
}

/** Saves the theme and shows it. */
export function applyTheme(theme) {
  write("theme", theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
