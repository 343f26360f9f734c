import { expect } from "bun:test";
import type { Sql } from "../../src/db/client.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { addEnvironment, type NamedScope } from "../accounts.ts";
import { until, untilPasses } from "../until.ts";
import type { Caller, TestApi, TestProject } from "./api.ts";
import type { Json } from "./openapi.ts";
import {
  attach,
  chunkOf,
  publishTexts,
  randomVector,
  type TestChunk,
  type TestVersion,
  writeVersion,
} from "./versions.ts";

const DIMENSION = 768;
const CHUNKS_A_FILE = 50;
/** Seed of the next vector. */
let seed = 2;

/** The chunks of each file that are searched for: the first, one in the middle and the last. */
const PROBES = [0, CHUNKS_A_FILE >> 1, CHUNKS_A_FILE - 1];
/** Texts that are written in one transaction. */
const TEXTS_AT_ONCE = 5;
const QUERIES = ["common words", "number 7", "chapter", "commn"];

interface Found {
  readonly status: number;
  readonly body: Json;
  readonly ids: string[];
  readonly contents: string[];
}

/** A project with one environment, and what searches and lookups in it have to find. */
export class TestWorld {
  readonly #files = new Map<string, TestVersion>();
  readonly #replaced: TestVersion[] = [];
  /** By path, the word that is unique to its newest text. */
  readonly #words = new Map<string, string>();
  #written = 0;

  private constructor(
    private readonly sql: Sql,
    readonly member: Caller,
    readonly project: TestProject,
    readonly environment: NamedScope,
  ) {}

  static async create(api: TestApi): Promise<TestWorld> {
    const member = await api.user();
    const project = await api.project(member);
    return new TestWorld(api.sql, member, project, await addEnvironment(api.sql, project));
  }

  /** Writes new versions of this many files with vectors, in one transaction. */
  async write(files: number, prefix = "file", content?: string): Promise<void> {
    const versions = await this.sql.begin(async (tx) => {
      const written: TestVersion[] = [];
      for (let i = 0; i < files; i++) {
        const chunks = Array.from({ length: CHUNKS_A_FILE }, () =>
          chunkOf(randomVector(DIMENSION, seed++)),
        );
        written.push(await writeVersion(tx as never, this.project, `${prefix}-${i}.md`, chunks));
      }
      await attach(tx as never, this.project, this.environment.id, written);
      // In the same transaction, because a service may index what is committed at once.
      if (content !== undefined) await this.rewriteChunks(content, tx as never);
      return written;
    });
    for (const version of versions) {
      const older = this.#files.get(version.path);
      if (older !== undefined) this.#replaced.push(older);
      this.#files.set(version.path, version);
    }
  }

  /** Writes new texts for this many files, a few per transaction. */
  async writeTexts(files: number, prefix = "file"): Promise<void> {
    for (let from = 0; from < files; from += TEXTS_AT_ONCE) {
      const texts: Record<string, string> = {};
      const words = new Map<string, string>();
      for (let i = from; i < Math.min(from + TEXTS_AT_ONCE, files); i++) {
        const [path, word] = [`${prefix}-${i}.md`, wordOf(this.#written++)];
        texts[path] =
          `---\ntitle: Chapter ${i - from}\n---\n# Number ${i}\n\ncommon words ${word}\n`;
        words.set(path, word);
      }
      await publishTexts(this.sql, this.project, this.environment, texts);
      for (const [path, word] of words) this.#words.set(path, word);
    }
  }

  /** Overwrites the contents of all chunks without an entry in the change log. */
  async rewriteChunks(content: string, sql = this.sql): Promise<void> {
    await sql`UPDATE chunks SET content = ${content} WHERE project_id = ${this.project.id}`;
  }

  /** Overwrites all texts without an entry in the change log. */
  async rewriteTexts(content: string): Promise<void> {
    await this.sql`
      UPDATE file_versions SET content = ${content} WHERE project_id = ${this.project.id}`;
  }

  /** Searches for chunks near a vector. */
  async search(
    url: string,
    vector = randomVector(DIMENSION, 1),
    threshold = 0,
    caller = this.member,
  ): Promise<Found> {
    const question = { vector: base64Of(vector), dimension: DIMENSION, limit: 100, threshold };
    const path = "environments/production/search";
    const { status, body } = await this.#post(url, path, question, caller);
    const hits: Json[] = body.data ?? [];
    return {
      status,
      body,
      ids: hits.map((hit) => hit.chunk.id),
      contents: [...new Set<string>(hits.map((hit) => hit.chunk.content))],
    };
  }

  /** A page of a lookup. */
  lookUp(url: string, question: object) {
    return this.#post(url, "knowledge/lookup", question);
  }

  /** The paths of all pages of a lookup. */
  async paths(url: string, question: object): Promise<string[]> {
    const paths: string[] = [];
    for (let body: object | null = question; body !== null; ) {
      const answer = await this.lookUp(url, body);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      paths.push(...answer.body.data.map((item: Json) => item.path));
      const next: string | null = answer.body.page_info.next;
      body = next === null ? null : { cursor: next };
    }
    return paths;
  }

  /** Asserts that, eventually, everything that is current is found and nothing that was replaced is. */
  async agrees(url: string): Promise<void> {
    for (const version of this.#files.values()) await this.#untilFound(url, version, true);
    for (const version of this.#replaced) await this.#untilFound(url, version, false);
    if (this.#words.size === 0) return;
    const paths = [...this.#words.keys()].sort();
    await untilPasses("lookups find the newest texts only", async () => {
      expect(await this.paths(url, {})).toEqual(paths);
      for (const [path, word] of this.#words) {
        expect(await this.paths(url, { query: word })).toEqual([path]);
      }
    });
  }

  /** Asserts that lookups by two services have the same rankings. */
  async agreesWith(url: string, other: string): Promise<void> {
    for (const query of QUERIES) {
      expect(await this.paths(url, { query }), query).toEqual(await this.paths(other, { query }));
    }
  }

  async #untilFound(url: string, version: TestVersion, present: boolean): Promise<void> {
    for (const probe of PROBES) {
      const { id, vector } = version.chunks[probe] as TestChunk;
      const wanted = present ? [id] : [];
      // Random vectors are far from each other, so only the chunk itself can be found.
      await untilPasses(`a search finds ${wanted.length} for ${version.path}`, async () => {
        expect((await this.search(url, vector, 0.99)).ids).toEqual(wanted);
      });
    }
  }

  async #post(url: string, path: string, question: object, caller = this.member) {
    const response = await fetch(`${url}/projects/${this.project.id}/${path}`, {
      method: "POST",
      headers: { ...caller.headers, "content-type": "application/json" },
      body: JSON.stringify(question),
    });
    const body: Json = await response.json();
    return { status: response.status, headers: response.headers, body };
  }
}

/** Words that differ from each other by more than one typo. */
function wordOf(number: number): string {
  return `x${Bun.hash(String(number)).toString(26)}`;
}

/** Waits until the service is ready. */
export async function untilReady(url: string): Promise<void> {
  await until("the service is ready", async () => (await fetch(`${url}/readyz`)).ok);
}
