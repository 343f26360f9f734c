/** Clients of two services that change and read the same environments at once, and note what they are answered. */
import { embed } from "../../../src/embed/embedders/feature-hashing.ts";
import type { Caller } from "../../../support/api/api.ts";
import type { Json } from "../../../support/api/openapi.ts";
import { ndjson } from "../../../support/ndjson.ts";
import type { Random } from "../../../support/random.ts";
import type { Reply, Requests, Sending } from "../world/requests.ts";
import {
  type Answered,
  type Environment,
  type Kind,
  operation,
  PATHS,
  READS,
} from "./environment.ts";
import type { Operation } from "./linearizable.ts";

const DIMENSION = 768;
const TEXT = "This page is about number";
const QUESTION = [...embed(TEXT, DIMENSION)];

/** A change and the token of its answer, for reads that must see it. */
interface Seen {
  readonly token: string;
  readonly change: Operation<Environment>;
}

/** A project with one environment, which some clients share. */
export class Place {
  readonly history: Operation<Environment>[] = [];
  /** Searches that had to see a change. */
  searches = 0;
  readonly tags = new Map<number, string>();
  /** When the contents were acknowledged. */
  readonly #written = new Map<number, number>();
  readonly releases: string[] = [];
  last: Seen | undefined;
  content = 0;

  constructor(
    readonly slug: string,
    readonly owner: Caller,
  ) {}

  /** A change was acknowledged. */
  note(kind: Kind, at: number): void {
    const contents =
      kind.type === "put" ? [kind.content] : kind.type === "import" ? kind.contents : [];
    for (const content of contents) this.#written.set(content, at);
  }

  /** A search that has to find the vectors of what was acknowledged before the last change began. */
  search(): Kind {
    const begun = this.last?.change.called ?? 0;
    const old = new Set(
      [...this.#written].filter(([, at]) => at < begun).map(([content]) => content),
    );
    return { type: "search", isOld: (content) => old.has(content) };
  }

  get path(): string {
    return `/projects/${this.slug}`;
  }
}

/** Every fourth one has so many parts that it is embedded after it is stored. */
const textOf = (content: number) =>
  `# A page\n\n${TEXT} ${content}.\n${content % 4 === 0 ? "\n# A part\n\nIt goes on.\n".repeat(33) : ""}`;
const numberIn = (text: string): number => Number(/about number (\d+)/.exec(text)?.[1]);

type Request = readonly [method: string, path: string, sending?: Sending];

export class Client {
  /** The content that this client has last seen of each file. */
  readonly #seen: [number, number] = [0, 0];

  constructor(
    private readonly name: string,
    private readonly place: Place,
    private readonly requests: Requests,
    private readonly random: Random,
  ) {}

  async act(): Promise<void> {
    await this.perform(this.#choose(), this.random.below(2));
  }

  /** Sends an operation to a service and adds it to the history. Reads without an answer are not added. */
  async perform(kind: Kind, at: number): Promise<boolean> {
    const { place } = this;
    const isSearch = kind.type === "search" || kind.type === "lookup";
    const seen = isSearch ? place.last : undefined;
    const [method, path, sending] = this.#request(kind, seen?.token);
    const begun = performance.now();
    const reply = await this.requests.send(at, method, path, { as: place.owner, ...sending });
    const answered = performance.now();
    // Nobody was there, or there was no room: such a request has not begun.
    const isRefused =
      reply.kind === "refused" && [undefined, "overloaded"].includes(reply.body.slug);
    const isUnknown = reply.kind !== "answer" || reply.status >= 500;
    if (isRefused || (isUnknown && READS.includes(kind.type))) return false;
    const answer = isUnknown ? undefined : answerOf(kind, reply);
    // A search may show any state since the change that it names.
    const called = Math.min(begun, seen?.change.called ?? begun);
    const times = { called, answered, ...(seen === undefined ? {} : { after: seen.change }) };
    const done = operation(kind, times, answer, `${this.name} at ${at}`);
    place.history.push(done);
    if (reply.kind === "answer" && answer !== undefined) this.#note(kind, reply, answer, done);
    if (seen !== undefined) place.searches++;
    return true;
  }

  #note(
    kind: Kind,
    { headers }: Reply & { kind: "answer" },
    answer: Answered,
    done: Operation<Environment>,
  ) {
    const { place } = this;
    const token = headers.get("x-change");
    if (token !== null) place.last = { token, change: done };
    if (answer.status < 300) place.note(kind, done.answered);
    if (kind.type === "freeze" && answer.status === 201) place.releases.push(kind.name);
    if (kind.type !== "put" && kind.type !== "get") return;
    const content = kind.type === "put" ? kind.content : (answer.contents?.[0] ?? 0);
    const tag = headers.get("etag");
    if (answer.status >= 300 || tag === null) return;
    place.tags.set(content, tag);
    this.#seen[kind.file] = content;
  }

