/**
 * Questions compared with the bare words that they are about: how many find the page that they are about in
 * first place, on the first page, and at all.
 *
 *   bun bench/knowledge/questions.ts [--folder FOLDER] [--seed 1] [--queries 60] [--languages de,ja]
 *
 * `--folder` holds Markdown files in any language, `--queries` is the number of titles, of headings and of
 * descriptions, each of which is asked for in every frame of every language; none of `--languages` means all.
 */

import { type BenchContext, runBenchmark } from "../harness/context.ts";
import type { Output } from "../harness/table.ts";
import { readCorpus } from "../relevance/corpus.ts";
import { FRAMES, framed } from "../relevance/frames.ts";
import { RANKS, type SearchSystem } from "../relevance/measure.ts";
import { type Kind, type KnownItemQuery, knownItemQueries } from "../relevance/queries.ts";
import { tessera } from "../relevance/tessera.ts";

export const OPTIONS = {
  folder: `${import.meta.dir}/../../fixtures/docs`,
  seed: 1,
  queries: 60,
  languages: "",
};
type Options = typeof OPTIONS;

/** What questions are about. */
const SUBJECTS: readonly Kind[] = ["title", "heading", "description"];
/** The name of the rows without a frame. */
const BARE = "bare";

/** Shares of the queries, 0 to 1. */
interface Found {
  readonly language: string;
  readonly subject: Kind;
  readonly queries: number;
  readonly first: number;
  readonly firstPage: number;
  readonly atAll: number;
}

/** Answers with at least the first page, and with all results if asked to. */
interface Systems {
  readonly page: SearchSystem;
  readonly all: SearchSystem;
}

function ask(
  { page, all }: Systems,
  language: string,
  subject: Kind,
  frames: readonly string[],
  items: readonly KnownItemQuery[],
): Found {
  const queries = frames.flatMap((frame) =>
    items.map(({ text, path }) => ({ path, text: framed(frame, text) })),
  );
  const ranks = queries.map(({ text, path }) => {
    const rank = page(text).indexOf(path);
    return rank >= 0 ? rank : all(text).indexOf(path);
  });
  const share = (isFound: (rank: number) => boolean) => ranks.filter(isFound).length / ranks.length;
  return {
    language,
    subject,
    queries: queries.length,
    first: share((rank) => rank === 0),
    firstPage: share((rank) => rank >= 0 && rank < RANKS),
    atAll: share((rank) => rank >= 0),
  };
}

const percent = (share: number) => `${(share * 100).toFixed(1)}%`;

export async function run(options: Options, { out }: BenchContext) {
  const { folder, seed, queries, languages } = options;
  const documents = readCorpus(folder);
  const items = knownItemQueries(documents, seed, queries);
  const systems = { page: tessera(documents), all: tessera(documents, documents.length) };
  const named = languages === "" ? Object.keys(FRAMES) : languages.split(",");
  const rows: Found[] = [];
  for (const subject of SUBJECTS) {
    const own = items.filter(({ kind }) => kind === subject);
    if (own.length === 0) continue;
    rows.push(ask(systems, BARE, subject, ["{}"], own));
    for (const language of named) {
      const frames = FRAMES[language];
      if (frames === undefined) throw new Error(`there are no frames in ${language}`);
      rows.push(ask(systems, language, subject, frames, own));
    }
  }
  printFound(out, rows, `${documents.length} documents, seed ${seed}`);
  return { documents: documents.length, rows };
}

function printFound(out: Output, rows: readonly Found[], head: string): void {
  out.line(head);
  out.frames(
    rows.map((row) => {
      const bare = rows.find((each) => each.language === BARE && each.subject === row.subject);
      return {
        subject: row.subject,
        language: row.language,
        queries: row.queries,
        first: percent(row.first),
        "over bare": `${(row.first / (bare?.first ?? 0)).toFixed(2)}x`,
        "first page": percent(row.firstPage),
        "not found": percent(1 - row.atAll),
      };
    }),
  );
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
