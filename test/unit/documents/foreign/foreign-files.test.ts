import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { ForeignReader } from "../../../../src/documents/foreign/foreign-reader.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { until } from "../../../../support/until.ts";
import { docxFile, paragraph, pdfFile } from "../conversion/office-files.ts";

const folder = temporaryFolder("foreign");
const MIB = 1_048_576;
const BOUNDS = boundsOf(60_000);
const hasty = new ForeignReader(boundsOf(300));
afterAll(() => hasty.close());

function boundsOf(ms: number) {
  const bounds = { ms, bytes: 256 * MIB };
  return { document: bounds, rows: bounds };
}

function document(name: string, bytes: Uint8Array | string) {
  writeFileSync(join(folder, name), bytes);
  return { kind: "document", folder, path: name } as const;
}

const good = document("good.html", "<p>text</p>");
const pages = [["text"]];
/** Each form shows the next one ten times. */
const forms = Array<string>(30).fill(`BT /F1 9 Tf (x) Tj ET ${"/X Do ".repeat(10)}`);
const endless = pdfFile({ pages: [], instructions: ["/X Do"], forms });

function rowsOf(name: string, change: (bytes: Uint8Array) => void) {
  const file = join(folder, name);
  const bytes = new Uint8Array(
    parquetWriteBuffer({ columnData: [{ name: "n", data: [1, 2], type: "INT32" }] }),
  );
  change(bytes);
  writeFileSync(file, bytes);
  return { kind: "rows", file, start: 0 } as const;
}

describe("a file in the format of another program", () => {
  test.each([
    ["a PDF whose forms show each other", document("endless.pdf", endless)],
    [
      "a table of which the header of a page ends too early",
      rowsOf("forged.parquet", (bytes) => {
        bytes[15] = 0;
      }),
    ],
  ])("that takes too long is refused, and the next one is read: %s", async (_, task) => {
    await expect(hasty.read(task)).rejects.toThrow("takes more than 0.3 s to read");
    const rows = rowsOf("good.parquet", () => {});
    const other = new ForeignReader(BOUNDS);
    expect((await other.read(good)).text).toBe("text");
    expect(await other.read(rows)).toEqual({ rows: [{ n: 1 }, { n: 2 }], of: 2 });
    await other.close();
  });

  const spaces = " ".repeat(256 * MIB);
  test.each([
    ["a Word document", "bomb.docx", docxFile(paragraph("text").repeat(200_000))],
    ["a PDF", "bomb.pdf", pdfFile({ pages, instructions: [spaces] })],
  ])("that expands too much is refused, and the next one is read: %s", async (_, name, bytes) => {
    expect(bytes.length).toBeLessThan(2 * MIB);
    const reader = new ForeignReader(BOUNDS);
    const read = reader.read(document(name, bytes));
    await expect(read).rejects.toThrow("takes more than 256 MiB of memory to read");
    expect((await reader.read(good)).text).toBe("text");
    await reader.close();
  });

  test("that refers to addresses is read without asking them", async () => {
    const asked: string[] = [];
    using server = Bun.serve({
      port: 0,
      fetch: ({ url }) => {
        asked.push(url);
        return new Response("");
      },
    });
    const { href } = server.url;
    const linked = `<img src="${href}1"><link rel="stylesheet" href="${href}2"><script src="${href}3"></script>`;
    const picture = `<w:r><w:pict><v:shape><v:imagedata o:href="${href}4"/></v:shape></w:pict></w:r>`;
    const field = `<w:fldSimple w:instr="INCLUDETEXT ${href}5"><w:r><w:t>text</w:t></w:r></w:fldSimple>`;
    const external = `<< /S /URI /URI (${href}6) >>`;
    const annotations = [`<< /Subtype /Link /Rect [0 0 9 9] /A ${external} >>`];
    const documents = [
      document("linked.html", `<p>text</p>${linked}<iframe src="${href}7"></iframe>`),
      document("linked.adoc", `text\n\ninclude::${href}8[]\n\nimage::${href}9[]\n`),
      document("linked.docx", docxFile(`<w:p>${picture}${field}</w:p>`)),
      document("linked.pdf", pdfFile({ pages, annotations, trailer: `/OpenAction ${external}` })),
    ];
    const reader = new ForeignReader(BOUNDS);
    for (const each of documents) expect((await reader.read(each)).text).toContain("text");
    await reader.close();
    expect(asked).toEqual([]);
  });

  test("is not read on when the process that asked for it is killed", async () => {
    const script = join(folder, "reads.ts");
    const from = JSON.stringify(
      require.resolve("../../../../src/documents/foreign/foreign-reader.ts"),
    );
    const task = JSON.stringify(document("orphan.pdf", endless));
    writeFileSync(
      script,
      `import { ForeignReader } from ${from};
      const { spawn } = Bun;
      Bun.spawn = (options) => {
        const child = spawn(options);
        console.log(child.pid);
        return child;
      };
      await new ForeignReader(${JSON.stringify(BOUNDS)}).read(${task});`,
    );
    const owner = Bun.spawn([process.execPath, script], { stdin: "ignore" });
    const { value } = await owner.stdout.getReader().read();
    const reading = Number(new TextDecoder().decode(value));
    const isAlive = () => {
      try {
        return process.kill(reading, 0);
      } catch {
        return false;
      }
    };
    expect(isAlive()).toBe(true);
    owner.kill("SIGKILL");
    await until("the process that reads has ended", () => !isAlive());
  });
});
