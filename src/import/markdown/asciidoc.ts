import { convert, LoggerManager, NullLogger } from "@asciidoctor/core";
import { CONVERTED_MAX_CHARS } from "../../shared/limits.ts";
import { RecordError } from "../records/errors.ts";
import { htmlToMarkdown } from "./html.ts";

// Asciidoctor reports what it finds odd in a document on standard error, without the name of the file.
LoggerManager.logger = new NullLogger();

const OPTIONS = {
  /** A document reads no other file, not even by `include::`, and no address. */
  safe: "secure",
  standalone: false,
  attributes: {
    /** The title of the document becomes the first heading. */
    showtitle: "",
    "skip-front-matter": "",
    "toc!": "",
  },
};

/** The Markdown of an AsciiDoc document, by way of HTML. Throws a RecordError. */
export async function asciidocToMarkdown(text: string): Promise<string> {
  if (text.length > CONVERTED_MAX_CHARS) {
    throw new RecordError(`has more than ${CONVERTED_MAX_CHARS} characters of AsciiDoc`);
  }
  return htmlToMarkdown(await htmlOf(text));
}

async function htmlOf(text: string): Promise<string> {
  try {
    return String(await convert(text, OPTIONS));
  } catch (error) {
    throw new RecordError(`cannot be converted from AsciiDoc: ${(error as Error).message}`);
  }
}
