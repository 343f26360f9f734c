import { Database } from "bun:sqlite";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RecordError } from "../errors.ts";
import { ReaderFailed } from "../foreign/foreign-reader.ts";
import type { DocumentText } from "../foreign/protocol.ts";

/** Maximum bytes of the kept texts. The most recently used ones stay. */
const CONVERSIONS_MAX_BYTES = 134_217_728;
/** Maximum wait for another command that writes to the file. After that, this command works without the file. */
const CONVERSIONS_BUSY_MS = 1_000;
/** A file that is younger may change once more without another time. */
const SETTLED_MS = 2_000;

const placeOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** The folder of the converters, the file that names their packages, and the folder of the changes to these. */
const CONVERTERS = placeOf(".");
const PACKAGES = placeOf("../../../package.json");
const PATCHES = placeOf("../../../patches");

/** A hash of the converters. Any change of their code may change the texts. */
export function convertersHash(patches = PATCHES): string {
  const files = [CONVERTERS, patches]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return hashOf(...[PACKAGES, ...files.sort()].map((file) => readFileSync(file)));
}

/** A text, or the reason why its document cannot be read. */
type Conversion = DocumentText | { readonly reason: string };

/** The reason, if it lies in the document. Rethrows other errors, which a later attempt may not meet. */
function reasonIn(error: unknown): { readonly reason: string } {
  if (!(error instanceof RecordError) || error instanceof ReaderFailed) throw error;
  return { reason: error.message };
}

function textOf(conversion: Conversion): DocumentText {
  if ("reason" in conversion) throw new RecordError(conversion.reason);
  return conversion;
}

/** Error codes of a damaged file, which a new file replaces. */
const DAMAGED = /^SQLITE_(?:CORRUPT|NOTADB)/;
const SCHEMA = `CREATE TABLE IF NOT EXISTS conversions
  (key TEXT PRIMARY KEY, text TEXT NOT NULL, bytes INTEGER NOT NULL, hash TEXT NOT NULL, used INTEGER NOT NULL)`;

const hashOf = (...parts: readonly (string | Uint8Array)[]) => {
  const hash = new Bun.CryptoHasher("sha256");
  for (const part of parts) hash.update(part).update("\n");
  return hash.digest("hex");
};

/**
 * The texts of documents that were converted, in one file, so that unchanged ones are converted once. A text is found by
 * the name, place, size and times of its document and by the converters. The file may be deleted at any time; a text
 * that cannot be read there is converted again. A document that has no text is rejected again without its converter.
 */
export class Conversions {
  /** Undefined until it is used, null once it cannot be. */
  #database: Database | null | undefined;
  #converters: string | undefined;

  constructor(
    private readonly file: string,
    private readonly maxBytes = CONVERSIONS_MAX_BYTES,
  ) {}

  /** The text of a document, which `convert` makes unless it is known. */
  async of(document: string, convert: () => Promise<DocumentText>): Promise<DocumentText> {
    const key = this.#keyOf(document);
    if (key === undefined) return await convert();
    const known = this.#use((database) => find(database, key));
    if (known !== undefined) return textOf(JSON.parse(known) as Conversion);
    const read: Conversion = await convert().catch(reasonIn);
    if (this.#keyOf(document) === key) {
      this.#use((database) => keep(database, key, JSON.stringify(read), this.maxBytes));
    }
    return textOf(read);
  }

  /** Keeps no conversion from now on. */
  close(): void {
    this.#database?.close();
    this.#database = null;
  }

  /** Undefined for a file that may be changing, or cannot be read. */
  #keyOf(document: string): string | undefined {
    try {
      accessSync(document, constants.R_OK);
      const { dev, ino, size, mtimeMs, mtimeNs, ctimeNs } = statSync(document, { bigint: true });
      if (Date.now() - Number(mtimeMs) < SETTLED_MS) return undefined;
      this.#converters ??= convertersHash();
      // Programs that copy files set the time of the last change back. The time of the inode cannot be set.
      return [this.#converters, dev, ino, size, mtimeNs, ctimeNs, basename(document)].join(" ");
    } catch {
      return undefined;
    }
  }

  #use<T>(work: (database: Database) => T): T | undefined {
    try {
      if (this.#database === undefined) this.#database = openDatabase(this.file);
      return this.#database === null ? undefined : work(this.#database);
    } catch (error) {
      this.close();
      const { code = "" } = error as { readonly code?: string };
      if (DAMAGED.test(code)) {
        rmSync(this.file, { force: true });
        this.#database = undefined;
      }
      return undefined;
    }
  }
}

function openDatabase(file: string): Database {
  mkdirSync(dirname(file), { recursive: true });
  const database = new Database(file);
  database.run(`PRAGMA busy_timeout = ${CONVERSIONS_BUSY_MS}`);
  database.run("PRAGMA synchronous = OFF");
  database.run(SCHEMA);
  return database;
}

function find(database: Database, key: string): string | undefined {
  const found = database
    .query<{ text: string; hash: string }, [string]>(
      "SELECT text, hash FROM conversions WHERE key = ?",
    )
    .get(key);
  if (found === null || found.hash !== hashOf(key, found.text)) return undefined;
  database.query("UPDATE conversions SET used = ? WHERE key = ?").run(Date.now(), key);
  return found.text;
}

function keep(database: Database, key: string, text: string, maxBytes: number): void {
  const row = [key, text, Buffer.byteLength(text), hashOf(key, text), Date.now()] as const;
  database.query("INSERT OR REPLACE INTO conversions VALUES (?, ?, ?, ?, ?)").run(...row);
  database
    .query(
      `DELETE FROM conversions WHERE key IN (SELECT key FROM (
        SELECT key, sum(bytes) OVER (ORDER BY used DESC, rowid DESC) AS total FROM conversions) WHERE total > ?)`,
    )
    .run(maxBytes);
}
