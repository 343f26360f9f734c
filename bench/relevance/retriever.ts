import * as native from "../../native/index.ts";
import type { RetrieveRequest } from "../../src/engine/requests/request.ts";
import {
  buildSegment,
  type KnowledgeDocument,
  newView,
  type SharedView,
} from "../../src/index/segments/index.ts";
import { appendBatch } from "../../src/index/vector/chunk-batch.ts";
import { retrieve } from "../../support/requests.ts";

type Mode = RetrieveRequest["mode"];
export const MODES: readonly Mode[] = ["keyword", "semantic", "hybrid"];

export type VectorOf = (text: string) => Float32Array<ArrayBuffer>;

let retrievers = 0;

/** Documents, of one chunk each by default, with their vectors, in the native core of this process. */
export class Retriever {
  readonly #name = `retriever ${process.pid} ${++retrievers}`;
  readonly #view: SharedView;

  /** @param vectors a vector for each document, which all of its chunks have */
  constructor(
    documents: readonly KnowledgeDocument[],
    vectors: readonly Float32Array[],
    passagesOf = ({ content }: KnowledgeDocument): readonly string[] => [content],
  ) {
    const idOf = (document: number, chunk = 0) =>
      `${String(chunk).padStart(8, "0")}-0000-4000-8000-${String(document).padStart(12, "0")}`;
    const own = documents.map((document, i) => ({ ...document, id: idOf(i) }));
    const buffer = buildSegment(own) as SharedArrayBuffer;
    this.#view = newView([{ key: this.#name, buffer }], [null]);
    const dimension = vectors[0]?.length as number;
    const chunks = own.flatMap((document, i) => {
      const { id: version, path } = document;
      return passagesOf(document).map((content, index) => ({
        id: idOf(i, index),
        file_id: version,
        file_version_id: version,
        file_path: path,
        index,
        content,
        start_offset: 0,
        end_offset: content.length,
        token_count: 1,
        metadata: "{}",
        embedding: null,
      }));
    });
    const all = own.flatMap((document, i) =>
      passagesOf(document).map(() => vectors[i] as Float32Array),
    );
    native.openProject(this.#name);
    const ordinals = native.append(this.#name, dimension, appendBatch(chunks, all, dimension));
    const ranges = Uint32Array.from([...ordinals].flatMap((ordinal) => [ordinal, 1]));
    native.setScope(this.#name, "scope", [{ dimension, ranges }]);
  }

  /** The paths of the best hits. */
  paths(mode: Mode, query: string, vector: Float32Array<ArrayBuffer>, limit: number): string[] {
    return this.hits(mode, query, vector, limit).map(({ path }) => path);
  }

  /** The best hits, and the words that are marked in each. */
  hits(
    mode: Mode,
    query: string,
    vector: Float32Array<ArrayBuffer>,
    limit: number,
  ): Array<{ path: string; passage: string; score: number; marked: string[] }> {
    const { json } = retrieve(this.#view, {
      project: this.#name,
      mode,
      limit,
      threshold: mode === "semantic" ? -1 : 0,
      query,
      vector: mode === "keyword" ? null : vector,
    });
    const { data } = JSON.parse(new TextDecoder().decode(json)) as {
      data: Array<{
        chunk: { file_path: string; content: string };
        highlight?: { text: string; matches: Array<[number, number]> };
        score: number;
      }>;
    };
    return data.map(({ chunk, highlight = { text: "", matches: [] }, score }) => ({
      path: chunk.file_path,
      passage: chunk.content,
      score,
      marked: highlight.matches.map(([start, end]) => highlight.text.slice(start, end)),
    }));
  }

  close(): void {
    native.dropProject(this.#name);
  }
}
