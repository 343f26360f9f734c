/** JSON numbers with longer exponents are compared as text. */
const EXPONENT_MAX_CHARS = 15;

/** The same text for 12.50e1, 125 and 1.25E2: digits without outer zeros, and the exponent. */
export function canonicalNumber(source: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) as RegExpExecArray;
  if (exponent.length > EXPONENT_MAX_CHARS) return source;
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === "0") start++;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  const scale = Number(exponent) + whole.length - end;
  return `${sign}${digits.slice(start, end)}e${scale}`;
}

function canonicalObject(members: Record<string, string>): string {
  const entries = Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${members[name]}`);
  return `{${entries.join(",")}}`;
}

/**
 * The canonical form of a JSON text: equal for two texts exactly when they have the same value,
 * regardless of key order, white space, escapes and the notation of numbers. Numbers are compared by
 * their digits, so those that only differ beyond a double's precision stay different.
 */
export function canonicalJson(text: string): string {
  // The reviver runs from the leaves up, so the members of a value are canonical already.
  const canonical: unknown = JSON.parse(text, (_, value: unknown, context?: { source: string }) => {
    if (typeof value === "number") return canonicalNumber((context as { source: string }).source);
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    return Array.isArray(value)
      ? `[${value.join(",")}]`
      : canonicalObject(value as Record<string, string>);
  });
  return canonical as string;
}