  #choose(): Kind {
    const { random, place } = this;
    const file = random.below(2) as 0 | 1;
    const draw = random.below(100);
    if (draw < 30)
      return { type: "put", file, content: ++place.content, over: this.#condition(file) };
    if (draw < 42) {
      const over = this.#seen[file];
      const isBound = over !== 0 && random.below(2) === 0;
      return { type: "delete", file, over: isBound ? over : undefined };
    }
    if (draw < 45) return { type: "import", contents: [++place.content, ++place.content] };
    if (draw < 55) return { type: "freeze", name: `v${random.below(12)}` };
    if (draw < 60 && place.releases.length > 0) {
      const release = place.releases[random.below(place.releases.length)] as string;
      return { type: "get", file, release };
    }
    if (draw < 75) return { type: "get", file };
    return draw < 87 ? { type: "lookup" } : this.search();
  }

  search(): Kind {
    return this.place.search();
  }

  /** The content over which a change is to be: what this client has seen, none, or whatever there is. */
  #condition(file: 0 | 1): number | undefined {
    const draw = this.random.below(10);
    if (draw < 5) return undefined;
    if (draw < 7) return 0;
    const seen = this.#seen[file];
    return seen === 0 ? undefined : seen;
  }

  #request(kind: Kind, token: string | undefined): Request {
    const { path } = this.place;
    const file = "file" in kind ? `${path}/files/${PATHS[kind.file]}` : "";
    switch (kind.type) {
      case "put":
        return ["PUT", file, { body: textOf(kind.content), headers: this.#headers(kind.over) }];
      case "delete":
        return ["DELETE", file, { headers: this.#headers(kind.over) }];
      case "import":
        return ["POST", `${path}/import`, importOf(kind.contents)];
      case "freeze":
        return [
          "POST",
          `${path}/releases`,
          { json: { name: kind.name, environment: "production" } },
        ];
      case "get":
        return ["GET", kind.release === undefined ? file : `${file}?release=${kind.release}`];
      case "lookup":
        return [
          ...(["POST", `${path}/knowledge/lookup${token ? `?min_change=${token}` : ""}`] as const),
          { json: { query: "about number" } },
        ];
      case "search":
        return [
          ...([
            "POST",
            `${path}/environments/production/search${token ? `?min_change=${token}` : ""}`,
          ] as const),
          { json: { vector: QUESTION, dimension: DIMENSION, threshold: 0, limit: 100 } },
        ];
    }
  }

  #headers(over: number | undefined): Record<string, string> {
    const type = { "content-type": "text/markdown" };
    if (over === 0) return { ...type, "if-none-match": "*" };
    const tag = over === undefined ? undefined : this.place.tags.get(over);
    return tag === undefined ? type : { ...type, "if-match": tag };
  }
}

function importOf(contents: readonly number[]): Sending {
  const lines = contents.map((content, at) => ({
    record: "file",
    path: PATHS[at],
    content: textOf(content),
    environments: ["production"],
  }));
  const body = ndjson(lines);
  return { body, headers: { "content-type": "application/x-ndjson" } };
}

function answerOf({ type }: Kind, reply: Reply & { kind: "answer" }): Answered {
  const { status, body } = reply;
  if (type === "import" && status === 200 && body.refused > 0) {
    throw new Error(`records of an import were refused: ${JSON.stringify(body)}`);
  }
  if (status >= 300 || !READS.includes(type)) return { status };
  if (type === "get") return { status, contents: [numberIn(body.content)] };
  if (type === "lookup")
    return { status, contents: body.data.map((item: Json) => numberIn(JSON.stringify(item))) };
  const numbers: number[] = body.data.map((hit: Json) => numberIn(hit.chunk.content));
  // Only the first part of a long content has its number.
  return { status, contents: numbers.filter((number) => !Number.isNaN(number)) };
}
