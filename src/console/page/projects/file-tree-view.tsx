import { useState } from "preact/hooks";
import { bytes, number } from "../base/format.ts";
import { hrefOf, type Params } from "../base/router.ts";
import { IconButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import type { FileSummary, Folder } from "./file-tree.ts";

/** Maximum files of a tree that is shown unfolded. */
const OPEN_MAX = 40;

interface FileTreeProps {
  readonly folder: Folder;
  /** The environment or release from which an opened file is read. */
  readonly place: Params;
  readonly open: boolean;
  /** Absent where files cannot be removed. */
  readonly onRemove: ((file: FileSummary) => void) | undefined;
}

export function FileTree(props: FileTreeProps) {
  const { folder, place, onRemove } = props;
  const isLone = folder.folders.length === 1 && folder.files.length === 0;
  const open = props.open || isLone || folder.count <= OPEN_MAX;
  return (
    <ul class="tree">
      {folder.folders.map((each) => (
        <FolderItem key={each.path} {...props} folder={each} open={open} />
      ))}
      {folder.files.map((file) => (
        <li key={file.path} class="tree-file">
          <Icon name="file" />
          <a href={hrefOf(["search"], { ...place, file: file.path })}>
            {file.path.split("/").at(-1)}
          </a>
          <span class="muted small tree-title">{file.title}</span>
          <span class="muted small tree-size">{bytes(file.size)}</span>
          {onRemove && (
            <IconButton icon="trash" label={`Remove ${file.path}`} onClick={() => onRemove(file)} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** A folder. Its contents are rendered when it is opened. */
function FolderItem(props: FileTreeProps) {
  const { folder } = props;
  const [open, setOpen] = useState(props.open);
  return (
    <li>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name="chevron" />
          <Icon name="folder" />
          {folder.name}
          <span class="muted small">{number(folder.count)}</span>
        </summary>
        {open && <FileTree {...props} />}
      </details>
    </li>
  );
}
