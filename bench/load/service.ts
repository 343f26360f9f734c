import { CommandError } from "../../src/cli/command-error.ts";
import { addressOf } from "../../src/cli/service.ts";
import { abbreviate } from "../../src/domain/abbreviate.ts";
import { loadConfig } from "../../src/ops/config/load.ts";

/** Where searches go, and with which credential. */
export interface ServiceOptions {
  readonly url: string;
  readonly project: string;
  readonly environment: string;
  /** Searches go to this release instead of the environment. */
  readonly release?: string | undefined;
  readonly key: string;
}

interface Call {
  readonly body?: string | ReadableStream<Uint8Array>;
  readonly type?: string;
}

/** The answer to a call that failed, as far as it is a problem document. */
interface ProblemBody {
  readonly detail?: string;
  readonly title?: string;
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: "name a valid key with --key or TESSERA_API_KEY; `./tessera keys create` makes one",
  403: "use a key whose scopes and role allow it",
  404: "check --project, --environment and --release; the key's user must be a member of the project",
};

const RETRIES_MAX = 20;

/** One project of a running service, as a load tester sees it: over HTTP only. */
export class Service {
  readonly url: URL;

  constructor(readonly options: ServiceOptions) {
    this.url = new URL(options.url.replace(/\/+$/, ""));
  }

  /** The path of searches, with the base path of the service. */
  get searchPath(): string {
    const { environment, release } = this.options;
    const scope =
      release === undefined
        ? `environments/${encodeURIComponent(environment)}`
        : `releases/${encodeURIComponent(release)}`;
    return this.pathOf(`${scope}/search`);
  }

  /** Calls an operation below the project; throws a CommandError that names the remedy. */
  async call<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const response = await this.fetch(method, this.pathOf(path), call);
    if (!response.ok) throw await failure(`${method} ${path}`, response);
    return (await response.json()) as T;
  }

  /** True when the caller sees the project. */
  async exists(): Promise<boolean> {
    const response = await this.fetch("GET", this.pathOf(""));
    if (response.ok || response.status === 404) return response.ok;
    throw await failure("reading the project", response);
  }

  /** Creates the project with its environment `production`. */
  async create(): Promise<void> {
    const { project } = this.options;
    const body = JSON.stringify({ name: project, slug: project });
    const response = await this.fetch("POST", `${this.#base()}/projects`, { body });
    if (!response.ok) throw await failure(`creating the project ${project}`, response);
  }

  /** A search whose answer and headers are read; waits while the service is overloaded. */
  async search(body: string, query = ""): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const response = await this.fetch("POST", `${this.searchPath}${query}`, { body });
      if (response.ok) return response;
      if (response.status !== 503 || attempt === RETRIES_MAX)
        throw await failure("a search", response);
      await Bun.sleep(1_000 * Number(response.headers.get("retry-after") ?? 1));
    }
  }

  /** The text of /metrics, or undefined where it cannot be read. */
  async metrics(): Promise<string | undefined> {
    const response = await fetch(new URL(`${this.#base()}/metrics`, this.url)).catch(
      () => undefined,
    );
    return response?.ok ? await response.text() : undefined;
  }

  async fetch(method: string, path: string, { body, type }: Call = {}): Promise<Response> {
    const headers: Record<string, string> = { "x-api-key": this.options.key };
    if (body !== undefined) headers["content-type"] = type ?? "application/json";
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    return await fetch(new URL(path, this.url), init).catch((error: Error) => {
      throw new CommandError(
        `${this.url.origin} does not answer (${error.message}): start the service, or name its address with --url`,
      );
    });
  }

  #base(): string {
    return this.url.pathname.replace(/\/+$/, "");
  }

  /** The path of an operation below the project, with the base path of the service. */
  pathOf(path: string): string {
    const project = `${this.#base()}/projects/${encodeURIComponent(this.options.project)}`;
    return path === "" ? project : `${project}/${path}`;
  }
}

/** The options that choose a running service and what is searched there. */
export interface ServiceChoice {
  readonly url?: string;
  readonly project: string;
  readonly environment: string;
  readonly release?: string;
  readonly key?: string;
}

/** The service of these options; throws a CommandError without a key. */
export function openService({ url, key, project, environment, release }: ServiceChoice): Service {
  const config = loadConfig();
  const ownKey = key ?? config.apiKey;
  if (ownKey === undefined) {
    throw new CommandError(
      "searches need a key: --key or TESSERA_API_KEY; `./tessera keys create --project` makes one, and `bench load --start` needs none",
    );
  }
  const address = addressOf(config, { url });
  return new Service({ project, environment, release, key: ownKey, url: address });
}

async function failure(what: string, response: Response): Promise<CommandError> {
  const problem = (await response.json().catch(() => ({}))) as ProblemBody;
  const detail = abbreviate(problem.detail ?? problem.title ?? "no detail");
  const remedy = REMEDIES[response.status];
  return new CommandError(
    `${what} was answered ${response.status}: ${detail}${remedy === undefined ? "" : `\n${remedy}`}`,
  );
}
