// Requests to the server, and whether it can be reached.

/** A failed request: `status` is the status of the answer, 0 if there was none. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

const TIMEOUT = 120_000;
const LONGEST_WAIT = 5_000;

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

async function send(method, path, body) {
  const options = { method, signal: AbortSignal.timeout(TIMEOUT) };
  if (body !== undefined) {
    options.headers = { "content-type": "application/json" };
    options.body = JSON.stringify(body);
  }
  try {
    const answer = await fetch(path, options);
    if (answer.status === 401) throw new Error("The token is another one.");
    return { status: answer.status, ok: answer.ok, text: await answer.text() };
  } catch {
    goAway();
    throw new ApiError(0, "The server is not reachable.");
  }
}

async function request(method, path, body) {
  const answer = await send(method, path, body);
  let content = null;
  try {
    content = JSON.parse(answer.text);
  } catch {
    throw new ApiError(answer.status || 500, `The server's answer is not JSON (${answer.status}).`);
  }
  if (!answer.ok) throw new ApiError(answer.status, content.error ?? `The request failed (${answer.status}).`);
  return content;
}

/** Repeats a request until the server can be reached. */
export async function persist(attempt) {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error.status !== 0) throw error;
      await whenBack();
    }
  }
}

export const api = {
  get: (path) => request("GET", path),
  post: (path, body = {}) => request("POST", path, body),
};
