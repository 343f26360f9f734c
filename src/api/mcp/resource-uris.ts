import type { Resource, ResourceLink } from "@modelcontextprotocol/sdk/types.js";
import type { NamedFile, ToolArguments } from "./tool.ts";

/** The file that a URI names, and the environment or the release that it is read in. */
interface FileAddress {
  readonly project: string;
  readonly path: string;
  readonly scope: Readonly<Record<string, string>>;
}

/** The parameters of a URI that select the version of a file. */
const SCOPES = ["environment", "release"] as const;
const MARKDOWN = /\.(?:md|mdx|markdown)$/i;

/** The operations that resources are made of. */
export const RESOURCE_OPERATIONS = ["listProjects", "listFiles", "getFile"] as const;

/** The URI template of all files, as RFC 6570 writes it. */
export const FILE_URI_TEMPLATE = "tessera://{project}/{+path}{?environment,release}";

export const mediaTypeOf = (path: string): string =>
  MARKDOWN.test(path) ? "text/markdown" : "text/plain";

/** The URI of a file: `tessera://<project>/<path>`, with the environment or the release if one is named. */
function fileUri({ project, path, scope }: FileAddress): string {
  const parts = path.toWellFormed().split("/").map(encodeURIComponent).join("/");
  const query = new URLSearchParams(scope).toString();
  const suffix = query === "" ? "" : `?${query}`;
  return `tessera://${encodeURIComponent(project.toWellFormed())}/${parts}${suffix}`;
}

/** The address in a URI; undefined if the URI does not name a file. */
export function addressOf(uri: string): FileAddress | undefined {
  const [, project, path, query] =
    /^tessera:\/\/([^/?#]+)\/([^?#]+)(?:\?([^#]*))?$/.exec(uri) ?? [];
  if (project === undefined || path === undefined) return undefined;
  const given = new URLSearchParams(query);
  const scope = SCOPES.flatMap((name) => {
    const value = given.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  try {
    const [decodedProject, decodedPath] = [decodeURIComponent(project), decodeURIComponent(path)];
    return { project: decodedProject, path: decodedPath, scope: Object.fromEntries(scope) };
  } catch {
    // A percent sign without two digits, or bytes that are not UTF-8.
    return undefined;
  }
}

/** A file as clients list it. */
export function fileResource(address: FileAddress, { path, title }: NamedFile): Resource {
  return {
    uri: fileUri({ ...address, path }),
    name: path,
    ...(title ? { title } : {}),
    mimeType: mediaTypeOf(path),
  };
}

/** The environment or the release that the arguments of a tool name; the release if they name both. */
function scopeOf(args: ToolArguments): Record<string, string> {
  const target = { ...args, ...(args.lookup_target as object | undefined) } as ToolArguments;
  const named = SCOPES.filter((name) => typeof target[name] === "string");
  return Object.fromEntries(named.map((name) => [name, target[name] as string]));
}

/** Links to the files that a tool has found, each once, in the order of the answer. */
export function fileLinks(args: ToolArguments, files: readonly NamedFile[]): ResourceLink[] {
  const address = { project: String(args.project_reference), path: "", scope: scopeOf(args) };
  const links = files.map((file) => fileResource(address, file));
  const byUri = new Map(links.map((link) => [link.uri, link]));
  return [...byUri.values()].map((link) => ({ type: "resource_link", ...link }));
}
