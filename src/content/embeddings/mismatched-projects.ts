import type { Queryable } from "../../db/client.ts";
import { referenceTo } from "../../domain/reference.ts";
import { embedderName, type ProjectEmbedders } from "../../embed/embedders/project-embedders.ts";

/** Projects that cannot be searched by meaning, with the remedy. */
interface OtherEmbedder {
  readonly message: string;
  readonly remedy: string;
}

/** The embedders of projects that are not configured, or have another model now, in a sentence each. */
export async function mismatchedProjects(
  sql: Queryable,
  embedders: ProjectEmbedders,
): Promise<OtherEmbedder[]> {
  const rows = await sql<{ embedder: string; id: string; slug: string; projects: number }[]>`
    SELECT embedder, min(slug) AS slug, (array_agg(id ORDER BY slug))[1] AS id,
      count(*)::integer AS projects FROM projects
    WHERE embedder IS NOT NULL GROUP BY embedder ORDER BY embedder`;
  return rows.flatMap(({ embedder, id, slug, projects }) => {
    const known = embedders.get(embedderName(embedder));
    if (known?.fingerprint === embedder) return [];
    const whose = projects === 1 ? slug : `${slug} and ${projects - 1} more`;
    const now =
      known === undefined ? "which is not configured" : `whose model is ${known.fingerprint} now`;
    return {
      message: `the embeddings of ${whose} are by ${embedder}, ${now}`,
      remedy:
        known === undefined
          ? "add it to EMBEDDERS, or bring its model back"
          : `run: ./tessera embeddings rebuild --project ${referenceTo({ id, slug })}`,
    };
  });
}
