import type { ParsedRecord } from "./parsed-record.ts";

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
