import { expect } from "bun:test";
import type { Sql } from "../../src/db/client.ts";
import { addEnvironment, type NamedScope } from "../accounts.ts";
import { until, untilPasses } from "../until.ts";
import type { Caller, TestApi, TestProject } from "./api.ts";
import type { Json } from "./openapi.ts";
import {
  attach,
  base64Of,
  chunkOf,
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

interface Found {
  readonly status: number;
  readonly ids: string[];
  readonly contents: string[];
}

/** A project with one environment, and the expected results of searches in it. */
export class IndexWorld {
  readonly #files = new Map<string, TestVersion>();
  readonly #replaced: TestVersion[] = [];

  private constructor(
    private readonly sql: Sql,
    readonly member: Caller,
    readonly project: TestProject,
    readonly environment: NamedScope,
  ) {}

  static async create(api: TestApi): Promise<IndexWorld> {
    const member = await api.user();
    const project = await api.project(member);
    const environment = await addEnvironment(api.sql, project);
    return new IndexWorld(api.sql, member, project, environment);
  }

  /** Writes new versions of this many files, in one transaction. */
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
      if (content !== undefined) await this.rewriteContents(content, tx as never);
      return written;
    });
    for (const version of versions) {
      const older = this.#files.get(version.path);
      if (older !== undefined) this.#replaced.push(older);
      this.#files.set(version.path, version);
    }
  }

  /** Overwrites the contents of all chunks without an entry in the change log. */
  async rewriteContents(content: string, sql = this.sql): Promise<void> {
    await sql`UPDATE chunks SET content = ${content} WHERE project_id = ${this.project.id}`;
  }

  /** Searches for chunks near a vector. */
  async search(
    url: string,
    vector = randomVector(DIMENSION, 1),
    threshold = 0,
    caller = this.member,
  ): Promise<Found> {
    const path = `/projects/${this.project.id}/environments/production/search`;
    const response = await fetch(url + path, {
      method: "POST",
      headers: { ...caller.headers, "content-type": "application/json" },
      body: JSON.stringify({
        vector: base64Of(vector),
        dimension: DIMENSION,
        limit: 100,
        threshold,
      }),
    });
    const body = (await response.json()) as Json;
    const hits: Json[] = body.data ?? [];
    return {
      status: response.status,
      ids: hits.map((hit) => hit.chunk.id),
      contents: [...new Set<string>(hits.map((hit) => hit.chunk.content))],
    };
  }

  /** Asserts that, eventually, every current version is found and no replaced one is. */
  async agrees(url: string): Promise<void> {
    for (const version of this.#files.values()) await this.#untilFound(url, version, true);
    for (const version of this.#replaced) await this.#untilFound(url, version, false);
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
}

/** Waits until the service is ready. */
export async function untilReady(url: string): Promise<void> {
  await until("the service is ready", async () => (await fetch(`${url}/readyz`)).ok);
}
