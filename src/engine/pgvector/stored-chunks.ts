import type { Given } from "../../../native/retrieval.ts";
import type { Scope } from "../../domain/scope.ts";
import type { MemberLists } from "../../index/fields/member-lists.ts";
import { renderChunk, vectorOf } from "../../index/versions/chunk-content.ts";
import type { VersionReader } from "../../index/versions/version-index.ts";
import type { Reply, RetrieveRequest } from "../requests/request.ts";

/**
 * The maximum number of reads of versions for one request. Each page shows the versions that were read. It needs
 * further versions only in place of hits that turned out to be duplicates.
 */
const READS_MAX = 8;

type GivenVersions = Given["versions"];

interface ReadVersion {
  readonly id: string;
  readonly chunks: Array<string | Float32Array | null>;
  /** The chunks that were read, including others than those of the scope. */
  read: number;
}

/** The chunks that retrievals show. The platform's database has them, because the nodes index texts only. */
export class StoredChunks {
  /** @param members lists those of some versions that a scope with a filter holds */
  constructor(
    private readonly reader: Pick<VersionReader, "chunks">,
    private readonly members: (scope: Scope, among: readonly string[]) => Promise<MemberLists>,
  ) {}

  /** Runs a retrieval, and again with the versions that its page shows. */
  async retrieve(
    request: RetrieveRequest,
    hits: Given["hits"],
    run: (request: RetrieveRequest) => Reply<"retrieve"> | Promise<Reply<"retrieve">>,
  ): Promise<Reply<"retrieve">> {
    let versions: GivenVersions = [];
    for (let reads = 0; reads <= READS_MAX; reads++) {
      request.given = { versions, hits };
      const reply = await run(request);
      if (reply.status !== "missing-chunks") return reply;
      versions = [...versions, ...(await this.#read(request.scope, reply.versionIds))];
    }
    throw new Error("a retrieval needs ever more versions");
  }

  async #read(scope: Scope, versionIds: readonly string[]): Promise<GivenVersions> {
    const isMember = await this.#membersOf(scope, versionIds);
    const versions = versionIds.map((id): ReadVersion => ({ id, chunks: [], read: 0 }));
    const byId = new Map(versions.map((version) => [version.id, version]));
    for await (const rows of this.reader.chunks(versionIds)) {
      for (const row of rows) {
        const version = byId.get(row.file_version_id) as ReadVersion;
        if (!isMember(version.id, version.read++)) continue;
        version.chunks.push(renderChunk(row), vectorOf(row));
      }
    }
    return versions;
  }

  /** Tells by a version and the chunks before it in the version whether a scope holds a chunk. */
  async #membersOf(
    scope: Scope,
    among: readonly string[],
  ): Promise<(versionId: string, position: number) => boolean> {
    if (scope.filter === undefined) return () => true;
    const { versionIds, partIds, positions } = await this.members(scope, among);
    const whole = new Set(versionIds);
    const parts = new Set(partIds.map((id, i) => `${id} ${positions[i]}`));
    return (versionId, position) => whole.has(versionId) || parts.has(`${versionId} ${position}`);
  }
}
