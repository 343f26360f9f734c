import { expect, test } from "bun:test";
import { Retriever } from "../../bench/relevance/retriever.ts";
import { tessera } from "../../bench/relevance/tessera.ts";
import { parseMarkdown } from "../../src/documents/markdown/index.ts";
import { embed, embedPassage } from "../../src/embed/embedders/feature-hashing.ts";
import { onCleanup } from "../../support/cleanup.ts";

type Pages = Readonly<Record<string, string>>;

const documentsOf = (pages: Pages) =>
  Object.entries(pages).map(([path, text]) => ({ id: path, path, ...parseMarkdown(path, text) }));

/** The paths that a lookup finds, and the hits of retrievals of these pages. */
function worldOf(pages: Pages) {
  const documents = documentsOf(pages);
  const passages = documents.map(({ title, content }) => embedPassage([title], content));
  const retriever = new Retriever(documents, passages);
  onCleanup(async () => retriever.close());
  const lookUp = tessera(documents);
  const hits = (mode: "keyword" | "hybrid", query: string, vector = embed(query)) =>
    retriever.hits(mode, query, vector as Float32Array<ArrayBuffer>, 10);
  return { lookUp, hits, passages };
}

const OTHERS = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [`other${i}.md`, `# Other ${i}\n\nNothing of the kind.`]),
);

test("a word that a page holds is taken for whole: longer words count for nearly nothing, and for nothing in a retrieval", () => {
  const { lookUp, hits } = worldOf({
    ...OTHERS,
    "backups.md": "# Backups\n\nBackups are made at night.",
    "releases.md": "# Releases\n\nEach one is kept.\n\n## Rolling back\n\nChoose an earlier one.",
    "refunds.md": "# Refunds\n\nYou get the money within five days.",
    "cards.md": "# Cards\n\nA card has a picture.",
    "cars.md": "# Vehicles\n\nA car has a number.",
  });
  expect(lookUp("back")).toEqual(["releases.md", "backups.md"]);
  for (const mode of ["keyword", "hybrid"] as const) {
    const found = (query: string) =>
      hits(mode, query).flatMap(({ path, score }) => (score > 0.3 ? [path] : []));
    expect(found("back")).toEqual(["releases.md"]);
    expect(found("where do I get money back")[0]).toBe("refunds.md");
    expect(found("the car")).toEqual(["cars.md"]);
  }
});

test("an unfinished word finds longer ones, the better the more of them was typed", () => {
  const { lookUp, hits } = worldOf({
    ...OTHERS,
    "a.md": "# A\n\nThe configuration is read once.",
    "b.md": "# B\n\nThe confidentiality is kept.",
  });
  expect(lookUp("confi")).toEqual(["a.md", "b.md"]);
  const scores = ["confi", "configur", "configuration"].map(
    (query) => hits("keyword", query)[0]?.score as number,
  );
  expect(scores).toEqual(scores.toSorted((a, b) => a - b));
  expect(new Set(scores).size).toBe(3);
});

test("function words between two words do not part them, and two of many words are no phrase", () => {
  const { hits } = worldOf({
    ...OTHERS,
    "trim.md": "# Streams\n\nTrim the stream to a maximum length of entries.",
    "length.md": "# Strings\n\nA string has a maximum length.",
  });
  const [best, next] = hits("keyword", "trim a stream to a maximum length");
  expect(best?.path).toBe("trim.md");
  expect([next?.path, (next?.score as number) < 0.6]).toEqual(["length.md", true]);
  const [phrase] = hits("keyword", "trim stream");
  expect(phrase?.score).toBeGreaterThan(0.85);
});

test("words that no page holds make a phrase a smaller part of the query", () => {
  const { hits } = worldOf({
    ...OTHERS,
    "length.md": "# Strings\n\nA string has a maximum length.",
  });
  const scoreOf = (query: string) => hits("keyword", query)[0]?.score as number;
  expect(scoreOf("maximum length")).toBeGreaterThan(0.85);
  expect(scoreOf("crop giraffe maximum length")).toBeLessThan(0.6);
});

