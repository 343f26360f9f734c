import type { FileRemoval, FileVersion } from "./file-record.ts";
import type { RecordKind, RecordOf } from "./schemas.ts";

/** A valid record. A `file` has its defaults filled in, unless it is one that is removed. */
export type ParsedRecord =
  | { readonly kind: "file"; readonly record: FileVersion }
  | { readonly kind: "removed_file"; readonly record: FileRemoval }
  | {
      [K in Exclude<RecordKind, "file">]: { readonly kind: K; readonly record: RecordOf<K> };
    }[Exclude<RecordKind, "file">];

/** A warning about files that name no scope. */
export function unscopedFiles(count: number): string {
  const [names, files] =
    count === 1 ? ["1 file record names", "the file"] : [`${count} file records name`, "the files"];
  return `${names} no environments and no releases, so no search finds ${files}`;
}

type ScopeRecord = Extract<
  ParsedRecord,
  { readonly kind: "file" | "removed_file" | "environment" | "release" }
>;

/** True for records that may change the results of searches of their project. */
export function isOfScope(parsed: ParsedRecord): parsed is ScopeRecord {
  return ["file", "removed_file", "environment", "release"].includes(parsed.kind);
}

/** True for a file that no search would find. */
export function namesNoScope({ kind, record }: ParsedRecord): boolean {
  return kind === "file" && record.environments.length === 0 && record.releases.length === 0;
}
