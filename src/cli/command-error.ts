import type { Slug } from "../problem/catalogue.ts";
import { Problem } from "../problem/problem.ts";

/** A failure whose message tells the user everything needed to fix it, without a stack trace. */
export class CommandError extends Error {
  override name = "CommandError";
}

/** A failure that the command has reported itself. */
export class ReportedError extends Error {
  override name = "ReportedError";
}

/** Replaces the messages of problems of an operation, by their slugs, because a command knows the names that it was given. */
export async function inWords<T>(
  call: Promise<T>,
  messages: Partial<Record<Slug, string>>,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const message = error instanceof Problem ? messages[error.slug] : undefined;
    throw message === undefined ? error : new CommandError(message);
  }
}
