import { crc32, deflateRawSync, deflateSync } from "node:zlib";

interface PdfContents {
  /** The lines of each page, from the top; a line that is empty is a gap. */
  readonly pages: readonly (readonly string[])[];
  readonly title?: string;
  /** Beside `trailer`'s own entries. */
  readonly trailer?: string;
  /** The instructions of further pages, compressed. */
  readonly instructions?: readonly string[];
  /** Instead of one of Latin letters. */
  readonly font?: string;
  /** The texts of letters by the code of each, in hexadecimal digits. */
  readonly texts?: Readonly<Record<string, string>>;
  /** The annotations of each page. */
  readonly annotations?: readonly string[];
  /** How far the pages are turned, in degrees. */
  readonly rotate?: number;
  /** The instructions of forms, which those of a page or of the form before show by `/X Do`. */
  readonly forms?: readonly string[];
}

const FONTS = "/Font << /F1 3 0 R >>";

/** A PDF as small programs write it, with one font and text in ASCII. */
export function pdfFile({
  pages,
  title,
  trailer = "",
  instructions = [],
  forms = [],
  font = "/Subtype /Type1 /BaseFont /Helvetica",
  texts = {},
  annotations = [],
  rotate = 0,
}: PdfContents): Uint8Array {
  const contents = pages.map((lines) => {
    const shown = lines.map((line) => `(${line.replace(/[()\\]/g, "\\$&")}) Tj T*`);
    return stream(Buffer.from(`BT /F1 12 Tf 72 720 Td 14 TL\n${shown.join("\n")}\nET`));
  });
  contents.push(...instructions.map((each) => stream(deflateSync(each), "/Filter /FlateDecode ")));
  const kids = contents.map((_, i) => `${4 + 2 * i} 0 R`).join(" ");
  const firstForm = 4 + 2 * contents.length;
  // The last form shows itself.
  const uses = (form: number) =>
    forms.length === 0
      ? FONTS
      : `${FONTS} /XObject << /X ${firstForm + Math.min(form, forms.length - 1)} 0 R >>`;
  const objects: (string | Buffer)[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`,
    `<< /Type /Font ${font} ${Object.keys(texts).length === 0 ? "" : `/ToUnicode ${firstForm + forms.length} 0 R`} >>`,
    ...contents.flatMap((content, i) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate ${rotate} /Contents ${5 + 2 * i} 0 R /Resources << ${uses(0)} >> /Annots [${annotations.join(" ")}] >>`,
      content,
    ]),
    ...forms.map((form, i) =>
      stream(
        Buffer.from(form),
        `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << ${uses(i + 1)} >> `,
      ),
    ),
    stream(Buffer.from(unicodeMap(texts))),
    `<< ${title === undefined ? "" : `/Title (${title})`} >>`,
  ];
  return assembled(objects, trailer);
}

function unicodeMap(texts: Readonly<Record<string, string>>): string {
  const codes = Object.entries(texts).map(([code, text]) => {
    const units = Buffer.from(text, "utf16le").swap16().toString("hex");
    return `<${code}> <${units}>`;
  });
  return `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
1 begincodespacerange <00> <FF> endcodespacerange
${codes.length} beginbfchar ${codes.join(" ")} endbfchar endcmap`;
}

function stream(data: Buffer, filter = ""): Buffer {
  const head = `<< ${filter}/Length ${data.length} >>\nstream\n`;
  return Buffer.concat([Buffer.from(head), data, Buffer.from("\nendstream")]);
}

function assembled(objects: readonly (string | Buffer)[], trailer: string): Uint8Array {
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let length = (parts[0] as Buffer).length;
  const write = (part: string | Buffer) => {
    const bytes = Buffer.from(part as string);
    parts.push(bytes);
    length += bytes.length;
  };
  objects.forEach((object, i) => {
    offsets.push(length);
    write(`${i + 1} 0 obj\n`);
    write(object);
    write("\nendobj\n");
  });
  const start = length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
  write(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join("")}`);
  const size = objects.length + 1;
  write(`trailer\n<< /Size ${size} /Root 1 0 R /Info ${objects.length} 0 R ${trailer} >>\n`);
  write(`startxref\n${start}\n%%EOF\n`);
  return new Uint8Array(Buffer.concat(parts));
}

const WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";

/** Namespaces of the elements in a Word document, by their usual prefixes. */
const WORD_NAMESPACES = Object.entries({
  w: WORD,
  m: "http://schemas.openxmlformats.org/officeDocument/2006/math",
  mc: "http://schemas.openxmlformats.org/markup-compatibility/2006",
  a: "http://schemas.openxmlformats.org/drawingml/2006/main",
  wp: "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
  wps: "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
  c: "http://schemas.openxmlformats.org/drawingml/2006/chart",
  r: "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
  v: "urn:schemas-microsoft-com:vml",
  o: "urn:schemas-microsoft-com:office:office",
})
  .map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`)
  .join(" ");

/** A Word document with this body, and these styles, in WordprocessingML. */
export function docxFile(
  body: string,
  { title, styles }: { title?: string; styles?: string } = {},
): Uint8Array {
  const texts = {
    "[Content_Types].xml": `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    "word/document.xml": `<w:document ${WORD_NAMESPACES}><w:body>${body}</w:body></w:document>`,
    ...(styles === undefined
      ? {}
      : { "word/styles.xml": `<w:styles ${WORD_NAMESPACES}>${styles}</w:styles>` }),
    ...(title === undefined
      ? {}
      : {
          "docProps/core.xml": `<cp:coreProperties xmlns:cp="${PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title></cp:coreProperties>`,
        }),
  };
  return zipFile(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
}

/** A paragraph of a Word document. */
export function paragraph(text: string, style?: string): string {
  const properties = style === undefined ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`;
  return `<w:p>${properties}<w:r><w:t>${text}</w:t></w:r></w:p>`;
}

function zipFile(parts: readonly (readonly [name: string, data: Uint8Array])[]): Uint8Array {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, data] of parts) {
    const packed = deflateRawSync(data);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(data), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(data.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const entry = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const made = Buffer.from([20, 0]);
    directory.push(
      Buffer.concat([Buffer.from("PK\x01\x02"), made, shared, place, Buffer.from(name)]),
    );
    local.push(entry);
    offset += entry.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return new Uint8Array(Buffer.concat([...local, listed, Buffer.from("PK\x05\x06"), end]));
}
