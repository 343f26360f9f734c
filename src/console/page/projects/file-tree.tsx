import { useState } from "preact/hooks";
import { bytes, number } from "../base/format.ts";
import { hrefOf, type Params } from "../base/router.ts";
import type { Schemas } from "../base/service.ts";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";

/** Maximum files of a tree that is shown unfolded. */
const OPEN_MAX = 40;

interface FileTreeProps {
  /** The path of the folder, which ends with a slash; empty for the root. */
  readonly path: string;
  /** The files in the folder and its subfolders. */
  readonly files: readonly Schemas["FileSummary"][];
  /** The environment or release from which an opened file is read. */
  readonly place: Params;
  readonly open: boolean;
  /** Absent where files cannot be removed. */
  readonly onRemove: ((path: string) => Promise<void>) | undefined;
}

/** The contents of a folder. Folders precede files; both keep their order. */
export function FileTree(props: FileTreeProps) {
  const { path, files, place, onRemove } = props;
  const { "": own = [], ...folders } = Object.groupBy(files, (file) =>
    file.path.slice(0, file.path.indexOf("/", path.length) + 1),
  );
  const isLone = Object.keys(folders).length === 1 && own.length === 0;
  const open = props.open || isLone || files.length <= OPEN_MAX;
  return (
    <ul class="tree">
      {Object.entries(folders).map(([folder, members = []]) => (
        <FolderItem key={folder} {...props} path={folder} files={members} open={open} />
      ))}
      {own.map((file) => (
        <li key={file.path} class="tree-file">
          <Icon name="file" />
          <a href={hrefOf(["search"], { ...place, file: file.path })}>
            {file.path.slice(path.length)}
          </a>
          <span class="muted small tree-title">{file.title}</span>
          <span class="muted small tree-size">{bytes(file.size)}</span>
          {onRemove && (
            <ConfirmButton
              icon="trash"
              label={`Remove ${file.path}`}
              yes="Remove"
              onConfirm={() => onRemove(file.path)}
            >
              It leaves this environment. Releases that hold it keep it.
            </ConfirmButton>
          )}
        </li>
      ))}
    </ul>
  );
}

/** A folder. Its contents are rendered when it is opened. */
function FolderItem(props: FileTreeProps) {
  const { path, files } = props;
  const [open, setOpen] = useState(props.open);
  return (
    <li>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name="chevron" />
          <Icon name="folder" />
          {path.split("/").at(-2)}
          <span class="muted small">{number(files.length)}</span>
        </summary>
        {open && <FileTree {...props} />}
      </details>
    </li>
  );
}
