import type { FileRemoval, FileVersion } from "./file-record.ts";
import type { RecordKind, RecordOf } from "./schemas.ts";

/** A valid record. A `file` has its defaults filled in, unless it is one that is removed. */
export type ParsedRecord =
  | { readonly kind: "file"; readonly record: FileVersion }
  | { readonly kind: "removed_file"; readonly record: FileRemoval }
  | {
      [K in Exclude<RecordKind, "file">]: { readonly kind: K; readonly record: RecordOf<K> };
    }[Exclude<RecordKind, "file">];
