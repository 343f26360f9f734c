import type { Schemas } from "../base/api.ts";
import { bytes, counted } from "../base/format.ts";
import { useOfProject } from "../base/resource.ts";
import { changeParams, hrefOf, type Route } from "../base/router.ts";
import { CopyButton, IconButton } from "../parts/button.tsx";
import { Facts, Tabs } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import type { Found } from "./ask.ts";
import { DocumentText, isRendered } from "./document-text.tsx";
import type { Question } from "./question.ts";
import { SearchCode } from "./search-code.tsx";

type File = Schemas["File"];

const PARTS = {
  text: "Text",
  raw: "Raw",
  chunks: "Chunks",
  facts: "Metadata",
  code: "Code",
} as const;
type Part = keyof typeof PARTS;

/** Names of metadata with the origin of a file. */
const SOURCES = ["source", "source_url", "url", "canonical_url", "link"];

interface DocumentProps {
  readonly question: Question;
  /** The id or the path of the file. */
  readonly file: string;
  /** The results in the list, with the opened passage. */
  readonly found: readonly Found[];
  readonly params: Route["params"];
}

function useFile({ project, target }: Question, file: string) {
  const query = target === undefined ? {} : { [target.kind]: target.name };
  return useOfProject<File>([project, "files", file], query);
}

/** An opened result: the file at the passage, its chunks, its metadata, and the search as code. */
export function DocumentPane({ question, file, found, params }: DocumentProps) {
  const loaded = useFile(question, file);
  const part = (params["part"] ?? "text") as Part;
  const chunk = params["chunk"] ?? "";
  const opened = found.find((each) => each.file === file && String(each.chunk?.index) === chunk);
  const close = () => {
    changeParams({ file: "", chunk: "", part: "" });
    document.querySelector<HTMLElement>(".search-box input")?.focus();
  };
  const hasRaw = loaded.value !== undefined && isRendered(loaded.value);
  const parts = Object.entries(PARTS).filter(([name]) => name !== "raw" || hasRaw);
  const tabs = parts.map(([name, label]) => ({
    name,
    label,
    href: hrefOf(["search"], { ...params, part: name === "text" ? "" : name }),
  }));
  return (
    <section class="panel document" aria-label="Document">
      <div class="panel-head">
        <h2>{loaded.value?.title ?? "Document"}</h2>
        <IconButton icon="close" label="Close the document" onClick={close} />
      </div>
      <Loaded of={loaded}>
        {(value) => (
          <>
            <p class="document-path muted small">
              <code>{value.path}</code>
              <span class="actions">
                <SourceLink of={value} opened={opened} />
                <CopyButton text={value.path} label="Copy path" />
              </span>
            </p>
            <Tabs label="Parts of the document" tabs={tabs} current={part} />
            {part === "chunks" && <Chunks file={value} question={question} params={params} />}
            {part === "facts" && <Metadata file={value} opened={opened} />}
            {part === "code" && <SearchCode question={question} />}
            {!["chunks", "facts", "code"].includes(part) && (
              <DocumentText
                file={value}
                chunk={chunk}
                opened={opened}
                place={
                  part === "raw" ? undefined : { project: params["project"], in: params["in"] }
                }
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

/** The origin of a file, by its frontmatter or metadata. */
function sourceOf(file: File, opened: Found | undefined): string | undefined {
  const given = new Map<string, unknown>([
    ...Object.entries(opened?.chunk?.metadata ?? {}),
    ...file.frontmatter.map(({ key, value }) => [key, value] as const),
  ]);
  const addresses = SOURCES.map((name) => given.get(name));
  return addresses.find(
    (value): value is string => typeof value === "string" && /^https?:\/\/\S+$/i.test(value),
  );
}

/** A link to the page of origin of the file. Following it does not send a referrer. */
function SourceLink({ of, opened }: { of: File; opened: Found | undefined }) {
  const href = sourceOf(of, opened);
  if (href === undefined) return null;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      Source
    </a>
  );
}

interface ChunksProps {
  readonly file: File;
  readonly question: Question;
  readonly params: Route["params"];
}

function Chunks({ file, question, params }: ChunksProps) {
  if (file.chunks.length === 0) return <Empty title="This file has no chunks." />;
  const { project, in: target } = params;
  return (
    <ol class="chunks">
      {file.chunks.map(({ id, index, token_count, start_offset, end_offset }) => (
        <li key={id} aria-current={String(index) === params["chunk"] ? "true" : undefined}>
          <p class="small muted">
            chunk {index}, {counted(token_count, "token")}
          </p>
          {file.content !== null && (
            <p class="chunk-text">{file.content.slice(start_offset, end_offset)}</p>
          )}
          <p class="actions">
            <a href={hrefOf(["search"], { ...params, chunk: String(index), part: "" })}>
              Show in the text
            </a>
            <a
              href={hrefOf(["search"], { project, in: target, filter: question.filter, like: id })}
              aria-label={`Chunks similar to chunk ${index}`}
            >
              Similar chunks
            </a>
          </p>
        </li>
      ))}
    </ol>
  );
}

const shown = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

function Metadata({ file, opened }: { file: File; opened: Found | undefined }) {
  const metadata = Object.entries(opened?.chunk?.metadata ?? {});
  return (
    <div class="page">
      <Facts
        of={[
          ["Size", bytes(file.size)],
          ["Chunks", file.chunk_count],
          ["Updated", new Date(file.updated_at).toLocaleString()],
          ["Version", <code>{file.version_id}</code>],
        ]}
      />
      <h3>Frontmatter</h3>
      {file.frontmatter.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <Facts of={file.frontmatter.map(({ key, value }) => [key, shown(value)] as const)} />
      )}
      {opened?.chunk && (
        <>
          <h3>Metadata of chunk {opened.chunk.index}</h3>
          {metadata.length === 0 ? (
            <p class="muted">None.</p>
          ) : (
            <Facts of={metadata.map(([key, value]) => [key, shown(value)] as const)} />
          )}
        </>
      )}
    </div>
  );
}
