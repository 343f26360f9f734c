import pLimit from "p-limit";
import { CommandError } from "../../src/cli/command-error.ts";
import { SEARCH_LIMIT_MAX } from "../../src/domain/limits.ts";
import { randomNumbers } from "../../support/random.ts";
import { type Form, searchRequest } from "../harness/requests.ts";
import { type Matrix, rowOf } from "../harness/vector-files.ts";
import type { Service } from "./service.ts";

/** Chunks that are listed to draw queries from; a project may have millions. */
const LISTED_MAX = 5_000;
const PAGE_CHUNKS = 100;
const READS_AT_ONCE = 8;
const SEED = 1;

interface ChunkPage {
  readonly data: ReadonlyArray<{ readonly id: string }>;
  readonly page_info: { readonly next: string | null };
}

/** The ids of the project's first chunks. */
async function listChunks(service: Service): Promise<string[]> {
  const ids: string[] = [];
  let query: string | undefined = `?limit=${PAGE_CHUNKS}`;
  while (query !== undefined && ids.length < LISTED_MAX) {
    const page: ChunkPage = await service.call("GET", `chunks${query}`);
    ids.push(...page.data.map(({ id }) => id));
    const { next } = page.page_info;
    query = next === null ? undefined : new URL(next, service.url).search;
  }
  return ids;
}

async function embeddingOf(service: Service, id: string): Promise<Float32Array | undefined> {
  const response = await service.fetch("GET", service.pathOf(`chunks/${id}/embedding`));
  if (!response.ok) return undefined;
  const { vector } = (await response.json()) as { vector: string };
  return new Float32Array(new Uint8Array(Buffer.from(vector, "base64")).buffer);
}

/** Up to `count` numbers below `size`, in a seeded random order. */
export function sample(size: number, count: number): number[] {
  const random = randomNumbers(SEED);
  const numbers = Array.from({ length: size }, (_, i) => i);
  for (let i = 0; i < Math.min(count, size); i++) {
    const j = i + Math.floor(random() * (size - i));
    [numbers[i], numbers[j]] = [numbers[j] as number, numbers[i] as number];
  }
  return numbers.slice(0, count);
}

/** Embeddings of the project's own chunks, of one dimension: that of the first, unless it is given. */
export async function drawQueries(
  service: Service,
  count: number,
  dimension: number | undefined,
): Promise<Matrix> {
  const ids = await listChunks(service);
  const limit = pLimit(READS_AT_ONCE);
  const drawn = sample(ids.length, count * 2);
  const found = await Promise.all(
    drawn.map((i) => limit(() => embeddingOf(service, ids[i] as string))),
  );
  const vectors = found.filter((vector) => vector !== undefined);
  const wanted = dimension ?? vectors[0]?.length;
  const rows = vectors.filter((vector) => vector.length === wanted).slice(0, count);
  if (wanted === undefined || rows.length === 0) {
    const what = dimension === undefined ? "an embedding" : `an embedding of ${dimension} elements`;
    throw new CommandError(
      `no chunk of ${service.options.project} has ${what}: import some, or give --data or --queries`,
    );
  }
  const values = new Float32Array(rows.length * wanted);
  for (const [i, row] of rows.entries()) values.set(row, i * wanted);
  return { rows: rows.length, dimension: wanted, values };
}

/** The whole bytes of each search, ready to be sent. */
export function rawRequests(
  service: Service,
  queries: Matrix,
  limit: number,
  form: Form,
): Uint8Array[] {
  if (limit > SEARCH_LIMIT_MAX) throw new CommandError(`--limit is at most ${SEARCH_LIMIT_MAX}`);
  const { searchPath, options } = service;
  return Array.from({ length: queries.rows }, (_, i) =>
    searchRequest(service, searchPath, options.key, rowOf(queries, i), { form, limit }),
  );
}
