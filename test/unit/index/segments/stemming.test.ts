import { describe, expect, test } from "bun:test";
import { stemLanguages } from "../../../../native/text.ts";
import {
  type KnowledgeDocument,
  mergeSegments,
  stem,
} from "../../../../src/index/segments/index.ts";
import { contentsOf } from "../../../../support/segment-contents.ts";
import { pathsOf, searchText, type TextView } from "../../../../support/text-search.ts";
import { documentOf, viewOf } from "./documents.ts";

/** Words of each language and their stems, as the program that comes with Snowball prints them. */
const STEMS: Readonly<Record<string, Record<string, string>>> = await Bun.file(
  `${import.meta.dir}/../../../../fixtures/stems.json`,
).json();

/** Words of the same stem, by language. */
const FAMILIES = Object.entries(STEMS).flatMap(([language, words]) =>
  Object.values(Object.groupBy(Object.keys(words), (word) => words[word] as string)).flatMap(
    (family = []) => (family.length > 1 ? [{ language, family }] : []),
  ),
);

const inLanguage = (path: string, language: string, content: string, key = "lang") =>
  documentOf(path, { frontmatter: [{ key, value: language }], content });

const found = (documents: readonly KnowledgeDocument[], query: string) =>
  pathsOf(searchText(viewOf(documents), query).hits);

test("every language of Snowball has the stems that Snowball's own program prints", () => {
  expect(Object.keys(STEMS).toSorted()).toEqual([...stemLanguages].toSorted());
  const own = Object.entries(STEMS).map(([language, words]) => {
    const number = stemLanguages.indexOf(language);
    return [
      language,
      Object.fromEntries(Object.keys(words).map((word) => [word, stem(word, number)])),
    ];
  });
  expect(Object.fromEntries(own)).toEqual(STEMS);
});

test("every form of a word finds the others in a file that states its language", () => {
  expect(new Set(FAMILIES.map(({ language }) => language)).size).toBe(stemLanguages.length);
  for (const { language, family } of FAMILIES) {
    const documents = family.map((word, i) => inLanguage(`${i}.md`, language, `${word}.`));
    for (const query of [...family, ...family.map((word) => word.toUpperCase())]) {
      expect([language, query, found(documents, query).length]).toEqual([
        ...[language, query, family.length],
      ]);
    }
  }
});

describe("the language of a file", () => {
  test("is what its frontmatter says, as a tag or by name", () => {
    for (const [key, value] of [
      ["lang", "de"],
      ["language", "de-AT"],
      ["Lang", "de_CH"],
      ["lang", "deu"],
      ["language", "German"],
    ] as const) {
      const documents = [inLanguage("a.md", value, "Die Häuser", key)];
      expect([value, found(documents, "Haus")]).toEqual([value, ["a.md"]]);
    }
  });

  test("is English if it has no stemmer, or the value is none", () => {
    for (const value of ["zh-CN", "pl", "cobol 85", "?"]) {
      const documents = [inLanguage("a.md", value, "running tests")];
      expect([value, found(documents, "test")]).toEqual([value, ["a.md"]]);
    }
  });

  const TEXTS: ReadonlyArray<readonly [string, string, string]> = [
    [
      "de",
      "Wie man die Häuser und die Gärten mit dem Programm findet, ist hier beschrieben.",
      "Haus",
    ],
    [
      "fr",
      "Les paramètres sont dans le fichier que vous avez créé pour cette page.",
      "paramètre créer",
    ],
    [
      "es",
      "Las configuraciones están en el archivo que usted tiene para esta página.",
      "configuración",
    ],
    [
      "pt",
      "As configurações estão no arquivo que você tem para esta página e não mudam.",
      "configuração",
    ],
    [
      "it",
      "Le impostazioni sono nel file che hai creato per questa pagina, ma anche qui.",
      "impostazione",
    ],
    [
      "nl",
      "De instellingen staan in het bestand dat je voor deze pagina hebt gemaakt.",
      "instelling",
    ],
    [
      "sv",
      "Inställningarna finns i filen som du har skapat för den här sidan och måste sparas.",
      "inställning",
    ],
    [
      "fi",
      "Kun asetuksista puhutaan, se on tiedosto joka on luotu, ja niin myös tämä sivu.",
      "asetukset",
    ],
    ["ru", "Все настройки находятся в файле, который вы создали для этой страницы.", "настройками"],
    [
      "tr",
      "Bu sayfa için olan kitaplarımızdan biri ve daha çok şey burada var ama o değil.",
      "kitap",
    ],
    [
      "hu",
      "A beállításokat a fájlban találja, és ez az oldal is abban van, de nem ott.",
      "beállítás",
    ],
    [
      "ro",
      "Setările sunt în fișierul pe care l-ați creat pentru această pagină și nu aici.",
      "setări",
    ],
    ["el", "Οι αλλαγές στα βιβλία είναι στο αρχείο της σελίδας.", "βιβλίων"],
    ["en", "The houses and gardens of the city are described here.", "house garden"],
  ];

  test("is told by its text if its frontmatter says nothing", () => {
    for (const [language, content, query] of TEXTS) {
      const [segment] = viewOf([documentOf("a.md", { content })]).segments;
      expect([language, stemLanguages[segment?.languages[0] as number]]).toEqual([
        language,
        language,
      ]);
      expect([query, found([documentOf("a.md", { content })], query)]).toEqual([query, ["a.md"]]);
    }
  });

  test("is English for code, lists of names and a few words", () => {
    for (const content of [
      ...[
        "{{ ge 1 1 }} → true\n{{ ge 1 2 }} → false\n{{ ge 1 2 1 }} → false",
        "{{ mod 15 3 }} → 0 {{ mod 15 3 }} → 0",
      ],
      ...["{{ $t1 := time.AsTime }}\n{{ $t2 := time.AsTime }}\n{{ $t1.Sub $t2 }} → 25h10m20s"],
      "",
      "SELECT * FROM users",
      "die",
      "docker kubectl helm",
      "東京都の天気",
    ]) {
      const [segment] = viewOf([documentOf("a.md", { content })]).segments;
      expect([content, segment?.languages[0]]).toEqual([content, 0]);
    }
  });
});

