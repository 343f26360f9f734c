// Calls the operations of the service that this page comes from.

/** The page's files are one level below the service's own path. */
const SERVICE = new URL("..", import.meta.url);
const CREDENTIAL = "tessera.credential";

/** Kept for this tab only, and until it is closed. */
export const session = {
  get credential() {
    return sessionStorage.getItem(CREDENTIAL);
  },
  /** @param {string} credential */
  open(credential) {
    sessionStorage.setItem(CREDENTIAL, credential);
  },
  close() {
    sessionStorage.removeItem(CREDENTIAL);
  },
};

/** A problem document, as an error. */
export class ProblemError extends Error {
  /** @param {number} status @param {any} problem */
  constructor(status, problem) {
    const named = (problem?.errors ?? []).map((/** @type {any} */ e) => `${e.field} ${e.message}`);
    super([problem?.detail ?? `The service answered ${status}.`, ...named].join(" "));
    this.status = status;
  }
}

/**
 * Sends a request with the credential of the tab. `path` is relative to the service, or a link of an
 * answer. Throws a ProblemError.
 *
 * @param {string} path
 * @param {{ method?: string, body?: unknown, credential?: string | null, signal?: AbortSignal }} options
 */
export async function call(path, { method = "GET", body, credential, signal } = {}) {
  const startedAt = performance.now();
  const response = await fetch(new URL(path, SERVICE), {
    method,
    credentials: "omit",
    cache: "no-store",
    headers: {
      authorization: `Bearer ${credential ?? session.credential}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  const ms = performance.now() - startedAt;
  const isJson = /[/+]json/.test(response.headers.get("content-type") ?? "");
  const answer = isJson && text !== "" ? JSON.parse(text) : undefined;
  if (!response.ok) throw new ProblemError(response.status, answer);
  return { body: answer, headers: response.headers, ms };
}

/** The metrics of the process, as text. @param {AbortSignal} signal */
export async function fetchMetrics(signal) {
  const response = await fetch(new URL("metrics", SERVICE), { signal, credentials: "omit" });
  if (!response.ok) throw new Error(`The metrics are not available here (${response.status}).`);
  return await response.text();
}

/** The path of a project, or of something below it. @param {string[]} parts */
export function projectPath(...parts) {
  return ["projects", ...parts.map(encodeURIComponent)].join("/");
}

/** The caller's projects; none if the credential may not list them. @returns {Promise<any[]>} */
export async function listProjects() {
  try {
    return (await call("projects?limit=100")).body.data;
  } catch (error) {
    if (error instanceof ProblemError && error.status === 403) return [];
    throw error;
  }
}
