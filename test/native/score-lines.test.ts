import { describe, expect, test } from "bun:test";
import { readCorpus } from "../../bench/relevance/corpus.ts";
import { Retriever } from "../../bench/relevance/retriever.ts";
import { parseMarkdown } from "../../src/documents/markdown/index.ts";
import { WEAK_SCORE } from "../../src/domain/limits.ts";
import { embed, embedPassage } from "../../src/embed/embedders/feature-hashing.ts";
import { onCleanup } from "../../support/cleanup.ts";

/** Higher scores are of texts that repeat the query, as docs/build-search.md says. */
const REPEATED_SCORE = 0.85;

const PAGES = {
  "en-remote.md":
    "# Remote access\n\nConnect from home through the VPN before you open the intranet. Ask the help desk for a token.",
  "en-refunds.md":
    "# Refunds\n\nWe return the money within five days if the parcel comes back unopened.",
  "en-canteen.md": "# Canteen\n\nLunch is served from noon. Vegetarian dishes are marked green.",
  "de-lieferung.md":
    "# Lieferung\n\nDas Paket kommt nach drei Tagen an. Eine Rückgabe ist innerhalb einer Woche möglich.",
  "de-kantine.md":
    "# Kantine\n\nDas Mittagessen beginnt um zwölf. Vegetarische Gerichte sind grün gekennzeichnet.",
  "fr-livraison.md":
    "# Livraison\n\nLe colis arrive sous trois jours. Le remboursement demande une facture signée.",
  "fr-cantine.md":
    "# Cantine\n\nLe déjeuner commence à midi. Les plats végétariens portent une étiquette verte.",
  "ja-haisou.md":
    "# 配送\n\n商品は三日以内に届きます。返品は到着後七日以内にお願いします。送料はお客様の負担です。",
  "ja-shokudou.md": "# 食堂\n\n昼食は正午から始まります。野菜の料理には緑の印があります。",
  "ru-dostavka.md":
    "# Доставка\n\nПосылка приходит через три дня. Возврат возможен в течение недели.",
  "ru-stolovaya.md":
    "# Столовая\n\nОбед начинается в полдень. Вегетарианские блюда отмечены зелёным.",
};

const documents = [
  ...readCorpus(`${import.meta.dir}/../../fixtures/docs`),
  ...Object.entries(PAGES).map(([path, text]) => ({
    id: path,
    path,
    ...parseMarkdown(path, text),
  })),
];
const passages = documents.map(({ title, content }) => embedPassage([title], content));
const retriever = new Retriever(documents, passages);
onCleanup(async () => retriever.close());

const [WEAK, SOME, REPEATED] = ["weak", "a hit", "repeats the query"] as const;

function lineOf(score: number): string {
  if (score < WEAK_SCORE) return WEAK;
  return score > REPEATED_SCORE ? REPEATED : SOME;
}

/** A query, the page that is first, and the line of its score. Without a page nothing is more than weak. */
type Row = readonly [kind: string, query: string, page: keyof typeof PAGES | null, line: string];

