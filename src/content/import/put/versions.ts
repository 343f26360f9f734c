import type { Queryable } from "../../../db/client.ts";
import type { Charging } from "../../../db/quotas.ts";
import { RecordError } from "../../../documents/errors.ts";
import { fileTitle, isMarkdownPath } from "../../../documents/markdown/index.ts";
import { derivedId, type IdOrigin, idAside, isIdAside } from "../../../domain/uuid.ts";
import { BUILT_IN_FINGERPRINT } from "../../../embed/embedders/project-embedders.ts";
import { cutChunks } from "../records/cut.ts";
import type { FileChunk, FileVersion } from "../records/file-record.ts";
import { embeddingBytes, embedHere } from "../records/passage.ts";
import { contentsHash, embeddingsHash, type StoredContents, storedContents } from "./contents.ts";
import { idOf, type KeyReference, type KnownRow, KnownRows, resolveByKey } from "./known-rows.ts";
import { insertRows, type Values } from "./row-set.ts";

/** Embeddings of the service in one transaction, which are in memory until it ends. Further files get theirs later. */
const OWN_EMBEDDINGS_BYTES = 16_777_216;

/** A version to be stored for a file. */
export interface VersionToPut {
  readonly projectId: string;
  /** The fingerprint of the project's embedder, which stays as it is until the transaction ends; null without one. */
  readonly embedder: string | null;
  /** True if the embeddings come from a client of the project, who may give any. */
  readonly isByClient: boolean;
  readonly record: FileVersion;
}

/** A version that is stored, or will be. */
export interface AcceptedVersion {
  readonly fileId: string;
  readonly versionId: string;
  /** True if it was not stored before. */
  readonly isNew: boolean;
}

export interface PutVersion extends AcceptedVersion {
  /** The number of rows that it has added. */
  readonly rows: number;
}

/** A new version with its rows of other tables. */
interface NewVersion {
  /** The place among the new versions: writers keep one order. */
  readonly place: string;
  readonly file: Values | undefined;
  readonly version: Values;
  readonly chunks: readonly Values[];
  /** True if an embedder has something to embed. */
  readonly waits: boolean;
  /** Bytes of embeddings that the record does not have. */
  readonly ownBytes: number;
}

/**
 * Stores versions of files with their chunks, unless they are stored. Versions that mean the same row are resolved in
 * their order. Then each table gets its new rows in the order of their keys, so that two writers never wait for each
 * other. Returns the outcome of each version, or the reason for its refusal.
 *
 * @param accept may throw a RecordError, and the version is not stored then; called in the order of the versions
 */
export async function putVersions(
  writer: Charging,
  versions: readonly VersionToPut[],
  accept: (put: AcceptedVersion, index: number) => void = () => {},
): Promise<(PutVersion | RecordError)[]> {
  const { sql: tx } = writer;
  const files = new KnownRows(tx, { table: "files", parent: "project_id", key: "t.path" });
  const references = versions.map(({ projectId: parent, record: { id, path: key } }) => ({
    id,
    parent,
    key,
  }));
  await files.load(
    references.map((reference) => idOf("file", reference)),
    references,
  );
  const known = new KnownVersions(tx);
  await known.load(
    versions.map(({ record }, i) => {
      const reference = references[i] as KeyReference;
      const stored = files.byKey(reference.parent, reference.key);
      return { file: stored ?? { id: idOf("file", reference), isNew: true }, record };
    }),
  );
  const added = new Map<string, NewVersion>();
  const results: (PutVersion | RecordError)[] = [];
  let ownBytes = 0;
  for (const [i, each] of versions.entries()) {
    try {
      const file = resolveByKey(files, "file", references[i] as KeyReference, i);
      const version = await known.find(each.record, file);
      const isNew = version.isNew === true && !added.has(version.id);
      const put = { fileId: file.id, versionId: version.id, isNew };
      accept(put, i);
      files.add(file);
      const addition = isNew
        ? newVersion(each, file, version, ownBytes < OWN_EMBEDDINGS_BYTES)
        : undefined;
      if (addition !== undefined) {
        ownBytes += addition.ownBytes;
        known.add(version, each.record);
        added.set(version.id, addition);
      }
      results.push({ ...put, rows: addition === undefined ? 0 : 1 + addition.chunks.length });
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      results.push(error);
    }
  }
  await insertVersions(writer, [...added.values()]);
  return results;
}

