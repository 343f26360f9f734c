import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { counted, number } from "../base/format.ts";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/form.tsx";
import { chosenFiles, droppedFiles, putAll, type Upload } from "./uploads.ts";

interface UploadZoneProps {
  readonly project: string;
  readonly environment: string;
  readonly onDone: () => void;
  readonly children: ComponentChildren;
}

interface Progress {
  readonly total: number;
  readonly done: number;
  readonly failures: readonly { readonly path: string; readonly reason: string }[];
}

const prefixOf = (folder: string): string => {
  const trimmed = folder.trim().replace(/^\/+|\/+$/g, "");
  return trimmed === "" ? "" : `${trimmed}/`;
};

/** Stores files and folders that the user drops anywhere on it, or chooses. */
export function UploadZone({ project, environment, onDone, children }: UploadZoneProps) {
  const folder = useRef("");
  const [progress, setProgress] = useState<Progress>();
  const [over, setOver] = useState(false);
  const take = async (chosen: readonly Upload[]) => {
    if (chosen.length === 0) return;
    const prefix = prefixOf(folder.current);
    const files = chosen.map(({ path, file }) => ({ path: prefix + path, file }));
    setProgress({ total: files.length, done: 0, failures: [] });
    await putAll(project, environment, files, (path, reason) =>
      setProgress((before) => {
        if (before === undefined) return before;
        const { total, done, failures } = before;
        const all = reason === undefined ? failures : [...failures, { path, reason }];
        return { total, done: done + 1, failures: all };
      }),
    );
    onDone();
  };
  const onDrop = async (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer) await take(await droppedFiles(event.dataTransfer));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same for the keyboard
    <div
      class={over ? "upload over" : "upload"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <div class="upload-bar">
        <TextField
          label="Into the folder"
          placeholder="docs"
          onInput={(event) => {
            folder.current = event.currentTarget.value;
          }}
        />
        <Chooser label="Upload files" input="Files to upload" onFiles={take} />
        <Chooser label="Upload a folder" input="Folder to upload" folder onFiles={take} />
        <span class="muted small">to {environment}</span>
      </div>
      {progress && <UploadProgress of={progress} onDismiss={() => setProgress(undefined)} />}
      {children}
    </div>
  );
}

interface ChooserProps {
  readonly label: string;
  /** Names the input, which only the button opens. */
  readonly input: string;
  /** True to choose a folder, with all files in it. */
  readonly folder?: boolean;
  readonly onFiles: (files: readonly Upload[]) => void;
}

/** Whether an input takes folders. The types of Preact lack the property. */
const ofFolders = (webkitdirectory: boolean): object => ({ webkitdirectory });

/** A button that opens the choice of files or a folder. */
function Chooser({ label, input: name, folder = false, onFiles }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon={folder ? "folder" : "upload"} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={name}
        {...ofFolders(folder)}
        onChange={(event) => {
          onFiles(chosenFiles(event.currentTarget.files ?? []));
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

function UploadProgress({ of, onDismiss }: { of: Progress; onDismiss: () => void }) {
  const { total, done, failures } = of;
  return (
    <div class="upload-progress">
      <p role="status">
        {done < total
          ? `Uploading: ${number(done)} of ${counted(total, "file")}`
          : `${number(done - failures.length)} of ${counted(total, "file")} stored`}
      </p>
      {failures.length > 0 && (
        <ul class="failures" role="alert">
          {failures.map(({ path, reason }) => (
            <li key={path}>
              <code>{path}</code> {reason}
            </li>
          ))}
        </ul>
      )}
      {done === total && (
        <Button kind="quiet" onClick={onDismiss}>
          Dismiss
        </Button>
      )}
    </div>
  );
}
