import { expect } from "bun:test";
import type { Sql } from "../../src/db/client.ts";
import { addEnvironment, type NamedScope } from "../accounts.ts";
import { untilPasses } from "../until.ts";
import type { Caller, TestApi, TestProject } from "./api.ts";
import { publishTexts } from "./knowledge.ts";
import type { Json } from "./openapi.ts";

const QUERIES = ["common words", "number 7", "chapter", "commn"];

/** A project of Markdown files and the expected answers of lookups in it. */
export class KnowledgeWorld {
  /** By path, the word that is unique to its newest text. */
  readonly #words = new Map<string, string>();
  #written = 0;

  private constructor(
    private readonly sql: Sql,
    readonly member: Caller,
    readonly project: TestProject,
    readonly environment: NamedScope,
  ) {}

  static async create(api: TestApi): Promise<KnowledgeWorld> {
    const member = await api.user();
    const project = await api.project(member);
    return new KnowledgeWorld(api.sql, member, project, await addEnvironment(api.sql, project));
  }

  /** Writes new texts for this many files, a few per transaction. */
  async write(files: number, prefix = "file"): Promise<void> {
    for (let from = 0; from < files; from += 5) {
      const numbers = Array.from({ length: Math.min(5, files - from) }, (_, i) => from + i);
      const words = new Map(
        numbers.map((i) => [`${prefix}-${i}.md`, wordOf(this.#written++)] as const),
      );
      const texts = Object.fromEntries(
        [...words].map(([path, word], i) => [
          path,
          `---\ntitle: Chapter ${i}\n---\n# Number ${from + i}\n\ncommon words ${word}\n`,
        ]),
      );
      await publishTexts(this.sql, this.project, this.environment, texts);
      for (const [path, word] of words) this.#words.set(path, word);
    }
  }

  /** Overwrites all texts without an entry in the change log. */
  async rewrite(content: string): Promise<void> {
    await this.sql`
      UPDATE file_versions SET content = ${content} WHERE project_id = ${this.project.id}`;
  }

  async ask(url: string, body: object): Promise<{ status: number; headers: Headers; body: Json }> {
    const response = await fetch(`${url}/projects/${this.project.id}/knowledge/lookup`, {
      method: "POST",
      headers: { ...this.member.headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** The paths of all pages of a lookup. */
  async paths(url: string, question: object): Promise<string[]> {
    const paths: string[] = [];
    for (let body: object | null = question; body !== null; ) {
      const answer = await this.ask(url, body);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      paths.push(...answer.body.data.map((item: Json) => item.path));
      const next: string | null = answer.body.page_info.next;
      body = next === null ? null : { cursor: next };
    }
    return paths;
  }

  /** Asserts that, eventually, every newest text is found and no older one is. */
  async agrees(url: string): Promise<void> {
    const paths = [...this.#words.keys()].sort();
    await untilPasses("lookups find the newest texts only", async () => {
      expect(await this.paths(url, {})).toEqual(paths);
      for (const [path, word] of this.#words) {
        expect(await this.paths(url, { query: word })).toEqual([path]);
      }
    });
  }

  /** Asserts that two services return the same rankings. */
  async agreesWith(url: string, other: string): Promise<void> {
    for (const query of QUERIES) {
      expect(await this.paths(url, { query }), query).toEqual(await this.paths(other, { query }));
    }
  }
}

/** Words that differ from each other by more than one typo. */
function wordOf(number: number): string {
  return `x${Bun.hash(String(number)).toString(26)}`;
}
