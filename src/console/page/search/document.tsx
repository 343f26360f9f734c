import { bytes, counted } from "../base/format.ts";
import { placeOf } from "../base/places.ts";
import { useResource } from "../base/resource.ts";
import { changeParams, hrefOf, type Route } from "../base/router.ts";
import { client, type Schemas } from "../base/service.ts";
import { Button, CopyButton } from "../parts/button.tsx";
import { Facts, Tabs } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import type { Found } from "./ask.ts";
import { DocumentText, isRendered } from "./document-text.tsx";
import type { Question } from "./question.ts";

type File = Schemas["File"];

const TABS = { text: { label: "Text" }, chunks: { label: "Chunks" }, facts: { label: "Metadata" } };
/** The stored text of a file that is rendered. */
const RAW = { raw: { label: "Raw" } };

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

/** An opened result: the file at the passage, its chunks and its metadata. */
export function DocumentPane({ question: { project, place }, file, found, params }: DocumentProps) {
  const loaded = useResource(JSON.stringify([project, place, file]), (signal) =>
    client.getFile(project, file, { ...placeOf(place), signal }),
  );
  const { part = "text", chunk = "" } = params;
  const opened = found.find((each) => each.file === file && String(each.chunk?.index) === chunk);
  const close = () => {
    changeParams({ file: "", chunk: "", part: "" });
    document.querySelector<HTMLElement>(".search-box input")?.focus();
  };
  return (
    <section class="panel document" aria-label="Document">
      <div class="panel-head">
        <h2>{loaded.value?.title ?? "Document"}</h2>
        <Button icon="close" label="Close the document" onClick={close} />
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
            <Tabs
              label="Parts of the document"
              tabs={{ ...TABS, ...(isRendered(value) && RAW) }}
              current={part}
              hrefTo={(name) =>
                hrefOf(["search"], { ...params, part: name === "text" ? "" : name })
              }
            />
            {part === "chunks" && <Chunks file={value} params={params} />}
            {part === "facts" && <Metadata file={value} opened={opened} />}
            {part !== "chunks" && part !== "facts" && (
              <DocumentText
                file={value}
                chunk={chunk}
                opened={opened}
                links={part === "raw" ? undefined : { project, in: place }}
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

/** A link to the origin of a file, by its frontmatter or metadata. Following it does not send a referrer. */
function SourceLink({ of, opened }: { of: File; opened: Found | undefined }) {
  const given = new Map<string, unknown>([
    ...Object.entries(opened?.chunk?.metadata ?? {}),
    ...of.frontmatter.map(({ key, value }) => [key, value] as const),
  ]);
  const href = SOURCES.map((name) => given.get(name)).find(
    (value): value is string => typeof value === "string" && /^https?:\/\/\S+$/i.test(value),
  );
  if (href === undefined) return null;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      Source
    </a>
  );
}

function Chunks({ file, params }: { file: File; params: Route["params"] }) {
  if (file.chunks.length === 0) return <Empty title="This file has no chunks." />;
  const { project, in: place, filter } = params;
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
              href={hrefOf(["search"], { project, in: place, filter, like: id })}
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

function Metadata({ file, opened }: { file: File; opened: Found | undefined }) {
  const { chunk } = opened ?? {};
  const frontmatter = file.frontmatter.map(({ key, value }) => [key, value] as const);
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
      <Values title="Frontmatter" of={frontmatter} />
      {chunk && (
        <Values title={`Metadata of chunk ${chunk.index}`} of={Object.entries(chunk.metadata)} />
      )}
    </div>
  );
}

function Values({ title, of }: { title: string; of: readonly (readonly [string, unknown])[] }) {
  const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return (
    <>
      <h3>{title}</h3>
      {of.length === 0 && <p class="muted">None.</p>}
      <Facts of={of.map(([key, value]) => [key, shown(value)])} />
    </>
  );
}
