import "./navigator.ts";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { getDocument } from "pdfjs-dist/legacy/build/pdf.mjs";
import type { DocumentText } from "../foreign/protocol.ts";
import { RecordError } from "../records/errors.ts";
import { documentMarkdown } from "./converted.ts";
import { paragraphsOf } from "./pdf-lines.ts";

const PDF_MAX_PAGES = 5_000;
const ASSETS = dirname(fileURLToPath(import.meta.resolve("pdfjs-dist/package.json")));
const OPTIONS = {
  /** The reader reports what it finds odd on its own unless it is silent. */
  verbosity: 0,
  /** What the codes of Chinese, Japanese and Korean letters mean. */
  cMapUrl: `${ASSETS}/cmaps/`,
  standardFontDataUrl: `${ASSETS}/standard_fonts/`,
};

type Pdf = Awaited<ReturnType<typeof getDocument>["promise"]>;

/**
 * The text of a PDF as Markdown: a heading for each page, and the title of its properties, else the name of
 * the file. Throws a RecordError.
 */
export async function pdfToMarkdown(bytes: Uint8Array, name: string): Promise<DocumentText> {
  const pdf = await open(bytes);
  try {
    if (pdf.numPages > PDF_MAX_PAGES) throw new RecordError(`has more than ${PDF_MAX_PAGES} pages`);
    const title = await titleOf(pdf);
    return { text: documentMarkdown(title ?? name, await htmlOf(pdf)), leftOut: [] };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    // The reader takes the bytes for itself.
    return await getDocument({ ...OPTIONS, data: Uint8Array.from(bytes) }).promise;
  } catch (error) {
    const isEncrypted = (error as Error).name === "PasswordException";
    throw isEncrypted ? new RecordError("is encrypted") : error;
  }
}

async function titleOf(pdf: Pdf): Promise<string | undefined> {
  const info = (await pdf.getMetadata().catch(() => undefined))?.info as { Title?: unknown };
  return typeof info?.Title === "string" && info.Title.trim() !== "" ? info.Title : undefined;
}

async function htmlOf(pdf: Pdf): Promise<string> {
  let html = "";
  let hasText = false;
  for (let number = 1; number <= pdf.numPages; number++) {
    const paragraphs = await paragraphsAt(pdf, number);
    hasText ||= paragraphs.length > 0;
    html += `<h1>Page ${number}</h1>`;
    for (const paragraph of paragraphs) html += `<p>${Bun.escapeHTML(paragraph)}</p>`;
  }
  if (!hasText) throw new RecordError("has no text: its pages may have been scanned");
  return html;
}

async function paragraphsAt(pdf: Pdf, number: number): Promise<string[]> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return paragraphsOf(items.filter((item) => "str" in item));
  } catch (error) {
    throw new RecordError(`cannot be read as PDF at page ${number}: ${(error as Error).message}`);
  }
}
