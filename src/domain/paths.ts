/**
 * The normalized path of a document. Some systems write an accented letter as two characters that look the same, so
 * every path from a caller is normalized.
 */
export function documentPath(path: string): string {
  return path.normalize("NFC");
}

/** White space, control characters, and invisible characters. */
const INVISIBLE =
  "\\s\\x00-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e" +
  "\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0";

/**
 * The pattern for names of files, releases and environments. They have a visible character, and are not `.` or `..`,
 * because clients remove these from a URL.
 */
export const NAME_PATTERN = `[^.${INVISIBLE}]|\\.{3}|\\.[^.]|[^.]\\.`;
export const NAME_FAULT = "must have a visible character, and must not be . or ..";
const NAME = new RegExp(NAME_PATTERN);

/** The fault of a name, in words that follow the name of its field; undefined for a valid name. */
export function nameFault(name: string): string | undefined {
  return NAME.test(name) ? undefined : NAME_FAULT;
}
