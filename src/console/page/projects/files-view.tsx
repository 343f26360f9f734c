import { counted, quoted } from "../base/format.ts";
import { defaultPlace, type Place, placeOf, placeOptions } from "../base/places.ts";
import { cursorOf, usePause, useResource } from "../base/resource.ts";
import { useRefusal } from "../base/rights.ts";
import { changeParams } from "../base/router.ts";
import { client, type Listing, listed, type Schemas, SERVICE, transport } from "../base/service.ts";
import { Code } from "../parts/code.tsx";
import { Select, TextField } from "../parts/form.tsx";
import { Panel } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { FileTree } from "./file-tree.tsx";
import type { ProjectProps } from "./project-props.ts";
import { UploadZone } from "./upload-zone.tsx";

const PAUSE_MS = 200;
/** Maximum files of the list. They are read in successive requests of a hundred files, which take a second or two. */
const FILES_MAX = 1_000;

/** The files of an environment or a release as a tree; in an environment they can be added and removed. */
export function FilesView({ project, params }: ProjectProps) {
  const { slug } = project;
  const { in: shown = defaultPlace(project), q: words = "" } = params;
  const place = placeOf(shown) ?? { environment: "" };
  const environment = "environment" in place ? place.environment : undefined;
  const files = useResource(
    JSON.stringify([slug, shown, words]),
    (signal) => listed((page) => filesOf(slug, place, words, page), signal, FILES_MAX + 1),
    { keep: true },
  );
  const find = usePause(
    (text: string) => changeParams({ q: text.trim() }, { replace: true }),
    PAUSE_MS,
  );
  const refusal = useRefusal({ permission: "files.write", project: slug, atLeast: "editor" });
  const writable = refusal === null ? environment : undefined;
  const remove = async (path: string) => {
    await client.deleteFile(slug, path, { ...(environment && { environment }) });
    files.reload();
  };
  const tree = (
    <Loaded of={files}>
      {(found) => (
        <>
          <p class="muted small" role="status">
            {counted(Math.min(found.length, FILES_MAX), "file")}
            {found.length > FILES_MAX && ", and there are more: find them by a part of their path"}
          </p>
          {found.length === 0 ? (
            <NoFiles project={slug} environment={writable} words={words} />
          ) : (
            <FileTree
              key={`${shown} ${words}`}
              path=""
              files={found.slice(0, FILES_MAX)}
              place={{ project: slug, in: shown }}
              open={words !== ""}
              onRemove={writable === undefined ? undefined : remove}
            />
          )}
        </>
      )}
    </Loaded>
  );
  return (
    <Panel title="Files">
      <div class="fields">
        <Select
          label="In"
          value={shown}
          options={placeOptions(project)}
          onChange={(value) => changeParams({ in: value }, { replace: true })}
        />
        <TextField
          label="Path contains"
          defaultValue={words}
          onInput={(event) => find(event.currentTarget.value)}
        />
      </div>
      {environment !== undefined && refusal && <p class="muted small">{refusal}</p>}
      {writable === undefined ? (
        tree
      ) : (
        <UploadZone project={slug} environment={writable} onDone={files.reload}>
          {tree}
        </UploadZone>
      )}
    </Panel>
  );
}

interface NoFilesProps {
  readonly project: string;
  /** Absent where files cannot be written. */
  readonly environment: string | undefined;
  readonly words: string;
}

/** Shown without files: how to add some, on this page and in a terminal. */
function NoFiles({ project, environment, words }: NoFilesProps) {
  if (words !== "") return <Empty title="No path has this." />;
  if (environment === undefined) return <Empty title="No files yet." />;
  const at = environment === "production" ? "" : ` --environment ${quoted(environment)}`;
  const command = `tessera sync ./docs --project ${project}${at} --url ${SERVICE.baseUrl} --key "$TESSERA_API_KEY"`;
  return (
    <Empty title="No files yet.">
      <p>Drop files and folders here, or keep a folder of yours in step from a terminal.</p>
      <Code label="Command" text={command} />
    </Empty>
  );
}

/** The files of a place whose paths contain some words. */
async function* filesOf(project: string, place: Place, words: string, page: Listing) {
  const { limit, ...options } = page;
  const filter = words === "" ? undefined : JSON.stringify({ path: { $glob: `**${words}**` } });
  for (let cursor: string | undefined; ; ) {
    const { data, page_info } = await transport.send<Schemas["FilePage"]>({
      method: "GET",
      path: ["projects", project, "files"],
      query: { ...place, filter, limit, cursor },
      repeatable: true,
      ...options,
    });
    yield* data;
    if (page_info.next === null) return;
    cursor = cursorOf(page_info.next);
  }
}
