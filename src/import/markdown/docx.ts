import { inflateRawSync } from "node:zlib";
import mammoth from "mammoth";
import { RecordError } from "../records/errors.ts";
import { documentMarkdown } from "./converted.ts";

/** The parts of a file together, when they are expanded. */
const DOCX_MAX_BYTES = 67_108_864;
/** Text of which the reader makes a tree; images and fonts are not read. */
const DOCX_MAX_PARTS = 4_096;
const COMPOUND_FILE = Buffer.from("d0cf11e0", "hex");
const DIRECTORY_ENTRY = 0x02014b50;
const DEFLATED = 8;
const PROPERTIES = "docProps/core.xml";

/**
 * The text of a Word document as Markdown, with the title of its properties. Throws a RecordError.
 */
export async function docxToMarkdown(bytes: Uint8Array): Promise<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, 4).equals(COMPOUND_FILE)) {
    throw new RecordError("is encrypted, or of a version of Word before 2007");
  }
  const properties = requireBoundedParts(buffer);
  let html: string;
  try {
    const without = mammoth.images.imgElement(async () => ({ src: "" }));
    html = (await mammoth.convertToHtml({ buffer }, { convertImage: without })).value;
  } catch (error) {
    throw new RecordError(`cannot be read as DOCX: ${(error as Error).message}`);
  }
  return documentMarkdown(titleOf(properties), html);
}

function titleOf(properties: string): string | undefined {
  const [, title = ""] = /<dc:title[^>]*>([^<]*)<\/dc:title>/.exec(properties) ?? [];
  const text = title.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return NAMED[name] ?? (code <= 0x10ffff ? String.fromCodePoint(code) : whole);
  });
  return text.trim() === "" ? undefined : text;
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/**
 * Throws a RecordError if the parts expand to more than memory should hold, whatever the archive says of their
 * sizes: its reader has no bound. Returns the properties of the document.
 */
function requireBoundedParts(archive: Buffer): string {
  let left = DOCX_MAX_BYTES;
  let parts = 0;
  let properties = "";
  for (const { name, method, data } of partsOf(archive)) {
    if (++parts > DOCX_MAX_PARTS) throw new RecordError(`has more than ${DOCX_MAX_PARTS} parts`);
    const content = method === DEFLATED ? expanded(data, left) : data;
    left -= content.length;
    if (left <= 0) throw new RecordError(TOO_LARGE);
    if (name === PROPERTIES) properties = content.toString();
  }
  return properties;
}

const TOO_LARGE = `expands to more than ${DOCX_MAX_BYTES} bytes`;

function expanded(data: Buffer, maxBytes: number): Buffer {
  try {
    return inflateRawSync(data, { maxOutputLength: maxBytes });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new RecordError(
      code === "ERR_BUFFER_TOO_LARGE" ? TOO_LARGE : `cannot be read as DOCX: ${message}`,
    );
  }
}

interface Part {
  readonly name: string;
  readonly method: number;
  readonly data: Buffer;
}

/** The parts that the directory at the end of a ZIP archive names. */
function* partsOf(archive: Buffer): Generator<Part> {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(DIRECTORY_ENTRY);
  try {
    for (let at = archive.indexOf(signature); at >= 0; at = archive.indexOf(signature, at + 46)) {
      const nameLength = archive.readUInt16LE(at + 28);
      const header = archive.readUInt32LE(at + 42);
      const start =
        header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      yield {
        name: archive.toString("utf8", at + 46, at + 46 + nameLength),
        method: archive.readUInt16LE(at + 10),
        data: archive.subarray(start, start + archive.readUInt32LE(at + 20)),
      };
    }
  } catch (error) {
    if (error instanceof RecordError) throw error;
    throw new RecordError("cannot be read as DOCX: its directory is broken");
  }
}
