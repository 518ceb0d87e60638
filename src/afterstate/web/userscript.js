// ==UserScript==
// @name         Afterstate plays 2048
// @description  Lets the model of your own Afterstate server play the 2048 page.
// @match        @@SITE@@/*
// @grant        none
// ==/UserScript==

// The server has filled in its address and a key that opens nothing but the question for a move.
(() => {
  "use strict";

  const SERVER = "@@SERVER@@";
  const KEY = "@@KEY@@";
  const DEPTH = 3; // slides to look ahead
  const LONGEST = 2000; // milliseconds until a slide must be seen on the board
  const CODES = { up: 38, right: 39, down: 40, left: 37 };
  const NAMES = { up: "ArrowUp", right: "ArrowRight", down: "ArrowDown", left: "ArrowLeft" };

  const button = document.createElement("button");
  let playing = false;

  /** The board as text: "2 4 0 0 / ...". While tiles merge a cell holds several; the largest is the new one. */
  function readBoard() {
    const cells = new Array(16).fill(0);
    for (const tile of document.querySelectorAll(".tile-container .tile")) {
      const place = /tile-position-(\d)-(\d)/.exec(tile.className); // column, then row, from 1
      const value = /(?:^|\s)tile-(\d+)(?:\s|$)/.exec(tile.className);
      if (!place || !value) continue;
      const cell = 4 * (Number(place[2]) - 1) + Number(place[1]) - 1;
      cells[cell] = Math.max(cells[cell], Number(value[1]));
    }
    return [0, 4, 8, 12].map((row) => cells.slice(row, row + 4).join(" ")).join(" / ");
  }

  async function ask(board) {
    const headers = { "content-type": "application/json" };
    if (KEY) headers.authorization = `Bearer ${KEY}`;
    const body = JSON.stringify({ board, depth: DEPTH });
    const answer = await fetch(`${SERVER}/api/move`, { method: "POST", headers, body });
    const content = await answer.json();
    if (!answer.ok) throw new Error(content.error);
    return content.move;
  }

  function press(slide) {
    for (const type of ["keydown", "keyup"]) {
      const event = new KeyboardEvent(type, { key: NAMES[slide], code: NAMES[slide], bubbles: true, cancelable: true });
      // older pages look at these
      for (const name of ["which", "keyCode"]) Object.defineProperty(event, name, { value: CODES[slide] });
      document.body.dispatchEvent(event);
    }
  }

  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  /** Waits until the board differs from `before` and stands still: the page draws a slide and its new tile frame by frame. */
  async function settled(before) {
    const end = performance.now() + LONGEST;
    let last = readBoard();
    for (let still = 0; still < 3; ) {
      if (performance.now() > end) throw new Error("the page does not react to the keys");
      await frame();
      const now = readBoard();
      still = now !== before && now === last ? still + 1 : 0;
      last = now;
    }
  }

  async function play() {
    while (playing) {
      document.querySelector(".game-message.game-won .keep-playing-button")?.click();
      const board = readBoard();
      const move = await ask(board);
      if (!playing) return;
      if (!move) return stop("The game is over.");
      press(move);
      await settled(board);
    }
  }

  function stop(why = "") {
    playing = false;
    button.textContent = "Afterstate: play";
    button.title = why;
    button.dataset.why = why;
  }

  button.type = "button";
  button.id = "afterstate";
  button.style.cssText = "position: fixed; right: 1rem; bottom: 1rem; z-index: 1000; padding: .6rem 1rem; font: inherit";
  button.addEventListener("click", () => {
    button.blur(); // keys belong to the game
    if (playing) return stop();
    playing = true;
    button.textContent = "Afterstate: stop";
    play().catch((error) => {
      stop(error.message);
      button.textContent = `Afterstate: ${error.message}`;
    });
  });
  stop();
  document.body.append(button);
})();
