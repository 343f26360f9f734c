import type { Sql } from "../../src/db/client.ts";
import { addApiKey, addEnvironment, addProject, addUser } from "../../support/accounts.ts";
import { Random } from "../../support/random.ts";
import { makeVectors } from "../../support/vectors.ts";
import { addWebhook, type TestWebhook } from "../../support/webhooks.ts";

export interface SoakProject {
  readonly slug: string;
  /** Names of the releases that exist. */
  readonly releases: Set<string>;
}

interface WorldOptions {
  readonly projects: number;
  readonly files: number;
  readonly chunksPerFile: number;
  readonly dimension: number;
  /** Contents that a file alternates between, so that the number of versions is bounded. */
  readonly variants: number;
}

const WORDS = ["storage", "network", "release", "vector", "backup", "billing", "account", "region"];
/** What filters ask for. The variants of a file are in different groups. */
const GROUPS = ["guides", "reference", "tutorials", "notes"];
/** Projects that are in use at a time; the others are idle. */
const ACTIVE_SHARE = 0.25;
/** Longer than a project must be idle before it is unloaded. */
const TURN_MS = 90_000;
const FILES_PER_CHANGE = 5;
const RELEASES_MAX = 40;
const SEED = 1;

/** Projects that change between a bounded number of states, and requests to them. */
export class SoakWorld {
  readonly #random = new Random(SEED);
  readonly #vectors: Float32Array<ArrayBuffer>;
  readonly #begun = performance.now();

  private constructor(
    private readonly options: WorldOptions,
    readonly projects: readonly SoakProject[],
    readonly webhook: TestWebhook,
    readonly key: string,
  ) {
    const { files, chunksPerFile, dimension, variants } = options;
    this.#vectors = makeVectors("text", files * chunksPerFile * variants, dimension, SEED);
  }

  static async create(sql: Sql, options: WorldOptions): Promise<SoakWorld> {
    const user = await addUser(sql);
    const { key } = await addApiKey(sql, user);
    const projects: SoakProject[] = [];
    let webhook: TestWebhook | undefined;
    for (let at = 0; at < options.projects; at++) {
      const project = await addProject(sql, user, `soak-${at}`);
      await addEnvironment(sql, project);
      webhook ??= await addWebhook(sql, project);
      projects.push({ slug: project.slug, releases: new Set() });
    }
    return new SoakWorld(options, projects, webhook as TestWebhook, key);
  }

  /** A project of the group whose turn it is. */
  activeProject(): SoakProject {
    const size = Math.max(1, Math.round(this.projects.length * ACTIVE_SHARE));
    const turn = Math.floor((performance.now() - this.#begun) / TURN_MS);
    const at = (turn * size + this.#random.below(size)) % this.projects.length;
    return this.projects[at] as SoakProject;
  }

  /** The path of an environment or a release of a project. */
  scope({ releases }: SoakProject): string {
    const isRelease = releases.size > 0 && this.#random.below(3) === 0;
    if (!isRelease) return "environments/production";
    return `releases/${this.#random.sample([...releases], 1)[0]}`;
  }

  #vector(number: number): Float32Array<ArrayBuffer> {
    const { dimension } = this.options;
    return this.#vectors.slice(number * dimension, (number + 1) * dimension);
  }

  query(): string {
    const { dimension } = this.options;
    const vector = this.#vector(this.#random.below(this.#vectors.length / dimension));
    const base64 = Buffer.from(vector.buffer).toString("base64");
    return JSON.stringify({ vector: base64, dimension, limit: 10, threshold: 0 });
  }

  question(): object {
    const query = this.#random.sample(WORDS, 2).join(" ");
    return this.#random.below(4) === 0 ? {} : { query };
  }

  /** By text and vector, in the files of some groups. */
  retrieval(): object {
    const { dimension } = this.options;
    const vector = this.#vector(this.#random.below(this.#vectors.length / dimension));
    const embedding = Buffer.from(vector.buffer).toString("base64");
    const groups = this.#random.sample(GROUPS, 2);
    const filter = { "frontmatter.group": { $in: groups } };
    return { query: this.#random.sample(WORDS, 2).join(" "), vector: embedding, dimension, filter };
  }

  /** The record of a file in one of its variants. */
  #file(file: number, variant: number): object {
    const { chunksPerFile, files } = this.options;
    const first = (variant * files + file) * chunksPerFile;
    const group = GROUPS[variant % GROUPS.length];
    const text = (at: number) => `${WORDS[(first + at) % WORDS.length]} paragraph ${first + at}`;
    const chunks = Array.from({ length: chunksPerFile }, (_, at) => ({
      content: text(at),
      embedding: Buffer.from(this.#vector(first + at).buffer).toString("base64"),
    }));
    return {
      record: "file",
      path: `docs/${file}.md`,
      environments: ["production"],
      chunks,
      content: `---\ngroup: ${group}\n---\n# File ${file}\n\n${chunks.map(({ content }) => content).join("\n\n")}\n`,
    };
  }

  /** All files of a project, to begin with. */
  initialFiles(): string {
    return Array.from({ length: this.options.files }, (_, at) => this.#file(at, 0))
      .map((record) => `${JSON.stringify(record)}\n`)
      .join("");
  }

  /** A change of some files of a project. */
  change(): string {
    const { files, variants } = this.options;
    return Array.from({ length: FILES_PER_CHANGE }, () =>
      this.#file(this.#random.below(files), this.#random.below(variants)),
    )
      .map((record) => `${JSON.stringify(record)}\n`)
      .join("");
  }

  /** The record of a release, which is new until the project has RELEASES_MAX. */
  release({ releases }: SoakProject): { name: string; body: string } {
    const name = `r${Math.min(releases.size, RELEASES_MAX)}`;
    const record = { record: "release", name, environment: "production" };
    return { name, body: `${JSON.stringify(record)}\n` };
  }
}
