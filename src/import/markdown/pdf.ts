import { inflateSync } from "node:zlib";
import { getDocumentProxy } from "unpdf";
import { CONVERTED_MAX_CHARS } from "../../shared/limits.ts";
import { RecordError } from "../records/errors.ts";
import { documentMarkdown } from "./converted.ts";

const PDF_MAX_PAGES = 5_000;
/** The whole conversion; it is looked at between pages. */
const PDF_MAX_MS = 60_000;
/** What a stream of text, instructions or a font may expand to. Images are not expanded. */
const PDF_STREAM_MAX_BYTES = 67_108_864;
/** Lines that are farther from each other than this many heights begin a paragraph. */
const PARAGRAPH_GAP = 1.6;

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

interface Line {
  text: string;
  /** From the bottom of the page, and the size of the letters, in points. */
  readonly y: number;
  readonly height: number;
}

/**
 * The text of a PDF as Markdown: a heading for each page, and the title of its properties, else the name of
 * the file. Throws a RecordError.
 */
export async function pdfToMarkdown(bytes: Uint8Array, name: string): Promise<string> {
  requireBoundedStreams(bytes);
  const pdf = await open(bytes);
  try {
    if (pdf.numPages > PDF_MAX_PAGES) throw new RecordError(`has more than ${PDF_MAX_PAGES} pages`);
    const title = await titleOf(pdf);
    return documentMarkdown(title ?? name, await htmlOf(pdf));
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    // The reader takes the bytes for itself. It reports what it finds odd on its own unless it is silent.
    return await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 });
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "PasswordException") throw new RecordError("is encrypted");
    throw new RecordError(`cannot be read as PDF: ${message}`);
  }
}

async function titleOf(pdf: Pdf): Promise<string | undefined> {
  const info = (await pdf.getMetadata().catch(() => undefined))?.info as { Title?: unknown };
  return typeof info?.Title === "string" && info.Title.trim() !== "" ? info.Title : undefined;
}

async function htmlOf(pdf: Pdf): Promise<string> {
  const deadline = performance.now() + PDF_MAX_MS;
  let html = "";
  let hasText = false;
  for (let number = 1; number <= pdf.numPages; number++) {
    if (performance.now() > deadline) throw new RecordError(`takes more than ${PDF_MAX_MS} ms`);
    const paragraphs = paragraphsOf(await linesOf(pdf, number));
    hasText ||= paragraphs.length > 0;
    html += `<h1>Page ${number}</h1>`;
    for (const paragraph of paragraphs) html += `<p>${Bun.escapeHTML(paragraph)}</p>`;
    if (html.length > CONVERTED_MAX_CHARS) {
      throw new RecordError(`has more than ${CONVERTED_MAX_CHARS} characters`);
    }
  }
  if (!hasText) throw new RecordError("has no text: its pages may have been scanned");
  return html;
}

async function linesOf(pdf: Pdf, number: number): Promise<Line[]> {
  const lines: Line[] = [];
  let isNew = true;
  try {
    const page = await pdf.getPage(number);
    for (const item of (await page.getTextContent()).items) {
      if (!("str" in item)) continue;
      const [, , , , , y] = item.transform as number[];
      if (isNew) lines.push({ text: "", y: y ?? 0, height: item.height });
      (lines.at(-1) as Line).text += item.str;
      isNew = item.hasEOL;
    }
    page.cleanup();
  } catch (error) {
    throw new RecordError(`cannot be read as PDF at page ${number}: ${(error as Error).message}`);
  }
  return lines.filter(({ text }) => text.trim() !== "");
}

function paragraphsOf(lines: readonly Line[]): string[] {
  const paragraphs: string[] = [];
  lines.forEach(({ text, y, height }, i) => {
    const before = lines[i - 1];
    const isApart =
      before === undefined ||
      Math.abs(before.y - y) > PARAGRAPH_GAP * Math.max(height, before.height);
    if (isApart) paragraphs.push(text.trim());
    else paragraphs.push(joined(paragraphs.pop() ?? "", text.trim()));
  });
  return paragraphs;
}

/** A word that is divided at the end of a line is one word. */
function joined(before: string, after: string): string {
  const divided = /\p{L}-$/u.test(before) && /^\p{Ll}/u.test(after);
  return divided ? before.slice(0, -1) + after : `${before} ${after}`;
}

/**
 * Throws a RecordError if a stream expands to more than memory should hold. A few bytes can expand to any number of
 * them, and the reader of PDFs has no bound.
 */
function requireBoundedStreams(bytes: Uint8Array): void {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = file.indexOf("stream"); at >= 0; at = file.indexOf("stream", at + 6)) {
    const dictionary = file.subarray(Math.max(0, at - 512), at).toString("latin1");
    const own = dictionary.slice(dictionary.lastIndexOf(" obj"));
    if (!own.includes("FlateDecode") && !own.includes("/Fl")) continue;
    if (/\/Fl(?:ateDecode)?\s*\/Fl/.test(own)) throw new RecordError(TOO_LARGE);
    if (/\/Subtype\s*\/Image/.test(own)) continue;
    const start = at + 6 + (file[at + 6] === 0x0d ? 2 : 1);
    const end = file.indexOf("endstream", start);
    try {
      inflateSync(file.subarray(start, end < 0 ? undefined : end), {
        maxOutputLength: PDF_STREAM_MAX_BYTES,
      });
    } catch (error) {
      if (isTooLarge(error)) throw new RecordError(TOO_LARGE);
      // What is broken or encrypted is the reader's to say.
    }
  }
}

const TOO_LARGE = `expands to more than ${PDF_STREAM_MAX_BYTES} bytes`;

const isTooLarge = (error: unknown) =>
  (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
