// How fast a watched game is shown, and what watched games add up to.

const FASTEST = 2_000; // moves a second, below "as fast as possible"
const GAME_MS = 4_000; // about how long a whole game is shown at full speed
const BEHIND_MS = 250; // how far the display stays behind a model that needs longer
const FRAME_MS = 1_000 / 60;

/** Moves a second for a slider from 0 to 1; Infinity is as fast as possible. */
export function speedOf(slider) {
  return slider >= 1 ? Infinity : 10 ** (slider * Math.log10(FASTEST));
}

/** How many moves to show in the next `span` ms at full speed: `left` are known, `elapsed` ms of the game are over.
 *
 * A game of a fast model takes about four seconds, and a slow model is shown as it plays. One move a frame is the least.
 */
export function movesAtFullSpeed({ left, elapsed, span }) {
  const remaining = Math.max(GAME_MS - elapsed, BEHIND_MS);
  return Math.min(left, Math.max((left * span) / remaining, span / FRAME_MS));
}

/** Games that were watched: how many, their mean, the best, and the share that reached each tile. */
export class Tally {
  constructor() {
    this.scores = [];
    this.tiles = [];
  }

  add({ score, largest }) {
    this.scores.push(score);
    this.tiles.push(largest);
  }

  get games() {
    return this.scores.length;
  }

  get mean() {
    return this.games ? this.scores.reduce((sum, score) => sum + score, 0) / this.games : null;
  }

  get best() {
    return this.games ? Math.max(...this.scores) : null;
  }

  /** The largest tiles that were reached, with the share of games that reached them: [[2048, 0.5], [1024, 1]]. */
  reached(most = 3) {
    const faces = [...new Set(this.tiles)].sort((one, other) => other - one).slice(0, most);
    return faces.map((face) => [face, this.tiles.filter((tile) => tile >= face).length / this.games]);
  }
}
