import { expect, test } from "bun:test";
import { readFrontmatterValues } from "../../../../src/documents/markdown/index.ts";
import { FRONTMATTER_MAX_CHARS } from "../../../../src/domain/limits.ts";
import { createVersionReader } from "../../../../src/index/versions/reader.ts";
import { addProject, addUser } from "../../../../support/accounts.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";

const BODY = `# Title\n\n${"Some text of the body.\n".repeat(100)}`;
const FIELDS = "title: Café ☕\ncount: 2\n";
/** Frontmatter and its fences reach into the last of the characters that are read. */
const LONG = `${FIELDS}more: ${"é".repeat(FRONTMATTER_MAX_CHARS - FIELDS.length - 10)}\n`;

/** Texts whose frontmatter begins, ends or is missing in every way. */
const TEXTS = {
  "plain.md": `---\n${FIELDS}---\n${BODY}`,
  "rules.md": `---\n${FIELDS}---\n${BODY}\n---\nother: 1\n---\n`,
  "blanks.md": `---  \n${FIELDS}---\t\n${BODY}\n---\n`,
  "dots.md": `---\n${FIELDS}...\n${BODY}\n---\n`,
  "windows.md": `---\r\n${FIELDS.replaceAll("\n", "\r\n")}---\r\n${BODY}`,
  "mark.md": `\ufeff---\n${FIELDS}---\n${BODY}`,
  "dashes.md": `---\n${FIELDS}text: |\n  a\n ---\n----\n---\n${BODY}`,
  "empty.md": `---\n---\n${BODY}`,
  "open.md": `---\n${FIELDS}${BODY}`,
  "none.md": `${BODY}\n---\n${FIELDS}---\n`,
  "ends.md": `---\n${FIELDS}---`,
  "nothing.md": "",
  "long.md": `---\n${LONG}---\n${BODY.repeat(100)}`,
  "too-long.md": `---\n${LONG}${LONG}---\n${BODY.repeat(100)}`,
};

test("the fields of a file are those of its whole text, of which only the frontmatter is read", async () => {
  const { sql } = await createTestDatabase();
  const project = await addProject(sql, await addUser(sql));
  const rows = await sql<{ id: string; path: string; content: string }[]>`
    WITH given AS (
      SELECT gen_random_uuid() AS file_id, path, content
      FROM unnest(${Object.keys(TEXTS)}::text[], ${Object.values(TEXTS)}::text[]) AS t (path, content)
    ), made AS (
      INSERT INTO files (id, project_id, path) SELECT file_id, ${project.id}, path FROM given
    )
    INSERT INTO file_versions (id, project_id, file_id, version_key, content, title)
    SELECT gen_random_uuid(), ${project.id}, file_id, path, content, path FROM given
    RETURNING id, version_key AS path, content`;
  const heads = new Map<string, string | null>();
  for await (const batch of createVersionReader(sql).fields(rows.map(({ id }) => id))) {
    for (const { path, head } of batch) heads.set(path, head);
  }
  for (const { path, content } of rows) {
    const head = heads.get(path) ?? "";
    expect([path, readFrontmatterValues(head)]).toEqual([path, readFrontmatterValues(content)]);
    expect(content.startsWith(head)).toBe(true);
  }
  expect(heads.get("plain.md")).toBe(`---\n${FIELDS}---\n`);
  expect(heads.get("none.md")).toBe("");
});
