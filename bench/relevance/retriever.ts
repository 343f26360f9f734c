import * as native from "../../native/index.ts";
import type { RetrieveRequest } from "../../src/engine/requests/request.ts";
import { appendBatch } from "../../src/indexing/vector/chunk-batch.ts";
import {
  buildSegment,
  type KnowledgeDocument,
  newView,
  type SharedView,
} from "../../src/text/index.ts";
import { retrieve } from "../../support/requests.ts";

type Mode = RetrieveRequest["mode"];
export const MODES: readonly Mode[] = ["keyword", "semantic", "hybrid"];

export type VectorOf = (text: string) => Float32Array<ArrayBuffer>;

let retrievers = 0;

/** Documents of one chunk each, with their vectors, in the native core of this process. */
export class Retriever {
  readonly #name = `retriever ${process.pid} ${++retrievers}`;
  readonly #view: SharedView;

  /** @param vectors one per document */
  constructor(documents: readonly KnowledgeDocument[], vectors: readonly Float32Array[]) {
    const ids = documents.map((_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`);
    const own = documents.map((document, i) => ({ ...document, id: ids[i] as string }));
    const buffer = buildSegment(own) as SharedArrayBuffer;
    this.#view = newView([{ key: this.#name, buffer }], [null]);
    const dimension = vectors[0]?.length as number;
    const chunks = own.map(({ id, path, content }) => ({
      ...{ id, file_id: id, file_version_id: id, file_path: path, index: 0, content },
      ...{ start_offset: 0, end_offset: content.length, token_count: 1, metadata: "{}" },
      ...{ dimension, embedding: new Uint8Array(0) },
    }));
    native.openProject(this.#name);
    const ordinals = native.append(this.#name, dimension, appendBatch(chunks, vectors, dimension));
    const ranges = Uint32Array.from([...ordinals].flatMap((ordinal) => [ordinal, 1]));
    native.setScope(this.#name, "scope", [{ dimension, ranges }]);
  }

  /** The paths of the best hits. */
  paths(mode: Mode, query: string, vector: Float32Array<ArrayBuffer>, limit: number): string[] {
    return this.hits(mode, query, vector, limit).map(({ path }) => path);
  }

  /** The best hits. */
  hits(
    mode: Mode,
    query: string,
    vector: Float32Array<ArrayBuffer>,
    limit: number,
  ): Array<{ path: string; score: number }> {
    const { json } = retrieve(this.#view, {
      ...{ project: this.#name, mode, limit, threshold: mode === "semantic" ? -1 : 0 },
      ...{ query, vector: mode === "keyword" ? null : vector },
    });
    const { data } = JSON.parse(new TextDecoder().decode(json)) as {
      data: Array<{ chunk: { file_path: string }; score: number }>;
    };
    return data.map(({ chunk, score }) => ({ path: chunk.file_path, score }));
  }

  close(): void {
    native.dropProject(this.#name);
  }
}
