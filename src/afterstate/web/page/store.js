// What survives a reload: the current game and the settings.

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

function readObject(key) {
  try {
    const value = JSON.parse(read(key) ?? "null");
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
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
  speed: 0.18,
  last: null,
};

const settings = { ...DEFAULTS, ...readObject("settings") };

/** A setting: "models", "look", "hints", "speed", "last". */
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

/** The current game: {game, rules, size, seed, moves, position, rng, rewards, score, kept} or null. */
export function loadGame() {
  const game = readObject("game");
  const whole = game && typeof game.moves === "string" && game.position && typeof game.rng === "string";
  return whole && isShown(game) ? game : null;
}

/** Saves the current game. */
export function saveGame(game) {
  write("game", JSON.stringify(game));
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
