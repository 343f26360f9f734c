/** Clients that change projects of their own, and what must be in the database after each of their changes. */
import type { TestServer } from "../../../support/processes/process.ts";
import { Random } from "../../../support/random.ts";
import { until } from "../../../support/until.ts";

/** Each of them waits for one answer before the next change. */
const CUSTOMERS = 3;
const PATHS = 8;
const IMPORTED = 6;
const TEXT_MAX_WORDS = 400;
/** The header of an answer that names the change. */
export const ACKNOWLEDGEMENT = /x-request-id: power-(\d+)\r/i;

/** Contents by path. */
type Files = ReadonlyMap<string, string>;

interface Project {
  readonly working: Files;
  readonly releases: ReadonlyMap<string, Files>;
}

/** Projects by slug. */
type State = ReadonlyMap<string, Project>;

interface Step {
  readonly number: number;
  readonly after: State;
}

interface Change {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
  readonly after: State;
}

const EMPTY: Project = { working: new Map(), releases: new Map() };
const json = (value: unknown) => ({ type: "application/json", body: JSON.stringify(value) });
const without = <V>(map: ReadonlyMap<string, V>, key: string) =>
  new Map([...map].filter(([each]) => each !== key));

class Customer {
  readonly steps: Step[] = [];
  #state: State = new Map();
  #count = 0;
  #releases = 0;

  constructor(
    private readonly name: string,
    private readonly random: Random,
  ) {}

  /** Sends one change and notes its outcome. Throws unless it succeeds. */
  async change(url: string, key: string, number: number): Promise<void> {
    const { method, path, type, body, after } = this.#next();
    const headers = {
      "x-api-key": key,
      "x-request-id": `power-${number}`,
      ...(type === undefined ? {} : { "content-type": type }),
    };
    this.steps.push({ number, after });
    this.#state = after;
    await until(`${method} ${path} is answered`, async () => {
      const response = await fetch(url + path, { method, headers, ...(body ? { body } : {}) });
      const text = await response.text();
      // Imports of one user take turns.
      if (response.status === 503) return false;
      const isWhole = type !== "application/x-ndjson" || JSON.parse(text).refused === 0;
      if (response.ok && isWhole) return true;
      throw new Error(`${method} ${path}: ${response.status} ${text}`);
    });
  }

  #next(): Change {
    const [slug, project] = [...this.#state][0] ?? [];
    if (slug === undefined || project === undefined) return this.#create();
    const draw = this.random.below(100);
    if (draw < 4) {
      const after = without(this.#state, slug);
      return { method: "DELETE", path: `/projects/${slug}?confirm=${slug}`, after };
    }
    const paths = [...project.working.keys()];
    if (draw < 20 && paths.length > 0) {
      const path = paths[this.random.below(paths.length)] as string;
      const working = without(project.working, path);
      const after = new Map([[slug, { ...project, working }]]);
      return { method: "DELETE", path: `/projects/${slug}/files/${path}`, after };
    }
    if (draw < 35 && paths.length > 0) return this.#freeze(slug, project);
    return draw < 55 ? this.#import(slug, project) : this.#put(slug, project);
  }

  #create(): Change {
    const slug = `${this.name}-${this.#count++}`;
    const body = json({ name: slug, slug, embedder: "hashing" });
    return { method: "POST", path: "/projects", ...body, after: new Map([[slug, EMPTY]]) };
  }