describe("files in several languages", () => {
  const documents = filesOfFour();

  test("find the forms of each language by a word in it", () => {
    expect(found(documents, "Haus")).toContain("de.md");
    expect(found(documents, "paramètre")).toContain("fr.md");
    expect(found(documents, "notes")).toContain("en-0.md");
  });

  test("find no function word of one language by a stem of another", () => {
    // In French, `notes` and `not` have one stem, and the French file quotes English.
    expect(found(documents, "notes")).not.toContain("en-1.md");
  });

  test("have the same results after their segments are merged", () => {
    const parts = documents.map(
      (document) => viewOf([document]).segments[0] as TextView["segments"][0],
    );
    const apart = { segments: parts, documentSets: parts.map(() => null) };
    const { buffer } = mergeSegments(parts.map(({ buffer: own }) => ({ buffer: own, keep: null })));
    const merged = { segments: [contentsOf(buffer)], documentSets: [null] };
    for (const query of [
      "Haus",
      "paramètre",
      "parametre",
      "notes",
      "not",
      "настройками",
      "gardens",
    ]) {
      const [one, other, built] = [apart, merged, viewOf(documents)].map(
        (view) => searchText(view, query).hits,
      );
      expect([query, one]).toEqual([query, built]);
      expect([query, other]).toEqual([query, built]);
    }
  });
});

describe("a compound in German, Dutch, Swedish, Danish or Norwegian", () => {
  const CASES: ReadonlyArray<readonly [language: string, content: string, query: string]> = [
    ["de", "Vorlagen für Notizen", "Notizvorlagen"],
    ["de", "Die Sicherung der Daten in der Datenbank", "Datenbanksicherung"],
    ["de", "Der Typ einer Datei", "Dateityp"],
    ["de", "Einstellungen der Schule", "Schuleinstellung"],
    ["nl", "De instellingen van een gebruiker", "gebruikersinstellingen"],
    ["sv", "Inställningar för en användare", "användarinställningar"],
    ["da", "Indstillinger for en bruger", "brugerindstillinger"],
    ["no", "Innstillinger for en bruker", "brukerinnstillinger"],
  ];

  test("finds the files that hold its parts", () => {
    for (const [language, content, query] of CASES) {
      const documents = [
        inLanguage("a.md", language, content),
        inLanguage("b.md", language, "etc"),
      ];
      expect([query, found(documents, query)]).toEqual([query, ["a.md"]]);
    }
  });

  test("finds first the file that holds it, then those that hold all of its parts", () => {
    for (const [language, content, query] of CASES) {
      const documents = [
        inLanguage("a.md", language, `${content}. Ok.`),
        inLanguage("b.md", language, `${query}. Ok.`),
        inLanguage("c.md", language, `${content.split(" ").at(-1)} xyz etc.`),
      ];
      expect([query, found(documents, query).slice(0, 2)]).toEqual([query, ["b.md", "a.md"]]);
    }
  });

  test("is marked by its parts, as whole characters", () => {
    const documents = [inLanguage("a.md", "de", "Größen für die Schlüssel")];
    const { hits } = searchText(viewOf(documents), "Schlüsselgröße");
    const { text, matches = [] } = hits[0]?.snippet ?? { text: "" };
    expect(matches.map(([start, end]) => text.slice(start, end))).toEqual(["Größen", "Schlüssel"]);
  });

  test("is cut only by words that files in its language hold, and by no function words", () => {
    for (const [language, content, query] of [
      ["en", "some thing", "something"],
      ["de", "ein Stellung", "einstellung"],
      ["de", "Rech Nun", "Rechnung"],
    ] as const) {
      expect([query, found([inLanguage("a.md", language, content)], query)]).toEqual([query, []]);
    }
  });

  test("of any length is cut within bounded time, however many words the letters are", () => {
    const content = Array.from({ length: 24 }, (_, i) => "a".repeat(i + 3)).join(" ");
    for (const length of [7, 40, 41, 64, 500]) {
      const query = "a".repeat(length);
      expect(found([inLanguage("a.md", "de", content)], query).length).toBeLessThanOrEqual(1);
      expect(found([inLanguage("a.md", "de", content)], `${query}b`).length).toBeLessThanOrEqual(1);
    }
  });
});

/** Files in English, German, French and Russian. */
function filesOfFour(): KnowledgeDocument[] {
  return [
    inLanguage("de.md", "de", "Die Häuser sind groß"),
    inLanguage("fr.md", "fr", "Les paramètres notés, do not touch"),
    inLanguage("ru.md", "ru", "Все настройки и gardens"),
    inLanguage("en-0.md", "en", "A note about gardens"),
    ...[1, 2, 3, 4].map((i) => inLanguage(`en-${i}.md`, "en", `This is not about gardens ${i}`)),
  ];
}
