/** Messages cut the values that they name to this length. */
const ABBREVIATED_MAX_CHARS = 64;

/**
 * A caller's value for use in a message: cut to ABBREVIATED_MAX_CHARS, and with `?` for control
 * characters, which could forge log lines and terminal output.
 */
export function abbreviate(value: string): string {
  const clean = value.replace(/[\p{Cc}\u2028\u2029]/gu, "?");
  if (clean.length <= ABBREVIATED_MAX_CHARS) return clean;
  return `${clean.slice(0, ABBREVIATED_MAX_CHARS)}...`;
}
