// Requests to the server, and whether it can be reached.

import { t } from "./texts.js";

/** A failed request: `status` is the status of the answer, 0 if there was none. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

const CANCELLED = -1;
const TIMEOUT = 120_000;
const LONGEST_WAIT = 5_000;

function cancelled() {
  return new ApiError(CANCELLED, "cancelled");
}

/** Whether a request failed because it was cancelled. */
export function isCancelled(error) {
  return error.status === CANCELLED;
}

/** Sends the events "away", "locked" (it answers, but wants another token) and "back". */
export const connection = new EventTarget();
let returned = null;

/** Resolves when the server answers again; at once if it can be reached. */
export function whenBack() {
  return returned ?? Promise.resolve();
}

function goAway() {
  if (returned) return;
  connection.dispatchEvent(new Event("away"));
  returned = waitForServer().then(() => {
    returned = null;
    connection.dispatchEvent(new Event("back"));
  });
}

async function waitForServer() {
  for (let wait = 250; ; wait = Math.min(wait * 1.7, LONGEST_WAIT)) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      const answer = await fetch("/api/about", { signal: AbortSignal.timeout(LONGEST_WAIT) });
      if (answer.ok) return;
      if (answer.status === 401) connection.dispatchEvent(new Event("locked"));
    } catch {
      // Still away: try again after a longer wait.
    }
  }
}

async function send(method, path, body, signal) {
  const timeout = AbortSignal.timeout(TIMEOUT);
  const options = { method, signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
  if (body !== undefined) {
    options.headers = { "content-type": "application/json" };
    options.body = JSON.stringify(body);
  }
  try {
    const answer = await fetch(path, options);
    if (answer.status === 401) throw new Error("token");
    return { status: answer.status, ok: answer.ok, text: await answer.text() };
  } catch {
    if (signal?.aborted) throw cancelled();
    goAway();
    throw new ApiError(0, t("app.away"));
  }
}

async function request(method, path, body, signal) {
  const answer = await send(method, path, body, signal);
  let content = null;
  try {
    content = JSON.parse(answer.text);
  } catch {
    throw new ApiError(answer.status || 500, t("app.nojson", { status: answer.status }));
  }
  if (!answer.ok) throw new ApiError(answer.status, content.error ?? t("app.failed", { status: answer.status }));
  return content;
}

/** Repeats a request until the server can be reached, or until `signal` ends the wait. */
export async function persist(attempt, signal) {
  const ended = new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(cancelled()), { once: true });
  });
  ended.catch(() => undefined);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error.status !== 0) throw error;
      await Promise.race([whenBack(), ended]);
    }
  }
}

export const api = {
  get: (path) => request("GET", path),
  post: (path, body = {}, signal = null) => request("POST", path, body, signal),
};