  #freeze(slug: string, project: Project): Change {
    const name = `v${this.#releases++}`;
    const releases = new Map([...project.releases, [name, project.working]]);
    const after = new Map([[slug, { ...project, releases }]]);
    const body = json({ name, environment: "production" });
    return { method: "POST", path: `/projects/${slug}/releases`, ...body, after };
  }

  #import(slug: string, project: Project): Change {
    const files = Array.from({ length: IMPORTED }, () => [this.#path(), this.#text()] as const);
    const written = new Map(files);
    const lines = [...written].map(([path, content]) =>
      JSON.stringify({ record: "file", path, content, environments: ["production"] }),
    );
    const working = new Map([...project.working, ...written]);
    return {
      method: "POST",
      path: `/projects/${slug}/import`,
      type: "application/x-ndjson",
      body: `${lines.join("\n")}\n`,
      after: new Map([[slug, { ...project, working }]]),
    };
  }

  #put(slug: string, project: Project): Change {
    const [path, body] = [this.#path(), this.#text()];
    const working = new Map([...project.working, [path, body]]);
    const after = new Map([[slug, { ...project, working }]]);
    return {
      method: "PUT",
      path: `/projects/${slug}/files/${path}`,
      type: "text/markdown",
      body,
      after,
    };
  }

  #path(): string {
    return `page-${this.random.below(PATHS)}.md`;
  }

  /** A text like no other, with words that all of them have. */
  #text(): string {
    const words = Array.from(
      { length: 1 + this.random.below(TEXT_MAX_WORDS) },
      () => `word${this.random.below(1_000)}`,
    );
    // A text of many parts is embedded after it is stored.
    const parts = this.random.below(4) === 0 ? "\n# A part\n\nIt goes on.\n".repeat(33) : "";
    return `# A page of notes\n\nThis page is about ${words.join(" ")}.\n${parts}`;
  }
}

export class Customers {
  /** The API key of all of them. */
  key: string | undefined;
  readonly #all: readonly Customer[];
  #number = 0;

  constructor(seed: number) {
    this.#all = Array.from(
      { length: CUSTOMERS },
      (_, i) => new Customer(`customer-${i}`, new Random(seed + i)),
    );
  }

  /** How many changes were acknowledged in all. */
  get count(): number {
    return this.#number;
  }

  /** Each of them makes this many changes, all at once. The first service has to print the key. */
  async change({ url, logs }: Pick<TestServer, "url" | "logs">, changes: number): Promise<void> {
    await until("the service has printed the key", () => {
      this.key ??= /tsr_[\w-]+/.exec(logs())?.[0];
      return this.key !== undefined;
    });
    const key = this.key as string;
    const run = async (customer: Customer): Promise<void> => {
      for (let i = 0; i < changes; i++) await customer.change(url, key, this.#number++);
    };
    await Promise.all(this.#all.map(run));
  }

  /** What a database may have when these changes were acknowledged: for each of them everything, or the next as well. */
  allowed(acknowledged: ReadonlySet<number>): string[][] {
    return this.#all.map(({ steps }) => {
      const known = steps.findLastIndex(({ number }) => acknowledged.has(number));
      const states = [known < 0 ? new Map() : (steps[known] as Step).after];
      const next = steps[known + 1];
      if (next !== undefined) states.push(next.after);
      return states.map(describe);
    });
  }
}

/** A file of a project as an export has it. */
export interface StoredFile {
  readonly path: string;
  readonly content: string;
  readonly environments: readonly string[];
  readonly releases: readonly string[];
}

const scopeOf = (name: string, files: Files) =>
  [...files].map(([path, content]) => line(name, path, content));
const line = (scope: string, path: string, content: string) =>
  `${scope} ${path} ${Bun.hash(content).toString(36)}`;

/** The state of a customer as text, which is the same for equal ones. */
function describe(state: State): string {
  const projects = [...state].map(([slug, { working, releases }]) =>
    describeProject(slug, [
      ...scopeOf("production", working),
      ...[...releases].flatMap(([name, files]) => scopeOf(name, files)),
    ]),
  );
  return projects.join("\n");
}

function describeProject(slug: string, lines: readonly string[]): string {
  return [slug, ...lines.toSorted()].join("\n  ");
}

/** A project of a database in the same form. */
export function describeStored(slug: string, files: readonly StoredFile[]): string {
  const lines = files.flatMap(({ path, content, environments, releases }) =>
    [...environments, ...releases].map((scope) => line(scope, path, content)),
  );
  return describeProject(slug, lines);
}

/** The customer that a project belongs to; -1 for others. */
export const ownerOf = (slug: string): number => Number(/^customer-(\d+)-/.exec(slug)?.[1] ?? -1);
