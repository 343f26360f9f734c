import { decodeXML } from "entities";
import JSZip from "jszip";
import mammoth from "mammoth";
import { RecordError } from "../errors.ts";
import type { DocumentText } from "../foreign/protocol.ts";
import { documentMarkdown, usefulTitle } from "./converted.ts";
import { DocxBody } from "./docx-body.ts";
import { HeadingLevels } from "./docx-styles.ts";
import { parseXml, xmlOf } from "./docx-xml.ts";

const COMPOUND_FILE = Buffer.from("d0cf11e0", "hex");
const PROPERTIES = "docProps/core.xml";
const STYLES = /^word\/styles\d*\.xml$/;
/** The parts of a document that have text. */
const TEXTS = /^word\/(?:document|footnotes|endnotes)\d*\.xml$/;
/** The messages of the converter that name text. Others are of styles, pictures and properties. */
const MESSAGES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [
    /^An unrecognised element was ignored: (w:(?!perm|tblPrEx|pgNum|(?:continuationS|s)eparator)\w+)$/,
    "element $1",
  ],
  [/^A w:sym element .* ignored: char (.*) in font (.*)$/, "character $1 of the font $2"],
];

/** The text of a Word document as Markdown, with the title of its properties. */
export async function docxToMarkdown(bytes: Uint8Array): Promise<DocumentText> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, 4).equals(COMPOUND_FILE)) {
    throw new RecordError("is encrypted, or of a version of Word before 2007");
  }
  const archive = await JSZip.loadAsync(buffer);
  const parts = await readParts(archive);
  const convertImage = mammoth.images.imgElement(async () => ({ src: "" }));
  const { value, messages } = await mammoth.convertToHtml(
    { file: readable(archive, parts.texts) } as unknown as { buffer: Buffer },
    { convertImage },
  );
  const text = documentMarkdown(usefulTitle(await titleOf(archive)), value);
  const kinds = [...parts.leftOut].map(([kind, count]) =>
    count === 1 ? kind : `${kind} (${count} times)`,
  );
  const named = messages.flatMap(({ message }) =>
    MESSAGES.filter(([pattern]) => pattern.test(message)).map(([pattern, name]) =>
      message.replace(pattern, name),
    ),
  );
  const all = [...kinds, ...named];
  return {
    text,
    leftOut: all.length === 0 ? [] : [`has parts that are left out: ${all.join(", ")}`],
  };
}

interface Parts {
  readonly texts: ReadonlyMap<string, string>;
  readonly leftOut: ReadonlyMap<string, number>;
}

async function readParts(archive: JSZip): Promise<Parts> {
  const [styles] = archive.file(STYLES);
  const body = new DocxBody(
    new HeadingLevels(styles && (await parseXml(await styles.async("string")))),
  );
  const texts = new Map<string, string>();
  for (const part of archive.file(TEXTS)) {
    texts.set(part.name, xmlOf(body.rewrite(await parseXml(await part.async("string")))));
  }
  return { texts, leftOut: body.leftOut };
}

/** The archive as the converter reads one, with other texts. */
function readable(archive: JSZip, texts: ReadonlyMap<string, string>) {
  return {
    exists: (name: string) => archive.file(name) !== null,
    read: async (name: string, encoding?: string) =>
      texts.get(name) ??
      (await archive.file(name)?.async(encoding === undefined ? "uint8array" : "string")),
  };
}

async function titleOf(archive: JSZip): Promise<string | undefined> {
  const properties = await archive.file(PROPERTIES)?.async("string");
  const [, title] = /<dc:title[^>]*>([^<]*)<\/dc:title>/.exec(properties ?? "") ?? [];
  return title === undefined ? undefined : decodeXML(title);
}
