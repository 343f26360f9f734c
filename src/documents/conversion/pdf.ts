import "./navigator.ts";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { getDocument } from "pdfjs-dist/legacy/build/pdf.mjs";
import { RecordError } from "../errors.ts";
import type { DocumentText } from "../foreign/protocol.ts";
import { documentMarkdown, largeTitle, usefulTitle } from "./converted.ts";
import { compoundsOf, linesOf, paragraphsOf } from "./pdf-lines.ts";
import { type PageLines, withoutRunningLines } from "./pdf-running.ts";

const PDF_MAX_PAGES = 5_000;
/** Maximum ranges of pages that a report names; for more, it has their number. */
const RANGES_MAX = 10;
const ASSETS = dirname(fileURLToPath(import.meta.resolve("pdfjs-dist/package.json")));
/** Links have the text of the page, and popups that of the annotation to which they belong. */
const WITHOUT_TEXT = /^(?:Link|Popup)$/;
/** The flags Hidden and NoView. */
const INVISIBLE = 0b10_0010;
const OPTIONS = {
  /** The reader reports oddities itself unless it is silent. */
  verbosity: 0,
  /** The meaning of the codes of Chinese, Japanese and Korean letters. */
  cMapUrl: `${ASSETS}/cmaps/`,
  standardFontDataUrl: `${ASSETS}/standard_fonts/`,
};

type Pdf = Awaited<ReturnType<typeof getDocument>["promise"]>;

interface Page extends PageLines {
  /** The values of forms and the texts of annotations. */
  readonly notes: readonly string[];
  /** Why the page cannot be read. */
  readonly fault?: string;
}

/**
 * The text of a PDF as Markdown: a heading for each page, and the title of its properties, else its first large line,
 * else the name of the file. Throws a RecordError.
 */
export async function pdfToMarkdown(bytes: Uint8Array, name: string): Promise<DocumentText> {
  const pdf = await open(bytes);
  try {
    if (pdf.numPages > PDF_MAX_PAGES) throw new RecordError(`has more than ${PDF_MAX_PAGES} pages`);
    const metadata = await pdf.getMetadata().catch(() => undefined);
    const pages: Page[] = [];
    while (pages.length < pdf.numPages) pages.push(await readPage(pdf, pages.length + 1));
    const leftOut = leftOutOf(pages);
    const lines = withoutRunningLines(pages);
    const own = usefulTitle((metadata?.info as { Title?: unknown } | undefined)?.Title);
    const compounds = compoundsOf(lines.flat());
    const html = pages.map(({ notes }, i) => {
      const paragraphs = [...paragraphsOf(lines[i] ?? [], compounds), ...notes];
      const texts = paragraphs.map((paragraph) => `<p>${Bun.escapeHTML(paragraph)}</p>`);
      return `<h1>Page ${i + 1}</h1>${texts.join("")}`;
    });
    return { text: documentMarkdown(own ?? largeTitle(lines) ?? name, html.join("")), leftOut };
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

async function readPage(pdf: Pdf, number: number): Promise<Page> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const annotations: Annotation[] = await page.getAnnotations().catch(() => []);
    // In the units of the text, of which a page may have larger ones.
    const { transform, height } = page.getViewport({ scale: 1 / page.userUnit });
    page.cleanup();
    const pieces = items.filter((item) => "str" in item);
    const lines = linesOf(
      pieces.map((each) => ({ ...each, transform: shown(each.transform, transform, height) })),
    );
    return { lines, notes: annotationTexts(annotations), top: height, bottom: 0 };
  } catch (error) {
    return { lines: [], notes: [], top: 0, bottom: 0, fault: (error as Error).message };
  }
}

/** The matrix of a piece on the page as it is shown, which may be turned: from the left and from the bottom. */
function shown(
  [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0]: readonly number[],
  [p = 1, q = 0, r = 0, s = -1, dx = 0, dy = 0]: readonly number[],
  height: number,
): number[] {
  const across = [p * a + r * b, -(q * a + s * b), p * c + r * d, -(q * c + s * d)];
  return [...across, p * x + r * y + dx, height - (q * x + s * y + dy)];
}

