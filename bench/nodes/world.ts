import type { Sql } from "../../src/db/client.ts";
import { addApiKey, addEnvironment, addProject, addUser } from "../../support/accounts.ts";
import { RawClient } from "../../support/raw-client.ts";
import { makeVectors } from "../../support/vectors.ts";
import { chunksOf, publish, slices } from "../harness/content.ts";
import { searchRequest } from "../harness/requests.ts";
import type { Address } from "../harness/server.ts";

const CHUNKS_PER_FILE = 50;

/** Sizes of projects by Zipf's law: the second is half as large as the first, the third a third, and so on. */
export function zipfSizes(projects: number, mean: number): number[] {
  const shares = Array.from({ length: projects }, (_, i) => 1 / (i + 1));
  const unit = (projects * mean) / shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => Math.max(1, Math.round(unit * share)));
}

export interface BenchProject {
  readonly id: string;
  readonly slug: string;
  readonly chunks: number;
  readonly queries: readonly Float32Array<ArrayBuffer>[];
}

const QUERIES = 8;

/** Writes projects of these sizes with text-like vectors. */
export async function writeProjects(
  sql: Sql,
  sizes: readonly number[],
  dimension: number,
): Promise<{ apiKey: string; projects: BenchProject[] }> {
  const owner = await addUser(sql);
  const { key } = await addApiKey(sql, owner);
  const written: BenchProject[] = [];
  for (const [number, count] of sizes.entries()) {
    const vectors = makeVectors("text", count + QUERIES, dimension, number + 1);
    const project = await addProject(sql, owner, `project-${number}`);
    const environment = await addEnvironment(sql, project);
    const files = Array.from({ length: Math.ceil(count / CHUNKS_PER_FILE) }, (_, i) => {
      const first = i * CHUNKS_PER_FILE;
      const own = slices(vectors, dimension, first, Math.min(count, first + CHUNKS_PER_FILE));
      return { path: `docs/${i}.md`, content: null, chunks: chunksOf(own, `file ${i}`) };
    });
    await publish(sql, project.id, environment.id, files);
    const queries = slices(vectors, dimension, count);
    written.push({ id: project.id, slug: project.slug, chunks: count, queries });
  }
  return { apiKey: key, projects: written };
}

/** A search of a project by one of its queries, as octets. */
export function searchOf(
  server: Pick<Address, "url">,
  key: string,
  { id, queries }: BenchProject,
  number: number,
): Uint8Array {
  const vector = queries[number % queries.length] as Float32Array<ArrayBuffer>;
  const path = `/projects/${id}/environments/production/search`;
  return searchRequest(server, path, key, vector, { form: "octets" });
}

/** Searches a project and returns the milliseconds until the answer. */
export async function searchOnce(url: URL, key: string, project: BenchProject): Promise<number> {
  const client = new RawClient(url);
  const { status, milliseconds } = await client.send(searchOf({ url }, key, project, 0));
  client.close();
  if (status !== 200) throw new Error(`a search got ${status}`);
  return milliseconds;
}
