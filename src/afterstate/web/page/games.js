// What the server says about its games. A reference {game, rules, size} names a game on a board.

/** Facts of a game by its name: {game, title, rules, faces}, or undefined if the server does not have it. */
export function gameFacts(app, game) {
  return app.about.games.find((one) => one.game === game);
}

/** The rule set of a reference; the game's first if it has no such rules. */
export function rulesOf(app, { game, rules }) {
  const every = gameFacts(app, game).rules;
  return every.find((one) => one.name === rules) ?? every[0];
}

/** The board of a reference: {size, firsts, goal, example}; the largest one if there is no such size. */
export function boardOf(app, ref) {
  const { sizes } = rulesOf(app, ref);
  return sizes.find((one) => one.size === ref.size) ?? sizes.at(-1);
}

/** The closest reference that the server has; if need be the first game, its first rules, their largest board. */
export function fitRef(app, ref) {
  const { game } = gameFacts(app, ref?.game) ?? app.about.games[0];
  const near = { ...ref, game };
  return { game, rules: rulesOf(app, near).name, size: boardOf(app, near).size };
}

/** Whether the server has this game, with these rules, on this board. */
export function isKnown(app, ref) {
  const fitting = fitRef(app, ref);
  return ["game", "rules", "size"].every((key) => ref?.[key] === fitting[key]);
}

/** Options of a select for the rule sets of a game. */
export function ruleOptions(app, ref) {
  return gameFacts(app, ref.game).rules.map(({ name }) => [name, name]);
}

/** Options of a select for the boards of a rule set. */
export function sizeOptions(app, ref) {
  return rulesOf(app, ref).sizes.map(({ size }) => [size, size.replace("x", " × ")]);
}

/** "2048", "Threes! tcg2022", "2048, 3x3": rules if there are several, the size if it is not the largest. */
export function gameName(app, { game, rules, size }) {
  const facts = gameFacts(app, game);
  if (!facts) return game;
  const name = facts.rules.length > 1 ? `${facts.title} ${rules}` : facts.title;
  return size && size !== rulesOf(app, { game, rules }).sizes.at(-1).size ? `${name}, ${size}` : name;
}
