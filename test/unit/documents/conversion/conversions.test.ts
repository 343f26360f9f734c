import { beforeEach, expect, setSystemTime, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Conversions, convertersHash } from "../../../../src/documents/conversion/conversions.ts";
import { RecordError } from "../../../../src/documents/errors.ts";
import { ReaderFailed } from "../../../../src/documents/foreign/foreign-reader.ts";
import { onCleanup } from "../../../../support/cleanup.ts";
import { temporaryFolder } from "../../../../support/folders.ts";

const LONG_AGO = new Date("2020-01-01T00:00:00Z");

let folder: string;
let kept: string;
beforeEach(() => {
  folder = temporaryFolder("conversions");
  kept = join(folder, "data", "kept.sqlite");
});

/** Writes a document that has not changed for long. */
function write(name: string, content = "content", time = LONG_AGO): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  utimesSync(file, time, time);
  return file;
}

async function textOf(
  conversions: Conversions,
  file: string,
  convert: () => Promise<string>,
): Promise<string> {
  const leftOut = ["has a chart"];
  const found = await conversions.of(file, async () => ({ text: await convert(), leftOut }));
  expect(found.leftOut).toEqual(leftOut);
  return found.text;
}

function open() {
  const conversions = new Conversions(kept);
  onCleanup(() => conversions.close());
  let converted = 0;
  const read = (file: string) =>
    textOf(conversions, file, async () => `${readFileSync(file)}, ${++converted} times`);
  return { conversions, read };
}

test("an unchanged document is converted once, also by later commands", async () => {
  const file = write("a.pdf");
  const first = open();
  expect(await first.read(file)).toBe("content, 1 times");
  expect(await first.read(file)).toBe("content, 1 times");
  first.conversions.close();
  expect(await open().read(file)).toBe("content, 1 times");
});

test("a document of another size, time, place or name is converted again", async () => {
  const file = write("a.pdf");
  const { read } = open();
  await read(file);
  write("a.pdf", "longer content");
  expect(await read(file)).toBe("longer content, 2 times");
  write("a.pdf", "other  content");
  utimesSync(file, LONG_AGO, new Date(LONG_AGO.getTime() + 1));
  expect(await read(file)).toBe("other  content, 3 times");
  // Another file with the same name, size and time.
  renameSync(file, join(folder, "b.pdf"));
  utimesSync(write("a.pdf", "third  content"), LONG_AGO, new Date(LONG_AGO.getTime() + 1));
  expect(await read(file)).toBe("third  content, 4 times");
  expect(await read(join(folder, "b.pdf"))).toBe("other  content, 5 times");
});

test("a document that is overwritten in place is converted again, although its time is set back", async () => {
  const file = write("a.pdf", "before");
  const { read } = open();
  expect(await read(file)).toBe("before, 1 times");
  write("a.pdf", "after!");
  expect(await read(file)).toBe("after!, 2 times");
});

test("converters are others with another patch of their packages", () => {
  const patches = join(folder, "patches");
  mkdirSync(patches);
  const before = convertersHash(patches);
  expect(convertersHash(patches)).toBe(before);
  writeFileSync(join(patches, "reader.patch"), "a line");
  expect(convertersHash(patches)).not.toBe(before);
});

test("a document without a text is rejected again without its converter", async () => {
  const file = write("a.pdf");
  const { conversions, read } = open();
  const reject = (error: Error) => conversions.of(file, () => Promise.reject(error));
  await expect(reject(new ReaderFailed("takes more than 60 s"))).rejects.toThrow("60 s");
  await expect(reject(new RecordError("has no text"))).rejects.toThrow("has no text");
  for (const again of [conversions, open().conversions]) {
    const kept = textOf(again, file, async () => "text");
    await expect(kept).rejects.toThrow(RecordError);
    await expect(kept).rejects.toThrow("has no text");
  }
  write("a.pdf", "mended content");
  expect(await read(file)).toBe("mended content, 1 times");
});

test("a document that may change once more is not kept, nor one that changes meanwhile", async () => {
  const file = write("a.pdf");
  const { read, conversions } = open();
  onCleanup(() => void setSystemTime());
  setSystemTime(LONG_AGO.getTime() + 1_999);
  expect(await read(file)).toBe("content, 1 times");
  expect(await read(file)).toBe("content, 2 times");
  setSystemTime(LONG_AGO.getTime() + 2_000);
  const changing = async () => {
    write("a.pdf", "changed it");
    return "half";
  };
  expect(await textOf(conversions, file, changing)).toBe("half");
  expect(await read(file)).toBe("changed it, 3 times");
});

test("a document that cannot be read is not kept", async () => {
  const missing = () => open().read(join(folder, "none.pdf"));
  await expect(missing()).rejects.toThrow("ENOENT");
  const file = write("a.pdf");
  const { conversions, read } = open();
  const failing = () => textOf(conversions, file, () => Promise.reject(new Error("broken")));
  await expect(failing()).rejects.toThrow("broken");
  expect(await read(file)).toBe("content, 1 times");
});

test("a file of conversions that was deleted, torn or changed is not believed", async () => {
  const file = write("a.pdf", "unique words");
  const damages: Record<string, (bytes: Buffer) => Uint8Array | undefined> = {
    deleted: () => undefined,
    torn: (bytes) => bytes.subarray(0, bytes.length / 2 - 100),
    empty: () => new Uint8Array(),
    "of something else": () => Buffer.from("no database of any kind".repeat(99)),
    changed: (bytes) =>
      Buffer.from(bytes.toString("latin1").replace("unique words", "forged words"), "latin1"),
  };
  for (const [how, damage] of Object.entries(damages)) {
    rmSync(kept, { force: true });
    const before = open();
    await before.read(file);
    before.conversions.close();
    const bytes = damage(readFileSync(kept));
    if (bytes === undefined) rmSync(kept);
    else writeFileSync(kept, bytes);
    const after = open();
    expect(await after.read(file), how).toBe("unique words, 1 times");
    expect(await after.read(file), how).toBe("unique words, 1 times");
    after.conversions.close();
    const again = open();
    expect(await textOf(again.conversions, file, async () => "converted again"), how).toBe(
      "unique words, 1 times",
    );
    again.conversions.close();
  }
});

test("without a place for the file every document is converted", async () => {
  writeFileSync(join(folder, "data"), "not a folder");
  const { read } = open();
  const file = write("a.pdf");
  expect(await read(file)).toBe("content, 1 times");
  expect(await read(file)).toBe("content, 2 times");
});

test("the texts that are kept have a bounded size, and those that were used last stay", async () => {
  const conversions = new Conversions(kept, 11_000);
  onCleanup(() => conversions.close());
  onCleanup(() => void setSystemTime());
  let now = Date.now();
  const isKept = async (name: string) => {
    setSystemTime(++now);
    let converted = false;
    const file = join(folder, name);
    await textOf(conversions, existsSync(file) ? file : write(name), async () => {
      converted = true;
      return "x".repeat(1_000);
    });
    return !converted;
  };
  const names = Array.from({ length: 10 }, (_, n) => `${n}.pdf`);
  for (const name of names) expect(await isKept(name)).toBeFalse();
  for (const name of names) expect(await isKept(name)).toBeTrue();
  expect(await isKept("0.pdf")).toBeTrue();
  expect(await isKept("another.pdf")).toBeFalse();
  expect(await isKept("0.pdf")).toBeTrue();
  expect(await isKept("1.pdf")).toBeFalse();
});