interface Wanted {
  readonly file: Pick<KnownRow, "id" | "isNew">;
  readonly record: FileVersion;
}

/**
 * Versions by id and key, with hashes of their contents. A client may give a key and an id, so neither proves the
 * contents of a version.
 */
class KnownVersions {
  readonly #rows: KnownRows;
  readonly #stored = new Map<string, StoredContents>();
  readonly #new = new Map<string, FileVersion>();

  constructor(private readonly tx: Queryable) {
    const naming = { table: "file_versions", parent: "file_id", key: "t.version_key" };
    this.#rows = new KnownRows(tx, naming);
  }

  /** Reads the rows for `find`, without keys with a number, which are few. */
  async load(wanted: readonly Wanted[]): Promise<void> {
    await this.#loadKeys(wanted.map((each) => ({ ...each, key: each.record.versionKey })));
  }

  async #loadKeys(wanted: readonly (Wanted & { readonly key: string })[]): Promise<void> {
    const stored = wanted.filter(({ file }) => file.isNew !== true);
    const keys = stored.map(({ file, key }) => ({ parent: file.id, key }));
    await this.#rows.load(
      wanted.map(
        ({ file, record, key }) => record.versionId ?? derivedId(...origin(file, record, key)),
      ),
      keys,
    );
    const known = wanted.flatMap(({ file, record, key }) => {
      const row = record.isStored ? undefined : this.#rows.byKey(file.id, key);
      return row === undefined || row.isNew ? [] : [row.id];
    });
    for (const [id, stored] of await storedContents(this.tx, [...new Set(known)])) {
      this.#stored.set(id, stored);
    }
  }

  /**
   * The version of a file with the contents of the record, stored or new. A key that is a hash of the contents gets
   * a number when it names a version with others, which a client has made. Records after it find a new version once
   * it is added. Throws a RecordError.
   */
  async find(record: FileVersion, file: KnownRow): Promise<KnownRow> {
    for (let number = 1; ; number++) {
      const key = number === 1 ? record.versionKey : `${record.versionKey}:${number}`;
      if (number > 1) await this.#loadKeys([{ file, record, key }]);
      const version = this.#withKey(record, key, file);
      if (version !== undefined) return version;
    }
  }

  /** Makes a new version and its contents known. */
  add(version: KnownRow, record: FileVersion): void {
    this.#new.set(version.id, record);
    this.#rows.add(version);
  }

  /**
   * A version's id is derived from its fingerprint, so a reused key with other embeddings is detected. Undefined if
   * the key is a hash and names a version with other contents.
   */
  #withKey(record: FileVersion, key: string, file: KnownRow): KnownRow | undefined {
    const { versionId: given, keyIsContentHash } = record;
    const content = origin(file, record, key);
    const id = given ?? derivedId(...content);
    const known = this.#rows.byKey(file.id, key);
    if (known !== undefined) {
      const isSame = known.id === id || (given === undefined && isIdAside(known.id, ...content));
      if (this.#contains(known.id, record) && (isSame || keyIsContentHash)) return known;
      if (keyIsContentHash) return undefined;
      throw new RecordError(
        "version_key: already names a version of this file with other contents",
      );
    }
    const isTaken = this.#rows.byId(id) !== undefined;
    if (isTaken && given !== undefined) {
      throw new RecordError("version_id: belongs to another version");
    }
    const own = isTaken ? idAside(...content) : id;
    return { id: own, parent: file.id, key, isNew: true };
  }

  /**
   * True if the version has the contents of the record. If the service has derived the record's key from the contents,
   * the version must also have no other embeddings that a client gave.
   */
  #contains(versionId: string, record: FileVersion): boolean {
    if (record.isStored === true) return true;
    const earlier = this.#new.get(versionId);
    const known =
      earlier === undefined
        ? this.#stored.get(versionId)
        : { hash: contentsHash(earlier), given: embeddingsHash(earlier) };
    if (known?.hash !== contentsHash(record)) return false;
    if (known.given === null || !record.keyIsContentHash) return true;
    return known.given === embeddingsHash(record);
  }
}

