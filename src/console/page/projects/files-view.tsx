import { useEffect, useState } from "preact/hooks";
import { call, listAll, projectPath, SERVICE } from "../base/api.ts";
import { counted, quoted } from "../base/format.ts";
import { defaultPlace, parsePlace, placeOptions } from "../base/places.ts";
import { useResource } from "../base/resource.ts";
import { useRefusal } from "../base/rights.ts";
import { changeParams } from "../base/router.ts";
import { Code } from "../parts/code.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Select, TextField } from "../parts/form.tsx";
import { Panel } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { type FileSummary, treeOf } from "./file-tree.ts";
import { FileTree } from "./file-tree-view.tsx";
import type { ProjectProps } from "./project-props.ts";
import { UploadZone } from "./upload-zone.tsx";
import { useUploads } from "./uploads.ts";

const PAUSE_MS = 200;
/** Maximum files of the list. They are read in successive requests of a hundred files, which take a second or two. */
const FILES_MAX = 1_000;

/** The files of an environment or a release as a tree; in an environment they can be added and removed. */
export function FilesView({ project, params }: ProjectProps) {
  const { slug } = project;
  const place = params["in"] ?? defaultPlace(project);
  const { kind, name } = parsePlace(place) ?? { kind: "environment", name: "" };
  const words = params["q"] ?? "";
  const files = useResource(
    JSON.stringify([slug, place, words]),
    (signal) => listFiles(slug, { [kind]: name }, words, signal),
    { keep: true },
  );
  const uploads = useUploads(slug, name, files.reload);
  const [removed, setRemoved] = useState<FileSummary | undefined>(undefined);
  const remove = async ({ path }: FileSummary) => {
    const query = { environment: name };
    await call(projectPath(slug, "files", path), { method: "DELETE", query });
    files.reload();
  };
  const refusal = useRefusal({ permission: "files.write", project: slug, atLeast: "editor" });
  const isWritable = kind === "environment" && refusal === null;
  const tree = (
    <Loaded of={files}>
      {({ found, all }) => (
        <>
          <p class="muted small" role="status">
            {counted(found.length, "file")}
            {all ? "" : ", and there are more: find them by a part of their path"}
          </p>
          {found.length === 0 ? (
            <NoFiles project={slug} environment={isWritable ? name : undefined} words={words} />
          ) : (
            <FileTree
              key={`${place} ${words}`}
              folder={treeOf(found)}
              place={{ project: slug, in: place }}
              open={words !== ""}
              onRemove={isWritable ? setRemoved : undefined}
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
          value={place}
          options={placeOptions(project)}
          onChange={(value) => changeParams({ in: value }, { replace: true })}
        />
        <PathSearch words={words} />
      </div>
      {kind === "environment" && refusal && <p class="muted small">{refusal}</p>}
      {isWritable ? (
        <UploadZone
          environment={name}
          progress={uploads.progress}
          onFiles={uploads.upload}
          onDismiss={uploads.dismiss}
        >
          {tree}
        </UploadZone>
      ) : (
        tree
      )}
      {removed !== undefined && (
        <Confirm
          title={`Remove ${removed.path}`}
          yes="Remove"
          onConfirm={() => remove(removed)}
          onClose={() => setRemoved(undefined)}
        >
          It leaves {name}. Releases that hold it keep it.
        </Confirm>
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
  const service = SERVICE.href.replace(/\/$/, "");
  const command = `tessera sync ./docs --project ${project}${at} --url ${service} --key "$TESSERA_API_KEY"`;
  return (
    <Empty title="No files yet.">
      <p>Drop files and folders here, or keep a folder of yours in step from a terminal.</p>
      <Code language="bash" label="Command" text={command} />
    </Empty>
  );
}

function PathSearch({ words }: { words: string }) {
  const [text, setText] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => changeParams({ q: text.trim() }, { replace: true }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return <TextField label="Path contains" value={text} onInput={setText} />;
}

/** The files of a place whose paths contain some words, at most a thousand. */
async function listFiles(
  project: string,
  place: Readonly<Record<string, string>>,
  words: string,
  signal: AbortSignal,
): Promise<{ readonly found: readonly FileSummary[]; readonly all: boolean }> {
  const filter = words === "" ? undefined : JSON.stringify({ path: { $glob: `**${words}**` } });
  const query = { ...place, filter };
  const path = projectPath(project, "files");
  const found = await listAll<FileSummary>(path, { query, signal, most: FILES_MAX + 1 });
  return { found: found.slice(0, FILES_MAX), all: found.length <= FILES_MAX };
}
