import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Reader } from "./reader.ts";

/** A bucket behind the S3 protocol, and how it is reached. */
export interface BucketConfig {
  readonly bucket: string;
  /** What all keys begin with: empty, or with a slash at its end. */
  readonly prefix: string;
  /** By default that of AWS. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

/** Where nodes share copies of their snapshots. */
export type SnapshotCopies = { readonly folder: string } | BucketConfig;

const S3_REGION_DEFAULT = "us-east-1";
const FORMS = "file:///folder or s3://bucket/prefix";

/** The first of the variables that is set. */
function firstOf(reader: Reader, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = reader.text(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

function readEndpoint(reader: Reader): string | undefined {
  const names = ["S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];
  const name = names.find((each) => reader.text(each) !== undefined);
  return name === undefined ? undefined : reader.url(name, ["http", "https"])?.replace(/\/+$/, "");
}

function readBucket(reader: Reader, url: URL): BucketConfig | undefined {
  const accessKeyId = firstOf(reader, "S3_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID");
  const secretAccessKey = firstOf(reader, "S3_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY");
  const endpoint = readEndpoint(reader);
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    reader.faults.push(
      "SNAPSHOT_URL with s3:// needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    );
    return undefined;
  }
  const path = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, "");
  return {
    ...{ bucket: url.hostname, prefix: path === "" ? "" : `${path}/`, endpoint },
    region: firstOf(reader, "S3_REGION", "AWS_REGION", "AWS_DEFAULT_REGION") ?? S3_REGION_DEFAULT,
    ...{ accessKeyId, secretAccessKey },
    sessionToken: firstOf(reader, "S3_SESSION_TOKEN", "AWS_SESSION_TOKEN"),
  };
}

/** Undefined when snapshots stay on their node. A fault never repeats the value. */
export function readSnapshotCopies(reader: Reader): SnapshotCopies | undefined {
  const text = reader.text("SNAPSHOT_URL");
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "s3:" && url.hostname !== "" && url.username === "") {
    return readBucket(reader, url);
  }
  if (url?.protocol === "file:" && url.hostname === "" && isAbsolute(url.pathname)) {
    return { folder: resolve(fileURLToPath(url)) };
  }
  reader.faults.push(`SNAPSHOT_URL must be ${FORMS}`);
  return undefined;
}
