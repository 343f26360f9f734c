import type { Sql } from "../../src/db/client.ts";
import { addApiKey, addEnvironment, addProject, addUser } from "../../support/accounts.ts";
import { makeVectors } from "../../support/vectors.ts";

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

/** The chunks of all projects. */
export const totalOf = (projects: readonly BenchProject[]): number =>
  projects.reduce((sum, { chunks }) => sum + chunks, 0);

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
    await sql.begin((tx) =>
      writeFiles(tx as never, project.id, environment.id, vectors, dimension),
    );
    const queries = Array.from({ length: QUERIES }, (_, i) =>
      vectors.slice((count + i) * dimension, (count + i + 1) * dimension),
    );
    written.push({ id: project.id, slug: project.slug, chunks: count, queries });
  }
  return { apiKey: key, projects: written };
}

async function writeFiles(
  sql: Sql,
  projectId: string,
  environmentId: string,
  vectors: Float32Array<ArrayBuffer>,
  dimension: number,
): Promise<void> {
  const count = vectors.length / dimension - QUERIES;
  for (let first = 0; first < count; first += CHUNKS_PER_FILE) {
    const embeddings = Array.from({ length: Math.min(CHUNKS_PER_FILE, count - first) }, (_, i) =>
      Buffer.from(vectors.buffer, (first + i) * dimension * 4, dimension * 4).toString("base64"),
    );
    const [file, version, path] = [crypto.randomUUID(), crypto.randomUUID(), `docs/${first}.md`];
    await sql`INSERT INTO files (id, project_id, path) VALUES (${file}, ${projectId}, ${path})`;
    await sql`
      INSERT INTO file_versions (id, project_id, file_id, version_key, chunk_count)
      VALUES (${version}, ${projectId}, ${file}, '1', ${embeddings.length})`;
    await sql`
      INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
        start_offset, end_offset, token_count, dimension, embedding)
      SELECT gen_random_uuid(), ${projectId}, ${file}, ${version}, ${path}, u.place - 1,
        'Chunk ' || u.place, 0, 10, 2, ${dimension}, decode(u.embedding, 'base64')
      FROM unnest(${embeddings}::text[]) WITH ORDINALITY AS u (embedding, place)`;
    await sql`
      INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      VALUES (${projectId}, ${environmentId}, ${file}, ${version})`;
  }
}
