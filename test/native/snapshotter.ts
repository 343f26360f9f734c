/** Begins a snapshot and says so; whoever asked for it ends this thread then. */
import * as native from "../../native/index.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<{ project: string; folder: string }>) => {
  void native.snapshotLater(data.project, data.folder, new Uint8Array());
  self.postMessage("begun");
};
