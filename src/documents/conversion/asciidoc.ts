import { convert, LoggerManager, NullLogger } from "@asciidoctor/core";
import { htmlToMarkdown } from "./html.ts";

// Asciidoctor reports oddities of a document on standard error, without the name of the file.
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

/** The Markdown of an AsciiDoc document, by way of HTML. */
export async function asciidocToMarkdown(text: string): Promise<string> {
  return htmlToMarkdown(String(await convert(text, OPTIONS)));
}
