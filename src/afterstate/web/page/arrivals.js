// What an address of Play asks for: a game of a link, a model to watch, or a board to play from. Nobody's game is replaced
// without a question.

import { gameName, isKnown } from "./games.js";
import { readAnalyse, readLink } from "./links.js";
import { t } from "./texts.js";

/** Does what the route {name, rest} asks for: "#replay/..", "#play/MODEL" or "#play=GAME/RULES/SIZE/BOARD". */
export function arrive(view, { name, rest }) {
  if (name === "replay") return offerLink(view, rest);
  history.replaceState(null, "", "#play");
  const board = readAnalyse(rest);
  if (board?.ref) return isKnown(view.app, board.ref) ? offerBoard(view, board) : undefined;
  return offerModel(view, rest);
}

function offerLink(view, rest) {
  let game = null;
  try {
    game = readLink(rest);
  } catch (error) {
    view.app.toast(error.message, "error");
    history.replaceState(null, "", "#play");
    return;
  }
  const { state, inProgress } = view.session;
  const same = ["seed", "game", "start"].every((key) => state?.[key] === game[key]) && game.moves.startsWith(state.moves);
  const words = t("play.link", { name: gameName(view.app, game), count: game.moves.length });
  if (same || !inProgress) view.openLink(game);
  else view.status.question(words, t("play.showit"), () => view.openLink(game), () => view.endReplay());
}

function offerBoard(view, { ref, text }) {
  const begin = () => view.playFrom(ref, text);
  if (!view.session.inProgress) begin();
  else view.status.question(t("play.fromboard"), t("view.play"), begin, () => view.endReplay());
}

function offerModel(view, id) {
  const model = view.app.models().find((one) => one.id === id);
  if (!model) return;
  view.app.chooseModel(id);
  const begin = () => view.watchModel(model);
  const words = t("play.formodel", { name: model.name });
  if (!view.session.inProgress) begin();
  else view.status.question(words, t("word.start"), begin, () => view.endReplay());
}
