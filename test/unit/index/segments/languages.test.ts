import { describe, expect, test } from "bun:test";

import { readCorpus } from "../../../../bench/relevance/corpus.ts";
import { RANKS } from "../../../../bench/relevance/measure.ts";
import { tessera } from "../../../../bench/relevance/tessera.ts";

import { documentOf } from "./documents.ts";

const handbook = readCorpus(`${import.meta.dir}/../../../../fixtures/docs`);

describe("documents of other languages among English ones", () => {
  const system = tessera(handbook);
  test("questions in German and French find what they ask for", () => {
    for (const [query, path] of [
      ["Wie werden die Daten nach einem Ausfall wiederhergestellt?", "de/datensicherung"],
      ["Was macht die Volltextsuche mit Umlauten?", "de/volltextsuche"],
      ["Comment fonctionne la recherche par vecteurs ?", "fr/recherche-vectorielle"],
    ]) {
      expect([query, system(query as string)[0]]).toEqual([query, `languages/${path}.md`]);
    }
  });
});

const NAMES = [
  ...["camelCase", "getStaticProps", "getServerSideProps", "HTTPServer", "useLayoutEffect"],
  ...["snake_case", "max_connections", "pg_dump", "pg_restore", "x86_64"],
  ...["std::vector", "std::unordered_map", "node:fs", "@types/bun", "tsconfig.json"],
  ...["--dry-run", "--no-cache", "-j 8", "SELECT COUNT(*)", "println!"],
  ...["C", "C++", "C#", "F", "F#", "NET", ".NET", "Node", "Node.js", "flag", "--flag", "-j"],
  ...["name", "@scope/name", "move", "std::move", "127.0.1.1", "E0938"],
  ...["v1.4.0", "v1.4.1", "v1.14.0", "3.11", "3.12", "127.0.0.1", "RFC 7807", "E0382", "utf-16"],
];

describe("names of code, numbers and versions", () => {
  const text =
    "The value is used when the tool runs, and every version of it reads the same file. ";
  const documents = NAMES.flatMap((name, i) => [
    documentOf(`names/${i}.md`, { title: name, content: text.repeat(3) }),
    documentOf(`notes/${i}.md`, {
      title: `Note ${i}`,
      content: `${text}It mentions ${name}, and also ${NAMES[(i + 3) % NAMES.length]}. ${text}`,
    }),
  ]);
  const system = tessera(documents);

  test("the page that is named so comes first, in any case", () => {
    for (const [i, name] of NAMES.entries()) {
      for (const query of [name, name.toLowerCase()]) {
        expect([query, system(query)[0]]).toEqual([query, `names/${i}.md`]);
      }
    }
  });

  test("a part of a name finds the page that is named so", () => {
    for (const [part, name] of [
      ...[
        ["static", "getStaticProps"],
        ["server", "HTTPServer"],
        ["camel", "camelCase"],
      ],
      ...[
        ["case", "snake_case"],
        ["js", "Node.js"],
        ["0938", "E0938"],
        ["1.4", "v1.4.0"],
      ],
      ...[
        ["scope", "@scope/name"],
        ["std", "std::move"],
        ["dry", "--dry-run"],
        ["c", "C++"],
      ],
    ] as const) {
      expect([name, system(part as string)]).toEqual([
        ...[name, expect.arrayContaining([`names/${NAMES.indexOf(name as string)}.md`])],
      ]);
    }
  });

  test("a page that mentions it is found by a question", () => {
    for (const [i, name] of NAMES.entries()) {
      const found = system(`what is mentioned with ${name} in the notes`);
      expect([name, found.slice(0, RANKS).includes(`notes/${i}.md`)]).toEqual([name, true]);
    }
  });

  test("a version is not mistaken for another one", () => {
    expect(system("v1.4.1")[0]).toBe(`names/${NAMES.indexOf("v1.4.1")}.md`);
    expect(system("3.12")[0]).toBe(`names/${NAMES.indexOf("3.12")}.md`);
  });
});