const ROWS: readonly Row[] = [
  ["one exact rare word", "VPN", "en-remote.md", SOME],
  ["one exact rare word", "parcel", "en-refunds.md", SOME],
  ["one exact rare word", "Rückgabe", "de-lieferung.md", SOME],
  ["one exact rare word", "facture", "fr-livraison.md", SOME],
  ["one exact rare word", "返品", "ja-haisou.md", SOME],
  ["one exact rare word", "возврат", "ru-dostavka.md", SOME],
  ["one exact rare word", "intranet", "en-remote.md", SOME],
  ["one exact rare word", "dishes", "en-canteen.md", SOME],
  ["one exact rare word", "Mittagessen", "de-kantine.md", SOME],
  ["one exact rare word", "déjeuner", "fr-cantine.md", SOME],
  ["one exact rare word", "送料", "ja-haisou.md", SOME],
  ["one exact rare word", "обед", "ru-stolovaya.md", SOME],
  ["a title", "Remote access", "en-remote.md", REPEATED],
  ["a title", "canteen", "en-canteen.md", REPEATED],
  ["a title", "lieferung", "de-lieferung.md", REPEATED],
  ["a title", "Cantine", "fr-cantine.md", REPEATED],
  ["a title", "配送", "ja-haisou.md", REPEATED],
  ["a title", "столовая", "ru-stolovaya.md", REPEATED],
  ["a title", "refunds", "en-refunds.md", REPEATED],
  ["a title", "KANTINE", "de-kantine.md", REPEATED],
  ["a title", "livraison", "fr-livraison.md", REPEATED],
  ["a title", "食堂", "ja-shokudou.md", REPEATED],
  ["a title", "Доставка", "ru-dostavka.md", REPEATED],
  ["half of the words", "VPN bagpipe", "en-remote.md", SOME],
  ["half of the words", "parcel giraffe", "en-refunds.md", SOME],
  ["half of the words", "Rückgabe Dudelsack", "de-lieferung.md", SOME],
  ["half of the words", "facture girafe", "fr-livraison.md", SOME],
  ["half of the words", "返品 麒麟", "ja-haisou.md", SOME],
  ["half of the words", "возврат жираф", "ru-dostavka.md", SOME],
  ["half of the words", "lunch giraffe", "en-canteen.md", SOME],
  ["half of the words", "Mittagessen Giraffe", "de-kantine.md", SOME],
  ["half of the words", "déjeuner girafe", "fr-cantine.md", SOME],
  ["half of the words", "正午 麒麟", "ja-shokudou.md", SOME],
  ["half of the words", "обед жираф", "ru-stolovaya.md", SOME],
  ["a prefix", "vegeta", "en-canteen.md", SOME],
  ["a prefix", "unopen", "en-refunds.md", SOME],
  ["a prefix", "gekennz", "de-kantine.md", SOME],
  ["a prefix", "rembourse", "fr-livraison.md", SOME],
  ["a prefix", "昼", "ja-shokudou.md", SOME],
  ["a prefix", "вегетари", "ru-stolovaya.md", SOME],
  ["a prefix", "intran", "en-remote.md", SOME],
  ["a prefix", "Mittages", "de-kantine.md", SOME],
  ["a prefix", "étiquet", "fr-cantine.md", SOME],
  ["a prefix", "посыл", "ru-dostavka.md", SOME],
  ["a typo", "intrnaet", "en-remote.md", SOME],
  ["a typo", "vegetarain", "en-canteen.md", SOME],
  ["a typo", "Rückgbae", "de-lieferung.md", SOME],
  ["a typo", "factrue", "fr-livraison.md", SOME],
  ["a typo", "посылкка", "ru-dostavka.md", SOME],
  ["a typo", "parcell", "en-refunds.md", SOME],
  ["a typo", "Mitagessen", "de-kantine.md", SOME],
  ["nothing in common", "kangaroo", null, WEAK],
  ["nothing in common", "zebra xylophone", null, WEAK],
  ["nothing in common", "Giraffe Dudelsack", null, WEAK],
  ["nothing in common", "girafe cornemuse", null, WEAK],
  ["nothing in common", "麒麟", null, WEAK],
  ["nothing in common", "жираф волынка", null, WEAK],
  ["nothing in common", "accordion marmalade", null, WEAK],
  ["nothing in common", "marmelade accordéon", null, WEAK],
  ["nothing in common", "аккордеон", null, WEAK],
];

describe("the lines of the score", () => {
  for (const mode of ["keyword", "hybrid"] as const) {
    test.each(ROWS.map((row) => [...row]))(`${mode}: %s, "%s"`, (_, query, page, line) => {
      const vector = embed(query) as Float32Array<ArrayBuffer>;
      const [best] = retriever.hits(mode, query, vector, 10);
      const found = {
        page: page === null ? null : (best?.path ?? null),
        line: lineOf(best?.score ?? 0),
      };
      expect(found as object).toEqual({ page, line });
    });
  }
});
