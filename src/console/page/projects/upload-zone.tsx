import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { counted, number } from "../base/format.ts";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/form.tsx";
import { Bar } from "../parts/page.tsx";
import { chosenFiles, droppedFiles, type Progress, type Upload } from "./uploads.ts";

interface UploadZoneProps {
  readonly environment: string;
  readonly progress: Progress | undefined;
  readonly onFiles: (files: readonly Upload[]) => void;
  readonly onDismiss: () => void;
  readonly children: ComponentChildren;
}

const prefixOf = (folder: string): string => {
  const trimmed = folder.trim().replace(/^\/+|\/+$/g, "");
  return trimmed === "" ? "" : `${trimmed}/`;
};

/** Accepts files and folders that the user drops anywhere on it, or chooses. */
export function UploadZone(props: UploadZoneProps) {
  const { environment, progress, onFiles, onDismiss, children } = props;
  const [folder, setFolder] = useState("");
  const [over, setOver] = useState(false);
  const take = (files: readonly Upload[]) =>
    onFiles(files.map(({ path, file }) => ({ path: prefixOf(folder) + path, file })));
  const onDrop = async (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer) take(await droppedFiles(event.dataTransfer));
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
        <TextField label="Into the folder" placeholder="docs" value={folder} onInput={setFolder} />
        <Chooser label="Upload files" input="Files to upload" onFiles={take} />
        <Chooser label="Upload a folder" input="Folder to upload" folder onFiles={take} />
        <span class="muted small">to {environment}</span>
      </div>
      {progress !== undefined && <UploadProgress of={progress} onDismiss={onDismiss} />}
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

/** A button that opens the choice of files or a folder. */
function Chooser({ label, input: name, folder = false, onFiles }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.toggleAttribute("webkitdirectory", folder);
  }, [folder]);
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
  const stored = done - failures.length;
  return (
    <div class="upload-progress">
      <p role="status">
        {done < total
          ? `Uploading: ${number(done)} of ${counted(total, "file")}`
          : `${number(stored)} of ${counted(total, "file")} stored`}
      </p>
      <Bar label="Upload" value={done} max={total} />
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
