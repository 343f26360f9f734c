import { InvalidArgumentError } from "commander";
import { isDateTime } from "../shared/formats.ts";
import { API_KEY_NAME_MAX_CHARS, IMPORT_EMAIL_MAX_CHARS } from "../shared/limits.ts";

/** Gathers an option that may be given several times. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

export function email(value: string): string {
  if (value.length > IMPORT_EMAIL_MAX_CHARS || !/^[^\s@\0]+@[^\s@\0]+$/.test(value)) {
    throw new InvalidArgumentError("It must be an email address.");
  }
  return value;
}

export function keyName(value: string): string {
  if (value.length < 1 || value.length > API_KEY_NAME_MAX_CHARS) {
    throw new InvalidArgumentError(`It must have 1 to ${API_KEY_NAME_MAX_CHARS} characters.`);
  }
  return value;
}

/** A moment still to come, as RFC 3339 text. */
export function futureMoment(value: string): Date {
  if (!isDateTime(value)) {
    throw new InvalidArgumentError("It must be a moment such as 2030-01-31T12:00:00Z.");
  }
  const moment = new Date(value);
  if (moment.getTime() <= Date.now()) throw new InvalidArgumentError("It must lie in the future.");
  return moment;
}

export function url(value: string): string {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) {
    throw new InvalidArgumentError("It must be a URL that starts with http:// or https://.");
  }
  return value;
}
