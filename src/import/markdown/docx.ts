import { decodeXML } from "entities";
import JSZip from "jszip";
import mammoth from "mammoth";
import type { DocumentText } from "../foreign/protocol.ts";
import { RecordError } from "../records/errors.ts";
import { documentMarkdown } from "./converted.ts";

const COMPOUND_FILE = Buffer.from("d0cf11e0", "hex");
const PROPERTIES = "docProps/core.xml";
/** Besides the headings that the converter knows. */
const HEADING_STYLES = ["Title", "Subtitle"].flatMap((name, i) =>
  [`p[style-name='${name}']`, `p.${name}`].map((style) => `${style} => h${i + 1}:fresh`),
);

/** The text of a Word document as Markdown, with the title of its properties. */
export async function docxToMarkdown(bytes: Uint8Array): Promise<DocumentText> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, 4).equals(COMPOUND_FILE)) {
    throw new RecordError("is encrypted, or of a version of Word before 2007");
  }
  const convertImage = mammoth.images.imgElement(async () => ({ src: "" }));
  const { value } = await mammoth.convertToHtml(
    { buffer },
    { convertImage, styleMap: HEADING_STYLES },
  );
  return { text: documentMarkdown(await titleOf(buffer), value), leftOut: [] };
}

async function titleOf(archive: Buffer): Promise<string | undefined> {
  const properties = await (await JSZip.loadAsync(archive)).file(PROPERTIES)?.async("string");
  const [, title] = /<dc:title[^>]*>([^<]*)<\/dc:title>/.exec(properties ?? "") ?? [];
  return title === undefined ? undefined : decodeXML(title);
}
