/** Starts a snapshot and reports that it did; the test then terminates this thread. */
import * as native from "../../native/index.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<{ project: string; folder: string }>) => {
  void native.snapshot(data.project, data.folder);
  self.postMessage("begun");
};
