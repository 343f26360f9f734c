import { RecordError } from "../../../documents/errors.ts";

/** Part of every version key. Change it when chunking changes, so that files get new versions. */
const CHUNKER = "text-2";

const FORMS = ["markdown", "plain"] as const;

/** A key of a text, and the number that it gets when other contents have it. */
const TEXT_KEY = /^(text:[0-9a-f]{64})(?::\d+)?$/;

/** The version key of a file that arrived as text, whose chunks are those that the service cuts. */
export function textKey(content: string, form: (typeof FORMS)[number]): string {
  const hash = new Bun.CryptoHasher("sha256").update(`${CHUNKER}\n${form}\n`).update(content);
  return `text:${hash.digest("hex")}`;
}

/**
 * Throws a RecordError if a given version key is one that the service derives from a text, and this is not the
 * text: a later write of that text would find these contents.
 */
export function requireOwnTextKey(key: string | undefined, content: string | null): void {
  const [, derived] = TEXT_KEY.exec(key ?? "") ?? [];
  if (derived === undefined) return;
  if (content !== null && FORMS.some((form) => textKey(content, form) === derived)) return;
  throw new RecordError(
    "version_key: the service derives such a key from the content, which is another",
  );
}
