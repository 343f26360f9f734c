/**
 * The path of a document, wherever a caller gives one. Some systems write letters with marks as two characters, which
 * look the same, so that a path has one form.
 */
export function documentPath(path: string): string {
  return path.normalize("NFC");
}

/** White space, control characters, and characters that show nothing. */
const INVISIBLE =
  "\\s\\x00-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e" +
  "\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0";

/**
 * What the name of a file, a release or an environment matches: a visible character, and more than one or two dots, which
 * clients take out of a URL.
 */
export const NAME_PATTERN = `[^.${INVISIBLE}]|\\.{3}|\\.[^.]|[^.]\\.`;
export const NAME_FAULT = "must have a visible character, and must not be . or ..";
const NAME = new RegExp(NAME_PATTERN);

/** What is wrong with a name, in words that follow that of its field; undefined without a fault. */
export function nameFault(name: string): string | undefined {
  return NAME.test(name) ? undefined : NAME_FAULT;
}
