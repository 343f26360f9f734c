import { join } from "node:path";
import { Option } from "commander";
import pRetry from "p-retry";
import { watchFolder } from "../content/import/files/watch.ts";
import { Conversions } from "../documents/conversion/conversions.ts";
import type { FormatOptions } from "../documents/conversion/formats.ts";
import { WATCH_RETRY_BASE_MS, WATCH_RETRY_MAX_MS } from "../domain/limits.ts";
import { atEnd } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { notice, withoutControls } from "./output.ts";

const TEXTS: Readonly<Record<keyof FormatOptions, string>> = {
  html: "also .html and .htm files, converted to Markdown",
  asciidoc: "also .adoc and .asciidoc files, converted to Markdown",
  pdf: "also the text of .pdf files, page by page",
  docx: "also the text of .docx files",
  text: "also .txt files and, as .txt, those without an extension",
};

/** The names of the options for formats other than Markdown. */
export const FORMAT_OPTIONS = Object.keys(TEXTS) as (keyof FormatOptions)[];

/** The options for formats other than Markdown in a folder. */
export function formatOptions(): Option[] {
  return FORMAT_OPTIONS.map((name) => new Option(`--${name}`, TEXTS[name]));
}

const CONVERSIONS_FILE = "conversions.sqlite";

/** The documents that commands of this installation have converted. */
export function openConversions(io: Io): Conversions {
  const conversions = new Conversions(join(configOf(io).dataDir, CONVERSIONS_FILE));
  atEnd(io, async () => conversions.close());
  return conversions;
}

/**
 * Watches a folder from now on. The returned function repeats work at each change until it is interrupted, and with
 * growing pauses while it fails for a reason that may pass, which it prints in one line. It throws other errors.
 */
export async function watch(
  io: Io,
  folder: string,
  reasonOf: (error: Error) => string | undefined,
): Promise<(work: () => Promise<unknown>) => Promise<void>> {
  const changes = await watchFolder(folder, (fault) => notice(io, withoutControls(fault)));
  return async (work) => {
    notice(io, `watching ${folder}; interrupt to end`);
    for await (const _ of changes) {
      await pRetry(work, {
        retries: Infinity,
        minTimeout: WATCH_RETRY_BASE_MS,
        maxTimeout: WATCH_RETRY_MAX_MS,
        shouldRetry: ({ error }) => reasonOf(error) !== undefined,
        onFailedAttempt({ error, retryDelay }) {
          const reason = reasonOf(error);
          if (reason === undefined) return;
          notice(io, `${reason}; trying again in ${Math.ceil(retryDelay / 1_000)} s`);
        },
      });
    }
  };
}