/** Notes about the pages without text. Throws a RecordError if no page has text. */
function leftOutOf(pages: readonly Page[]): string[] {
  const unreadable: number[] = [];
  const empty: number[] = [];
  pages.forEach(({ lines, notes, fault }, i) => {
    if (fault !== undefined) unreadable.push(i + 1);
    else if (lines.length + notes.length === 0) empty.push(i + 1);
  });
  const [first] = unreadable;
  if (unreadable.length + empty.length === pages.length) {
    if (first === undefined) throw new RecordError("has no text: its pages may have been scanned");
    throw new RecordError(`cannot be read as PDF at page ${first}: ${pages[first - 1]?.fault}`);
  }
  return [
    ...(first === undefined ? [] : [`has pages that cannot be read: ${rangesOf(unreadable)}`]),
    ...(empty.length === 0
      ? []
      : [`has pages without text, which may have been scanned: ${rangesOf(empty)}`]),
  ];
}

/** Numbers in ascending order, for people: `1-3, 7`. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] === number - 1) range[1] = number;
    else ranges.push([number, number]);
  }
  const shown = ranges.slice(0, RANGES_MAX).map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`));
  const left = ranges.length - shown.length;
  return shown.join(", ") + (left > 0 ? `, and ${left} more` : "");
}

/** The parts of an annotation that are read here. Forms consist of annotations. */
interface Annotation {
  readonly subtype?: string;
  /** A set of bits. */
  readonly annotationFlags?: number;
  readonly contentsObj?: { readonly str?: string };
  /** The lines of a text that the page shows. */
  readonly textContent?: readonly string[];
  readonly fieldType?: string | null;
  readonly fieldName?: string;
  /** The name of a field that its reader sees. */
  readonly alternativeText?: string;
  readonly fieldValue?: string | readonly string[] | null;
  readonly options?: readonly { readonly exportValue: string; readonly displayValue: string }[];
  readonly password?: boolean;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  /** The value of a field when this button of it is the one that is chosen. */
  readonly exportValue?: string;
  readonly buttonValue?: string;
}

/** The values of forms and the texts of annotations, each of them once. */
function annotationTexts(annotations: readonly Annotation[]): string[] {
  const visible = annotations.filter(({ annotationFlags = 0 }) => !(annotationFlags & INVISIBLE));
  const texts = visible.map((each) =>
    each.subtype === "Widget" ? fieldText(each) : noteText(each),
  );
  return [...new Set(texts)].filter((text) => text.trim() !== "");
}

function noteText({ subtype = "", contentsObj, textContent }: Annotation): string {
  if (WITHOUT_TEXT.test(subtype)) return "";
  return contentsObj?.str || (textContent ?? []).join("\n");
}

function fieldText(field: Annotation): string {
  const value = entered(field);
  const { alternativeText: label } = field;
  return label && value !== "" ? `${label}: ${value}` : value;
}

function entered({ fieldType, fieldName = "", ...field }: Annotation): string {
  const { fieldValue: value, options = [], password, alternativeText } = field;
  if (value === undefined || value === null || password === true || fieldType === "Sig") return "";
  if (field.checkBox === true || field.radioButton === true) {
    if (value !== (field.exportValue ?? field.buttonValue) || value === "Off") return "";
    return alternativeText ? String(value) : `${nameOf(fieldName)}: ${value}`;
  }
  const shown = new Map(options.map((option) => [option.exportValue, option.displayValue]));
  return [value]
    .flat()
    .map((each) => shown.get(each) ?? each)
    .join(", ");
}

/** The last part of the name of a field: `Agree` of `form[0].Agree[0]`. */
const nameOf = (field: string) => (field.split(".").at(-1) ?? "").replace(/\[\d+\]$/, "");
