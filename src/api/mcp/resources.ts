import {
  ErrorCode,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  McpError,
  type ReadResourceResult,
} from "@modelcontextprotocol/sdk/types.js";
import type { File, FilePage } from "../../content/files/schema.ts";
import type { ProjectPage } from "../../content/projects/schema.ts";
import { parseJson } from "../../domain/json/parse.ts";
import { onlyPage } from "../../domain/page-info.ts";
import type { ProblemBody } from "../../domain/problem/schema.ts";
import { textOf } from "../../http/load/large-answers.ts";
import type { CallOperation, Message } from "./call-operation.ts";
import { cursorOf } from "./file-tools.ts";
import {
  addressOf,
  FILE_URI_TEMPLATE,
  fileResource,
  mediaTypeOf,
  type RESOURCE_OPERATIONS,
} from "./resource-uris.ts";
import type { OperationCall } from "./tool.ts";

/** The code that the protocol has for a resource that is not there. */
const RESOURCE_NOT_FOUND = -32_002;
/** A code of the service's own, from those that the protocol leaves to servers. */
const PERMISSION_DENIED = -32_003;
const UNREADABLE = [RESOURCE_NOT_FOUND, PERMISSION_DENIED];
const CODES: Readonly<Record<number, number>> = { 403: PERMISSION_DENIED, 404: RESOURCE_NOT_FOUND };
const NO_FILES: Pick<FilePage, "data" | "page_info"> = {
  data: [],
  page_info: onlyPage(""),
};
/** Files per page of the list. */
const LIST_FILES = "100";

/** Where a list of all files goes on: in a project, whose place is a page of projects with one. */
interface Place {
  /** The cursor of the page of the project. Absent: the first project. */
  readonly project?: string;
  /** The cursor of the page of its files. Absent: its first files. */
  readonly files?: string;
}

const cursorAt = (place: Place): string => Buffer.from(JSON.stringify(place)).toString("base64url");

/** The place in a cursor. Throws an error of the protocol unless `cursorAt` can have made the cursor. */
function placeOf(cursor: string | undefined): Place {
  if (cursor === undefined) return {};
  try {
    const { project, files } = JSON.parse(Buffer.from(cursor, "base64url").toString()) as Place;
    if ([project, files].every((each) => each === undefined || typeof each === "string")) {
      return { ...(project ? { project } : {}), ...(files ? { files } : {}) };
    }
  } catch {
    // It is not JSON in base64url.
  }
  throw new McpError(ErrorCode.InvalidParams, "cursor: must be `nextCursor` of the page before");
}

/** The resources of assistants: the files of all projects that the caller can read. */
export class Resources {
  readonly templates: ListResourceTemplatesResult = {
    resourceTemplates: [
      {
        uriTemplate: FILE_URI_TEMPLATE,
        name: "file",
        title: "A file of a project",
        description:
          "The content of a file, by the id or slug of its project and its path; in an environment or a " +
          "release, or by default in the project's default environment.",
      },
    ],
  };

  constructor(private readonly callOperation: CallOperation) {}

  /** A page of the files in the default environments of all projects: a part of one project's files. */
  async list(cursor: string | undefined, message: Message): Promise<ListResourcesResult> {
    const place = placeOf(cursor);
    const query = { limit: "1", ...(place.project ? { cursor: place.project } : {}) };
    const projects: ProjectPage = await this.#call("listProjects", { params: {}, query }, message);
    const [project] = projects.data;
    if (project === undefined) return { resources: [] };
    const files = await this.#filesOf(project.slug, place.files, message);
    const [nextFiles, nextProject] = [files.page_info.next, projects.page_info.next].map(cursorOf);
    const address = { project: project.slug, path: "", scope: {} };
    const next =
      nextFiles != null
        ? cursorAt({ ...place, files: nextFiles })
        : nextProject && cursorAt({ project: nextProject });
    return {
      resources: files.data.map((file) => fileResource(address, file)),
      ...(next ? { nextCursor: next } : {}),
    };
  }

  /** The whole content of a file. Throws an error of the protocol if the caller can read no such file. */
  async read(uri: string, message: Message): Promise<ReadResourceResult> {
    const address = addressOf(uri);
    if (address === undefined) {
      throw new McpError(RESOURCE_NOT_FOUND, `uri: must be of the form ${FILE_URI_TEMPLATE}`);
    }
    const params = { project_reference: address.project, file_reference: address.path };
    const call = { params, query: address.scope };
    const { path, content }: File = await this.#call("getFile", call, message);
    return { contents: [{ uri, mimeType: mediaTypeOf(path), text: content ?? "" }] };
  }

  /** A page of the files of a project; empty if the project has no environment, or the caller cannot read its files. */
  async #filesOf(
    project: string,
    cursor: string | undefined,
    message: Message,
  ): Promise<typeof NO_FILES> {
    const query = { limit: LIST_FILES, ...(cursor ? { cursor } : {}) };
    const call = { params: { project_reference: project }, query };
    try {
      return await this.#call<FilePage>("listFiles", call, message);
    } catch (error) {
      if (error instanceof McpError && UNREADABLE.includes(error.code)) return NO_FILES;
      throw error;
    }
  }

  /** The answer of an operation. Throws its problem as an error of the protocol. */
  async #call<T>(
    operationId: (typeof RESOURCE_OPERATIONS)[number],
    call: Pick<OperationCall, "params" | "query">,
    message: Message,
  ): Promise<T> {
    const response = await this.callOperation({ operationId, ...call }, message);
    const text = await textOf(response);
    if (response.ok) return parseJson(text) as T;
    const { slug, detail, status } = JSON.parse(text) as ProblemBody;
    throw new McpError(CODES[status] ?? ErrorCode.InvalidParams, `${slug}: ${detail}`);
  }
}