test("a typo that one page has made, too, does not hide the pages with the word", () => {
  const { lookUp } = worldOf({
    ...OTHERS,
    "typo.md": "# Settings\n\nSet the enviroment first.",
    ...Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [`e${i}.md`, `# E${i}\n\nAn environment has a name.`]),
    ),
  });
  expect(lookUp("enviroment")).toEqual(["typo.md", "e0.md", "e1.md", "e2.md", "e3.md", "e4.md"]);
  expect(lookUp("environment")).not.toContain("typo.md");
});

test("a word that one page holds comes before titles with a similar word", () => {
  const starts = Array.from({ length: 5 }, (_, i) => [`s${i}.md`, `# Start\n\nHow to start ${i}.`]);
  const { lookUp, hits } = worldOf({
    ...OTHERS,
    ...Object.fromEntries(starts),
    "stop.md":
      "# Stopping a server\n\nIn this mode, which is called smart, nobody is disconnected.",
  });
  expect(lookUp("smart")[0]).toBe("stop.md");
  expect(lookUp("smart")).toContain("s0.md");
  for (const mode of ["keyword", "hybrid"] as const) {
    expect(hits(mode, "smart")[0]?.path).toBe("stop.md");
  }
});

test("a page without a heading of its own is found by the name of its file", () => {
  const commands = ["get", "set", "append", "expire", "rename"];
  const pages = commands.map((name) => [
    `commands/${name}.md`,
    `The command ${name} and set or get values.\n\n## Options\n\nNone that you can get or set.`,
  ]);
  const { lookUp, hits } = worldOf(Object.fromEntries(pages));
  for (const query of ["set", "GET command", "how does EXPIRE work"]) {
    const name = commands.find((each) => query.toLowerCase().includes(each));
    expect(lookUp(query)[0]).toBe(`commands/${name}.md`);
    expect(hits("hybrid", query)[0]?.path).toBe(`commands/${name}.md`);
  }
});

test("the file whose name is the query comes first, whatever its title", () => {
  const pages = {
    ...OTHERS,
    "docs/git-commit.md": "# git-commit(1) Manual Page\n\n## NAME\n\nRecords changes.",
    "docs/git-commit-tree.md":
      "# git-commit-tree(1) Manual Page\n\n## NAME\n\nThe git commit of a tree.",
    "git-commit/tree.md": "# Trees\n\nA git commit has a tree.",
    "docs/git-stash.pdf.md": "# Hiding places\n\nWork is put away.",
    "docs/git-stash-list.md": "# Lists\n\nThe git stash has a list, and the git stash is kept.",
  };
  const { lookUp, hits } = worldOf(pages);
  for (const query of ["git commit", "git-commit", "gitCommit"]) {
    expect(lookUp(query)[0]).toBe("docs/git-commit.md");
    for (const mode of ["keyword", "hybrid"] as const) {
      expect(hits(mode, query)[0]?.path).toBe("docs/git-commit.md");
    }
  }
  expect(lookUp("git stash")[0]).toBe("docs/git-stash.pdf.md");
  expect(lookUp("stash pdf")[0]).toBe("docs/git-stash.pdf.md");
});

test("a vector takes nothing from the words, and a page without a word of the query never repeats it", () => {
  const pages = { ...OTHERS, "vpn.md": "# Remote access\n\nConnect through the VPN." };
  const { hits, passages } = worldOf(pages);
  const own = hits("keyword", "VPN")[0]?.score as number;
  const opposite = (passages.at(-1) as Float32Array).map((element) => -element);
  for (const vector of [opposite, passages[0] as Float32Array]) {
    const scores = new Map(hits("hybrid", "VPN", vector).map(({ path, score }) => [path, score]));
    expect(scores.get("vpn.md")).toBeGreaterThanOrEqual(own);
  }
  for (const { score } of hits("hybrid", "xyzzyqq", passages[3])) {
    expect(score).toBeLessThanOrEqual(0.8);
  }
});
