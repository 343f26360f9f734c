import type { FileVersion } from "./file-record.ts";
import type { RecordKind, RecordOf } from "./schemas.ts";

/** A valid record. A `file` has its defaults filled in. */
export type ParsedRecord =
  | { readonly kind: "file"; readonly record: FileVersion }
  | {
      [K in Exclude<RecordKind, "file">]: { readonly kind: K; readonly record: RecordOf<K> };
    }[Exclude<RecordKind, "file">];
