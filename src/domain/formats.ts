const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-](\d\d):(\d\d))$/;

/** True for a UUID in its usual form, in upper or lower case. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/**
 * The reason why a text cannot be stored, in words that follow the name of its field; undefined if it can. PostgreSQL
 * does not store NUL characters, and UTF-8 cannot encode an unpaired surrogate.
 */
export function textFault(text: string): string | undefined {
  if (text.includes("\0")) return "contains a NUL character";
  return text.isWellFormed() ? undefined : "contains an unpaired surrogate";
}

/** True for text that can be stored. */
export function isStorable(text: string): boolean {
  return textFault(text) === undefined;
}

/** True for an RFC 3339 date-time that exists in the calendar, within the years 1 to 9999 in UTC. */
export function isDateTime(value: string): boolean {
  const match = DATE_TIME.exec(value);
  if (!match) return false;
  const [year, month, day, hour, minute, second, offsetHour, offsetMinute] = match
    .slice(1)
    .map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 60) return false;
  if (offsetHour > 23 || offsetMinute > 59) return false;
  if (day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return false;
  // In UTC the year may need more than four digits, which PostgreSQL does not accept.
  const yearInUtc = parseDateTime(value).getUTCFullYear();
  return yearInUtc >= 1 && yearInUtc <= 9999;
}

/** The time of an RFC 3339 date-time. A leap second becomes the last millisecond before it. */
export function parseDateTime(value: string): Date {
  return new Date(value.toUpperCase().replace(/:60(?:\.\d+)?/, ":59.999"));
}

/** True for an absolute URI. */
export function isUri(value: string): boolean {
  return URL.canParse(value);
}

/** A time as RFC 3339 in UTC with milliseconds; null stays null. */
export function timestamp(value: Date): string;
export function timestamp(value: Date | null): string | null;
export function timestamp(value: Date | null): string | null {
  return value === null ? null : value.toISOString();
}

/** True for a text of at most `chars` characters. A character has one or two UTF-16 units. */
export function hasAtMost(chars: number, text: string): boolean {
  return text.length <= chars || (text.length <= 2 * chars && [...text].length <= chars);
}