function origin(file: Pick<KnownRow, "id">, { fingerprint }: FileVersion, key: string): IdOrigin {
  return ["file_version", file.id, `${key}\n${fingerprint}`];
}

function newVersion(
  { projectId: project_id, embedder, isByClient, record }: VersionToPut,
  file: KnownRow,
  { id, key }: KnownRow,
  mayEmbed: boolean,
): NewVersion {
  const { path, content } = record;
  const title = record.title ?? fileTitle(path, content);
  const given = chunksToStore(record, embedder);
  const embedsHere = mayEmbed && embedder === BUILT_IN_FINGERPRINT;
  const chunks = embedsHere ? embedHere({ path, title }, given) : given;
  return {
    place: `${project_id}\n${path}\n${key}`,
    file: file.isNew === true ? { id: file.id, project_id, path } : undefined,
    version: {
      id,
      project_id,
      file_id: file.id,
      version_key: key,
      content,
      title,
      chunk_count: String(chunks.length),
      given_embeddings: isByClient ? embeddingsHash(record) : null,
    },
    chunks: chunks.map((chunk) => ({
      project_id,
      file_id: file.id,
      file_version_id: id,
      file_path: path,
      ...chunkValues(id, chunk),
      dimension: chunk.dimension === null ? null : String(chunk.dimension),
      embedder: chunk.embedding === null ? null : embedder,
      embedding: chunk.embedding,
    })),
    waits: isToBeEmbedded(record, embedder, chunks),
    ownBytes: embeddingBytes(chunks) - embeddingBytes(given),
  };
}

/** The values of a chunk that its text determines. */
export function chunkValues(versionId: string, chunk: FileChunk): Values {
  return {
    id: derivedId("chunk", versionId, String(chunk.index)),
    index: String(chunk.index),
    content: chunk.content,
    start_offset: String(chunk.startOffset),
    end_offset: String(chunk.endOffset),
    token_count: String(chunk.tokenCount),
    metadata: chunk.writtenMetadata ?? chunk.metadata,
  };
}

/** The chunks of a file. An uncut text is cut if an embedder is to embed it. */
function chunksToStore(
  { chunks, content, path }: FileVersion,
  embedder: string | null,
): readonly FileChunk[] {
  if (chunks.length > 0 || content === null || embedder === null) return chunks;
  return [...cutChunks(content, isMarkdownPath(path))];
}

/** True if a chunk, or the text that is not cut, has no embedding yet. */
function isToBeEmbedded(
  { content }: FileVersion,
  embedder: string | null,
  chunks: readonly FileChunk[],
): boolean {
  // The function has_text of the database has the same condition.
  const isUncut = embedder === null && chunks.length === 0 && /\S/.test(content ?? "");
  return isUncut || chunks.some(({ embedding }) => embedding === null);
}

async function insertVersions(writer: Charging, added: readonly NewVersion[]): Promise<void> {
  const sorted = added.toSorted((a, b) => (a.place < b.place ? -1 : 1));
  const insert = (table: string, rows: readonly Values[], conflict = "") =>
    insertRows(writer, table, rows, { conflict, prepare: true });
  // A file may get several versions at once.
  const files = new Map(sorted.flatMap(({ file }) => (file ? [[file["id"], file]] : [])));
  const versions = sorted.map(({ version }) => version);
  const chunks = sorted.flatMap((each) => each.chunks);
  // The database keeps it only if the project has an embedder, whatever is known of that here.
  const waiting = sorted.flatMap(({ waits, version: { id, project_id } }) =>
    waits ? [{ file_version_id: id, project_id }] : [],
  );
  await insert("files", [...files.values()]);
  await insert("file_versions", versions);
  await insert("chunks", chunks);
  for (const { version, ownBytes } of sorted) {
    if (ownBytes > 0) writer.charges.leaveUncompared(version["project_id"] as string, ownBytes);
  }
  await insert("embedding_queue", waiting, "ON CONFLICT DO NOTHING");
}
