import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { RecordError } from "../../src/documents/errors.ts";
import { ForeignReader } from "../../src/documents/foreign/foreign-reader.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { docxFile, paragraph, pdfFile } from "../unit/documents/conversion/office-files.ts";
import { PDF, XML } from "./parser-inputs.ts";
import { must, type Parser, readMarkdown, refusing, textOf } from "./reading.ts";

/** Readers of others may fail in any way, which their process must survive or be ended for. */
const BOUNDS = { ms: 2_000, bytes: 536_870_912 };
const foreign = new ForeignReader({ document: BOUNDS, rows: BOUNDS });
const folder = temporaryFolder("fuzz");

async function readDocument(path: string, input: Uint8Array): Promise<void> {
  writeFileSync(join(folder, path), input);
  await refusing([RecordError], async () => {
    readMarkdown((await foreign.read({ kind: "document", folder, path })).text);
  });
}

const TABLE = Buffer.from(
  parquetWriteBuffer({
    columnData: [
      { name: "path", data: ["a.md", "b.md"], type: "STRING" },
      { name: "vector", data: [[1, 2], [3]], type: "JSON" },
      { name: "n", data: [1, 2], type: "INT32" },
    ],
  }),
);
/** The end of a table has the length of what describes it; most changes to that end the reading at once. */
const TABLE_END = TABLE.subarray(-8);

async function readTable(input: Uint8Array): Promise<void> {
  const file = join(folder, "a.parquet");
  writeFileSync(file, Buffer.concat([input, TABLE_END]));
  await refusing([RecordError], async () => {
    for (let start = 0; ; ) {
      const { rows, of } = await foreign.read({ kind: "rows", file, start });
      start += rows.length;
      must(rows.length > 0 || start >= of, "a table does not end");
      must(start <= input.length * 1_000, "a small file has many rows");
      if (start >= of) return;
    }
  });
}

/** The readers of formats of others, by name. */
export const FOREIGN: Readonly<Record<string, Parser>> = {
  pdf: {
    seeds: [
      pdfFile({
        title: "A",
        pages: [["a", "b-", "c", "", "d"]],
        instructions: ["BT /F1 9 Tf (e) Tj ET"],
      }),
      pdfFile({ pages: [["a"]], instructions: ["/X Do"], forms: ["BT /F1 9 Tf (x) Tj ET /X Do"] }),
    ],
    words: PDF,
    read: (input) => readDocument("a.pdf", input),
  },
  docx: {
    seeds: [docxFile(paragraph("a", "Heading1") + paragraph("b"), { title: "A" })],
    words: ["PK", "\u0001\u0002", "\u0000\u0000", "\u00ff\u00ff\u00ff\u00ff"],
    read: (input) => readDocument("a.docx", input),
  },
  "docx-body": {
    seeds: [paragraph("a", "Heading1") + paragraph("b")],
    words: XML,
    read: (input) => readDocument("a.docx", docxFile(textOf(input), { title: textOf(input) })),
  },
  parquet: {
    seeds: [TABLE.subarray(0, -8)],
    words: ["PAR1", "\u0000\u0000\u0000", "\u00ff\u00ff\u00ff\u00ff\u000f"],
    read: readTable,
  },
};
