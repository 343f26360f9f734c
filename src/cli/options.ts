import { InvalidArgumentError, Option } from "commander";
import { type ColumnMap, parseColumnMap } from "../content/import/tables/column-map.ts";
import { ImportError } from "../documents/errors.ts";
import { checkFilter } from "../domain/filter/check.ts";
import { isDateTime, parseDateTime } from "../domain/formats.ts";
import { API_KEY_NAME_MAX_CHARS, IMPORT_EMAIL_MAX_CHARS } from "../domain/limits.ts";

/** More than anything that is counted. */
const COUNT_MAX = 999_999_999;

/** Collects the values of an option that may be repeated. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

export function email(value: string): string {
  if (value.length > IMPORT_EMAIL_MAX_CHARS || !/^[^\s@\0]+@[^\s@\0]+$/.test(value)) {
    throw new InvalidArgumentError("It must be an email address.");
  }
  return value;
}

export function columnMap(value: string): ColumnMap {
  try {
    return parseColumnMap(value);
  } catch (error) {
    if (error instanceof ImportError) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
}

/** A filter of a search or a lookup, as JSON. */
export function filter(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError(`It must be JSON, such as '{"path": {"$prefix": "docs/"}}'.`);
  }
  const [fault] = checkFilter(value);
  if (fault !== undefined) throw new InvalidArgumentError(`${fault.field} ${fault.message}.`);
  return value as object;
}

export function keyName(value: string): string {
  if (value.length < 1 || value.length > API_KEY_NAME_MAX_CHARS) {
    throw new InvalidArgumentError(`It must have 1 to ${API_KEY_NAME_MAX_CHARS} characters.`);
  }
  return value;
}

/** A parser of numbers within bounds, whole ones unless said otherwise. */
export function between(min: number, max: number, isWhole = true): (value: string) => number {
  return (value) => {
    const number = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    const isValid = number >= min && number <= max && (!isWhole || Number.isInteger(number));
    if (isValid) return number;
    const kind = isWhole ? "whole number" : "number";
    throw new InvalidArgumentError(`It must be a ${kind} between ${min} and ${max}.`);
  };
}

/** Parses a positive whole number. */
export const count = between(1, COUNT_MAX);

/** Parses a score or a threshold. */
export const score = between(0, 1, false);

const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses a duration such as `90s`, `30m`, `24h`, `7d` or `0` into seconds. */
function durationSeconds(value: string): number {
  const [, number, unit = "s"] = /^(\d{1,6})([smhd])?$/.exec(value) ?? [];
  if (number === undefined || (unit === "s" && value !== "0" && !value.endsWith("s"))) {
    throw new InvalidArgumentError("It must be a duration such as 90s, 30m, 24h, 7d or 0.");
  }
  return Number(number) * (SECONDS_PER_UNIT[unit] as number);
}

/** An option with a duration. Its default is shown as a user would write it. */
export function duration(flags: string, description: string, usual: string): Option {
  return new Option(flags, description)
    .argParser(durationSeconds)
    .default(durationSeconds(usual), usual);
}

/** Parses an RFC 3339 time. */
export function time(value: string): Date {
  if (!isDateTime(value)) {
    throw new InvalidArgumentError("It must be a time such as 2030-01-31T12:00:00Z.");
  }
  return parseDateTime(value);
}

/** Parses an RFC 3339 time in the future. */
export function futureTime(value: string): Date {
  const parsed = time(value);
  if (parsed.getTime() <= Date.now()) throw new InvalidArgumentError("It must be in the future.");
  return parsed;
}

export function url(value: string): string {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) {
    throw new InvalidArgumentError("It must be an http:// or https:// URL.");
  }
  return value;
}
