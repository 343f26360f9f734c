import { beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import { REDIRECT_URL_PATTERN } from "../../src/api/billing/origins.ts";
import { codeOf, filesOf, ROOT } from "./sources.ts";

/** A pattern of the service, with real values. */
interface Example {
  readonly pattern: string;
  readonly accepts: readonly string[];
  readonly refuses: readonly string[];
}

const HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/** Every pattern in a schema of the service: of operations, records, configuration, headers and files. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  "the model of an embedder": {
    pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]+$`,
    accepts: [
      ...["nomic-embed-text", "nomic-embed-text:latest", "nomic-ai/nomic-embed-text-v1.5"],
      ...["snowflake-arctic-embed", "voyage-code-3", "text-embedding-3-large", "BAAI/bge-m3"],
      ...["Cohere/embed-v4.0", "{deployment}", "sentence-transformers/all-MiniLM-L6-v2", "模型 🚀"],
    ],
    refuses: ["", "bge\nm3", "bge\u0000m3", "\u007f", "a\u0085"],
  },
  "the address of an embedder": {
    pattern: "^https?://",
    accepts: ["http://127.0.0.1:11434/v1/embeddings", "https://api.openai.com/v1"],
    refuses: ["ftp://a", "127.0.0.1:11434", "HTTP://a", ""],
  },
  "how caches may keep an answer to a credential": {
    pattern: "^(private|no-store)",
    accepts: ["no-store", "private, no-cache", "private, max-age=31536000, immutable"],
    refuses: ["", "public, max-age=60", "no-cache", "max-age=60, private"],
  },
  "text without NUL": {
    pattern: String.raw`^[^\u0000]*$`,
    accepts: ["", "pcC{}", "line\nbreak", "guide/setup.md", "grün 🚀"],
    refuses: ["\u0000", "a\u0000b"],
  },
  "a permission in the scopes of a key": {
    pattern: String.raw`^[\x21-\x7e]+$`,
    accepts: ["search.query", "account.billing.manage"],
    refuses: ["", "search query", "ü", "a\n"],
  },
  "the limit of a page": {
    pattern: "^(?:[1-9][0-9]?|100)$",
    accepts: ["1", "50", "99", "100"],
    refuses: ["0", "01", "101", "1.5", "", "5\n"],
  },
  "a slug": {
    pattern: "^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$",
    accepts: ["demo", "copper-pipe-2", "p", "c"],
    refuses: ["", "Demo", "2x", "a--b", "a-", "a_b", "ä", "a\n"],
  },
  "an email address": {
    pattern: String.raw`^[^\s@]+@[^\s@]+$`,
    accepts: ["grace@example.com", "p.c@sub.example", "jörg@bücher.example"],
    refuses: ["", "grace", "a@b@c", "a b@c", "@c", "a@"],
  },
  "a SHA-256 hash": {
    pattern: "^[0-9a-f]{64}$",
    accepts: [HASH],
    refuses: [HASH.slice(1), HASH.toUpperCase(), `${HASH}\n`, ""],
  },
  "a number of days": {
    pattern: "^(?:[1-9]|[12]\\d|30)$",
    accepts: ["1", "9", "10", "29", "30"],
    refuses: ["0", "31", "01", "1.5", "300", ""],
  },
  "a commit": {
    pattern: "^[0-9a-f]{40}$",
    accepts: [HASH.slice(0, 40)],
    refuses: [HASH.slice(0, 39), HASH, "main", ""],
  },
  "the prefix of a key": {
    pattern: "^tsr_[0-9A-Za-z]{8,64}$",
    accepts: ["tsr_4fGhT0pC"],
    refuses: ["tsr_", "tsr_4fGhT0p", "TSR_4fGhT0pC", "tsr_4fGhT0p-"],
  },
  "the address of a redirect": {
    pattern: REDIRECT_URL_PATTERN,
    accepts: ["https://app.example.com/done?a=1", "HTTP://a.example", "myapp:paid", "cC:p"],
    refuses: [
      "javascript:alert(1)",
      "DATA:text/html,x",
      "https://",
      "https:\\\\a",
      "/done",
      "a b:c",
    ],
  },
  "an exact amount": {
    pattern: String.raw`^-?\d+(?:\.\d+)?$`,
    accepts: ["0", "-12.50", "1200"],
    refuses: ["", "1.", ".5", "1e3", "٣", "1,5"],
  },
  "an id of a request": {
    pattern: "^[A-Za-z0-9._-]{1,64}$",
    accepts: ["0197a3c2-5d1e-7c0b-9a40-3f2b6f1c8e55", "a.b_c"],
    refuses: ["", "a b", "ü", "a".repeat(65)],
  },
  "an entity tag": {
    pattern: '^"[^"]+"$',
    accepts: ['"0197a3c2"'],
    refuses: ['""', "0197", 'W/"a"', '"a"b"'],
  },
  "what is left of a quota": {
    pattern: String.raw`^"(default|user)";r=\d+;t=\d+(, "user";r=\d+;t=\d+)?$`,
    accepts: ['"default";r=99;t=1', '"default";r=0;t=60, "user";r=5;t=1'],
    refuses: ['"other";r=1;t=1', "r=1;t=1", '"user";r=;t=1'],
  },
  "a quota": {
    pattern: String.raw`^"(default|user)";q=\d+;w=\d+(, "user";q=\d+;w=\d+)?$`,
    accepts: ['"default";q=100;w=1', '"default";q=1;w=1, "user";q=5;w=1'],
    refuses: ['"other";q=1;w=1', "q=1;w=1", '"user";q=1;w='],
  },
  "the name of a piece of a snapshot": {
    pattern: String.raw`^[0-9a-f]{64}(\.[0-9a-f]{8})?$`,
    accepts: [HASH, `${HASH}.0badcafe`],
    refuses: [`${HASH}.0badcaf`, `${HASH}.`, "../x", ""],
  },
  "the path of a file of a snapshot": {
    pattern: "^([a-z]{1,16}/)?[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$",
    accepts: ["text/0001.seg", "vectors.bin", "C-p_1"],
    refuses: ["../x", "a/b/c", ".hidden", "/x", "A/b", ""],
  },
  // TypeBox gives it to every record, and names with line breaks are additional ones, which are allowed.
  "the names in an opaque object": {
    pattern: "^(.*)$",
    accepts: ["", "p", "C{}", "a.b", "ключ 🚀"],
    refuses: ["a\nb"],
  },
};

interface Found {
  readonly patterns: readonly string[];
  readonly expressions: readonly { readonly source: string; readonly flags: string }[];
}
let found: Found;

beforeAll(async () => {
  const child = Bun.spawn([process.execPath, "test/meta/patterns.ts"], { cwd: ROOT });
  found = JSON.parse(await new Response(child.stdout).text());
});

describe("patterns of schemas", () => {
  test("every pattern means the same to the service and to validators of JSON Schema, which use the flag u", () => {
    for (const source of found.patterns) {
      expect(source).not.toMatch(/\\[pP]/);
      expect(() => new RegExp(source, "u"), source).not.toThrow();
    }
    expect(found.patterns).not.toBeEmpty();
  });

  test("every pattern has examples of what it accepts and refuses", () => {
    const known = Object.values(EXAMPLES).map(({ pattern }) => pattern);
    expect([...found.patterns].sort()).toEqual(known.sort());
  });

  test.each(Object.entries(EXAMPLES))(
    "%s is accepted and refused as written",
    (_, { pattern, accepts, refuses }) => {
      const schema = Type.String({ pattern });
      const compiled = TypeCompiler.Compile(schema);
      const answers = (text: string) =>
        [
          compiled.Check(text),
          Value.Check(schema, text),
          new RegExp(pattern, "u").test(text),
        ].join();
      for (const text of accepts) expect([text, answers(text)]).toEqual([text, "true,true,true"]);
      for (const text of refuses)
        expect([text, answers(text)]).toEqual([text, "false,false,false"]);
    },
  );
});

describe("regular expressions", () => {
  test("none that is made of a string has a class of Unicode without the flag that gives it a meaning", () => {
    const faults = found.expressions.filter(
      ({ source, flags }) => /\\[pP]\{/.test(source) && !/[uv]/.test(flags),
    );
    expect(faults).toEqual([]);
    expect(found.expressions).not.toBeEmpty();
  });

  test("none that is written as such has a class of Unicode without the flag that gives it a meaning", () => {
    const literal = /\/(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n[])+\/([a-z]*)/g;
    const written = filesOf("{src,client,workers,native}/**/*.{ts,tsx}").flatMap((file) =>
      [...codeOf(file).matchAll(literal)].filter(([text]) => /(?<!\\)\\[pP]\{/.test(text)),
    );
    expect(written.filter(([, flags = ""]) => !/[uv]/.test(flags))).toEqual([]);
    expect(written).not.toBeEmpty();
  });
});
