// Positions one after the other, with a way back and forward. A position is {ref: {game, rules, size}, text}.

function isSame(one, other) {
  return one !== undefined && one.text === other.text && ["game", "rules", "size"].every((key) => one.ref[key] === other.ref[key]);
}

export class Timeline {
  constructor() {
    this.list = [];
    this.at = -1;
  }

  get now() {
    return this.list[this.at];
  }

  get canGoBack() {
    return this.at > 0;
  }

  get canGoForward() {
    return this.at < this.list.length - 1;
  }

  /** Adds a position behind the current one -> {added, forgotten}: whether it is new, and how many later ones went.
   *
   * Nothing is added if it is the current one, or the next one, which is then the current one ("forward").
   */
  push(position) {
    if (isSame(this.now, position)) return { added: false, forgotten: 0 };
    if (isSame(this.list[this.at + 1], position)) {
      this.at += 1;
      return { added: false, forgotten: 0, forward: true };
    }
    const forgotten = this.list.length - this.at - 1;
    this.at += 1;
    this.list.splice(this.at, forgotten, position);
    return { added: true, forgotten };
  }

  /** Goes to the nearest such position, first back, then forward -> whether there is one. */
  goTo(position) {
    for (let distance = 0; distance < this.list.length; distance += 1) {
      const at = [this.at - distance, this.at + distance].find((index) => isSame(this.list[index], position));
      if (at !== undefined) {
        this.at = at;
        return true;
      }
    }
    return false;
  }
}
