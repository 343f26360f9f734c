import { basename, extname } from "node:path";
import { documentText, requireDocumentSize } from "../document.ts";
import { RecordError } from "../errors.ts";
import type { DocumentText } from "../foreign/protocol.ts";
import { pageText } from "./html-charset.ts";

/** Formats other than Markdown that are imported on request. All but text are converted to Markdown. */
export interface FormatOptions {
  readonly html?: boolean | undefined;
  readonly asciidoc?: boolean | undefined;
  readonly text?: boolean | undefined;
  readonly pdf?: boolean | undefined;
  readonly docx?: boolean | undefined;
}

interface Format {
  /** The option that asks for it; null for Markdown. */
  readonly option: keyof FormatOptions | null;
  /** In lower case. The empty extension is that of files such as LICENSE, whose names state no type. */
  readonly extensions: readonly string[];
  /** The suffix of the name under which a file is stored, so that its text is read in its format. */
  readonly suffix: string;
  /** True for a file with content other than text, such as pictures. */
  readonly isContainer?: boolean;
  /** The text of a file, as Markdown unless it is plain. Throws any error if it cannot be read. */
  readonly read: (bytes: Uint8Array, path: string) => Promise<DocumentText>;
}

/** Maximum size of a file with content other than text. Its reader takes several times as much memory. */
const CONTAINER_MAX_BYTES = 268_435_456;

const whole = (text: string): DocumentText => ({ text, leftOut: [] });
const plain = async (bytes: Uint8Array) => whole(documentText(bytes));

/** Converters are loaded when they are needed. */
const FORMATS: readonly Format[] = [
  { option: null, extensions: [".md", ".mdx", ".markdown"], suffix: "", read: plain },
  {
    option: "html",
    extensions: [".html", ".htm"],
    suffix: ".md",
    read: async (bytes) => whole((await import("./html.ts")).htmlToMarkdown(pageText(bytes))),
  },
  {
    option: "asciidoc",
    extensions: [".adoc", ".asciidoc"],
    suffix: ".md",
    read: async (bytes) =>
      whole(await (await import("./asciidoc.ts")).asciidocToMarkdown(documentText(bytes))),
  },
  {
    option: "pdf",
    extensions: [".pdf"],
    suffix: ".md",
    isContainer: true,
    read: async (bytes, path) => (await import("./pdf.ts")).pdfToMarkdown(bytes, nameOf(path)),
  },
  {
    option: "docx",
    extensions: [".docx"],
    suffix: ".md",
    isContainer: true,
    read: async (bytes) => (await import("./docx.ts")).docxToMarkdown(bytes),
  },
  { option: "text", extensions: [".txt"], suffix: "", read: plain },
  { option: "text", extensions: [""], suffix: ".txt", read: plain },
];

const nameOf = (path: string) => basename(path, extname(path));

function formatOf(path: string): Format | undefined {
  const extension = extname(path).toLowerCase();
  return FORMATS.find(({ extensions }) => extensions.includes(extension));
}

const isAsked = ({ option }: Format, options: FormatOptions) =>
  option === null || options[option] === true;

/** True for a file that is imported. */
export function isWanted(path: string, options: FormatOptions): boolean {
  const format = formatOf(path);
  return format !== undefined && isAsked(format, options);
}

/** The kinds of files that are imported, for messages: `.md, .mdx, .markdown or .pdf`. */
export function wantedKinds(options: FormatOptions): string {
  const kinds = FORMATS.filter((format) => isAsked(format, options)).flatMap(
    ({ extensions }) => extensions,
  );
  return new Intl.ListFormat("en", { type: "disjunction" }).format(kinds.filter(Boolean));
}

/** The option that a file requires; undefined for other kinds of files. */
export function optionFor(path: string): keyof FormatOptions | undefined {
  return formatOf(path)?.option ?? undefined;
}

/** True for a file whose text is not its content. */
export function isConverted(path: string): boolean {
  return formatOf(path)?.suffix === ".md";
}

/** Throws a RecordError if a file of this size is not read. */
export function requireFileSize(path: string, bytes: number): void {
  if (formatOf(path)?.isContainer !== true) requireDocumentSize(bytes);
  else if (bytes > CONTAINER_MAX_BYTES) {
    throw new RecordError(`has more than ${CONTAINER_MAX_BYTES} bytes`);
  }
}

/** The suffix of the path under which a file is stored. */
export function storedSuffix(path: string): string {
  return formatOf(path)?.suffix ?? "";
}

/** The text of a file as it is stored. Throws a RecordError. */
export async function storedText(path: string, bytes: Uint8Array): Promise<DocumentText> {
  try {
    return await (formatOf(path)?.read ?? plain)(bytes, path);
  } catch (error) {
    if (error instanceof RecordError) throw error;
    const format = extname(path).slice(1).toUpperCase();
    throw new RecordError(`cannot be read as ${format}: ${(error as Error).message}`);
  }
}
