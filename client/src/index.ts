import { streamOf } from "./stream.ts";
import {
  type Call,
  type CallOptions,
  type Query,
  type TesseraOptions,
  Transport,
} from "./transport.ts";
import type { components } from "./types.ts";
import { encodeVector } from "./vector.ts";

export { textOf } from "./hit.ts";
export { type Problem, TesseraError } from "./problem.ts";
export type { CallOptions, TesseraOptions } from "./transport.ts";

/** The schemas of the API by name, such as `Schemas["Chunk"]`. */
export type Schemas = components["schemas"];

export interface SearchOptions extends CallOptions {
  readonly limit?: number;
  readonly threshold?: number;
  /** `exact` compares every chunk in full precision. */
  readonly effort?: "exact";
}

/** A question by text, by vector or by both. The number of elements of the vector is the dimension. */
export type Retrieval = Omit<
  Schemas["RetrieveRequest"],
  "vector" | "dimension" | "group_by" | "group_size"
> & {
  readonly vector?: ArrayLike<number>;
};

/** A question that is answered with files and the best hits of each, at most `group_size`. */
export type GroupedRetrieval = Retrieval & Pick<Schemas["RetrieveRequest"], "group_size">;

/** A page of hits, or of groups. */
export type Retrieved<Item> = Omit<Schemas["RetrieveResponse"], "data"> & { data: Item[] };

export interface PageOptions extends CallOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

/** Where files are read: the default environment of the project if neither is given. */
export interface FileScope {
  readonly environment?: string;
  /** A release, by name or id, instead of an environment. */
  readonly release?: string;
}

export interface FileListOptions extends PageOptions, FileScope {
  /** Only files whose path begins with this text. */
  readonly pathPrefix?: string;
}

export interface AuditOptions extends PageOptions {
  /** RFC 3339 date-times. */
  readonly from?: string;
  readonly to?: string;
}

export interface CompareOptions extends PageOptions, FileScope {
  readonly baseEnvironment?: string;
  /** A release, by name or id, instead of an environment. */
  readonly baseRelease?: string;
}

export interface ChangeFileOptions extends CallOptions {
  /** The environment whose working set changes; that of the project by default. */
  readonly environment?: string;
  /** The `version_id` that the file must still have. */
  readonly ifMatch?: string;
}

export interface PutFileOptions extends ChangeFileOptions {
  /** Default: `text/markdown`. */
  readonly type?: "text/markdown" | "text/plain";
}

export interface ImportOptions extends CallOptions {
  /** True to keep nothing if a line is refused. */
  readonly strict?: boolean;
  readonly encoding?: "gzip" | "zstd";
}

/** NDJSON as a whole, or in pieces of any size as they are made. */
export type ImportBody =
  | string
  | Uint8Array<ArrayBuffer>
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<string | Uint8Array>;

export interface DeliveryOptions extends CallOptions {
  /** The webhook's secret; without one, the client's credential counts. */
  readonly secret?: string;
  /** Default: a new random key, which is the same in all retries of this call. */
  readonly idempotencyKey?: string;
}

function isIterable(body: ImportBody): body is AsyncIterable<string | Uint8Array> {
  const isStream = body instanceof ReadableStream;
  return !isStream && typeof body === "object" && Symbol.asyncIterator in body;
}

/** One method for each operation of the API, named by its operation id, and iterators of lists. */
export class Tessera {
  readonly #transport: Transport;

  constructor(options: TesseraOptions) {
    this.#transport = new Transport(options);
  }

  /** Names the last change of this client, for `minChange` of reads that have to see it; undefined before the first. */
  get change(): string | undefined {
    return this.#transport.change;
  }

  /** Searches an environment. The number of elements of the vector is the dimension. */
  searchEnvironment(
    project: string,
    environment: string,
    vector: ArrayLike<number>,
    options: SearchOptions = {},
  ): Promise<Schemas["SearchResponse"]> {
    return this.#search(["projects", project, "environments", environment], vector, options);
  }

  searchRelease(
    project: string,
    release: string,
    vector: ArrayLike<number>,
    options: SearchOptions = {},
  ): Promise<Schemas["SearchResponse"]> {
    return this.#search(["projects", project, "releases", release], vector, options);
  }

  /** Finds the best chunks by text, by vector or by both. The project's embedder embeds the text. */
  retrieve(
    project: string,
    question: Retrieval,
    options: CallOptions = {},
  ): Promise<Retrieved<Schemas["RetrieveHit"]>> {
    return this.#retrieve(project, question, options);
  }

  /** Finds the best files, each with its best chunks. `limit` counts files. */
  retrieveFiles(
    project: string,
    question: GroupedRetrieval,
    options: CallOptions = {},
  ): Promise<Retrieved<Schemas["RetrieveGroup"]>> {
    return this.#retrieve(project, { ...question, group_by: "file" }, options);
  }

  #retrieve<Item>(
    project: string,
    { vector, ...question }: Retrieval & { readonly group_by?: "file" },
    options: CallOptions,
  ): Promise<Retrieved<Item>> {
    const encoded =
      vector === undefined ? {} : { vector: encodeVector(vector), dimension: vector.length };
    const path = ["projects", project, "retrieve"];
    const json = { ...question, ...encoded };
    return this.#transport.send({ method: "POST", path, json, repeatable: true, ...options });
  }

  /**
   * All hits of a retrieval, page by page as they are needed. Throws NextPageUnavailable after those that the
   * service could give.
   */
  async *allRetrieved(
    project: string,
    question: Retrieval,
    options: CallOptions = {},
  ): AsyncGenerator<Schemas["RetrieveHit"], void, undefined> {
    yield* keptPages((asked, call) => this.retrieve(project, asked, call), question, options);
  }

  /** All files of a retrieval, page by page as they are needed. Throws as `allRetrieved` does. */
  async *allRetrievedFiles(
    project: string,
    question: GroupedRetrieval,
    options: CallOptions = {},
  ): AsyncGenerator<Schemas["RetrieveGroup"], void, undefined> {
    yield* keptPages((asked, call) => this.retrieveFiles(project, asked, call), question, options);
  }

  /** The fields that filters can compare in an environment or a release. */
  listFields(
    project: string,
    { environment, release, ...options }: FileScope & CallOptions = {},
  ): Promise<Schemas["Fields"]> {
    return this.#get(["projects", project, "fields"], options, { environment, release });
  }

  lookUpKnowledge(
    project: string,
    json: Schemas["LookupRequest"] = {},
    options: CallOptions = {},
  ): Promise<Schemas["LookupPage"]> {
    const path = ["projects", project, "knowledge", "lookup"];
    return this.#transport.send({ method: "POST", path, json, repeatable: true, ...options });
  }

  /**
   * All items of a lookup, page by page as they are needed. Throws NextPageUnavailable after those that the
   * service could give.
   */
  async *allKnowledge(
    project: string,
    question: Schemas["LookupRequest"] = {},
    options: CallOptions = {},
  ): AsyncGenerator<Schemas["LookupItem"], void, undefined> {
    yield* keptPages(
      (asked, call) => this.lookUpKnowledge(project, asked, call),
      question,
      options,
    );
  }

  listProjects(options: PageOptions = {}): Promise<Schemas["ProjectPage"]> {
    return this.#page(["projects"], options);
  }

  allProjects(options: PageOptions = {}): AsyncGenerator<Schemas["Project"], void, undefined> {
    return items((page) => this.listProjects(page), options);
  }

  listChunks(project: string, options: PageOptions = {}): Promise<Schemas["ChunkPage"]> {
    return this.#page(["projects", project, "chunks"], options);
  }

  allChunks(
    project: string,
    options: PageOptions = {},
  ): AsyncGenerator<Schemas["Chunk"], void, undefined> {
    return items((page) => this.listChunks(project, page), options);
  }

  listFiles(project: string, options: FileListOptions = {}): Promise<Schemas["FilePage"]> {
    const { environment, release, pathPrefix, ...page } = options;
    const query = { environment, release, path_prefix: pathPrefix };
    return this.#page(["projects", project, "files"], page, query);
  }

  allFiles(
    project: string,
    options: FileListOptions = {},
  ): AsyncGenerator<Schemas["FileSummary"], void, undefined> {
    return items((page) => this.listFiles(project, page), options);
  }

  /** What differs between a base and another environment or release. */
  compareScopes(project: string, options: CompareOptions = {}): Promise<Schemas["Comparison"]> {
    const { baseEnvironment, baseRelease, environment, release, ...page } = options;
    const base = { base_environment: baseEnvironment, base_release: baseRelease };
    return this.#page(["projects", project, "compare"], page, { ...base, environment, release });
  }

  allChanges(
    project: string,
    options: CompareOptions = {},
  ): AsyncGenerator<Schemas["FileChange"], void, undefined> {
    return items((page) => this.compareScopes(project, page), options);
  }

  /** A file by its path or id. */
  getFile(
    project: string,
    file: string,
    { environment, release, ...options }: FileScope & CallOptions = {},
  ): Promise<Schemas["File"]> {
    return this.#get(["projects", project, "files", file], options, { environment, release });
  }

  /** Writes a file of a working set. Throws a 412 unless `ifMatch` is absent or its version. */
  putFile(
    project: string,
    path: string,
    content: string | Uint8Array<ArrayBuffer>,
    { environment, ifMatch, type = "text/markdown", ...options }: PutFileOptions = {},
  ): Promise<Schemas["WrittenFile"]> {
    const headers = { "content-type": type, ...ifMatchOf(ifMatch) };
    const call = { method: "PUT", path: ["projects", project, "files", path] } as const;
    // A lost answer cannot be asked for again under a condition that its success has made untrue.
    const repeatable = ifMatch === undefined;
    const query = { environment };
    return this.#transport.send({ ...call, query, body: content, headers, repeatable, ...options });
  }

  /** Takes a file out of a working set. */
  deleteFile(
    project: string,
    path: string,
    { environment, ifMatch, ...options }: ChangeFileOptions = {},
  ): Promise<void> {
    const call = { method: "DELETE", path: ["projects", project, "files", path] } as const;
    const query = { environment };
    const headers = ifMatchOf(ifMatch);
    return this.#transport.send({ ...call, query, headers, repeatable: false, ...options });
  }

  /** The operations on files under short names. */
  readonly files = {
    list: this.listFiles.bind(this),
    all: this.allFiles.bind(this),
    get: this.getFile.bind(this),
    put: this.putFile.bind(this),
    delete: this.deleteFile.bind(this),
  };

  getChunkEmbedding(
    project: string,
    id: string,
    options: CallOptions = {},
  ): Promise<Schemas["ChunkEmbedding"]> {
    return this.#get(["projects", project, "chunks", id, "embedding"], options);
  }

  getIndexState(project: string, options: CallOptions = {}): Promise<Schemas["IndexState"]> {
    return this.#get(["projects", project, "index-state"], options);
  }

  /** What a project has been asked in words, by day. */
  getQuestions(
    project: string,
    query: { readonly days?: number } = {},
    options: CallOptions = {},
  ): Promise<Schemas["QuestionReport"]> {
    return this.#get(["projects", project, "questions"], options, query);
  }

  getQuotas(project: string, options: CallOptions = {}): Promise<Schemas["Quotas"]> {
    return this.#get(["projects", project, "quotas"], options);
  }

  getProject(project: string, options: CallOptions = {}): Promise<Schemas["Project"]> {
    return this.#get(["projects", project], options);
  }

  createProject(
    json: Schemas["NewProject"],
    options: CallOptions = {},
  ): Promise<Schemas["Project"]> {
    return this.#change(["projects"], json, options);
  }

  updateProject(
    project: string,
    json: Schemas["ProjectChange"],
    options: CallOptions = {},
  ): Promise<Schemas["Project"]> {
    const call = { method: "PATCH", path: ["projects", project], json } as const;
    return this.#transport.send({ ...call, repeatable: true, ...options });
  }

  /** Deletes a project with everything in it, for good. `confirm` is its slug. */
  deleteProject(project: string, confirm: string, options: CallOptions = {}): Promise<void> {
    const call = { method: "DELETE", path: ["projects", project], query: { confirm } } as const;
    return this.#transport.send({ ...call, repeatable: false, ...options });
  }

  listMembers(project: string, options: PageOptions = {}): Promise<Schemas["MemberPage"]> {
    return this.#page(["projects", project, "members"], options);
  }

  allMembers(
    project: string,
    options: PageOptions = {},
  ): AsyncGenerator<Schemas["ProjectMember"], void, undefined> {
    return items((page) => this.listMembers(project, page), options);
  }

  /** Invitations to projects, which `putMember` accepts and `deleteMember` declines. */
  listInvitations(options: CallOptions = {}): Promise<Schemas["InvitationList"]> {
    return this.#transport.send({
      method: "GET",
      path: ["invitations"],
      repeatable: true,
      ...options,
    });
  }

  /** Lists the embedders that projects may have. */
  listEmbedders(options: CallOptions = {}): Promise<Schemas["EmbedderList"]> {
    return this.#transport.send({
      method: "GET",
      path: ["embedders"],
      repeatable: true,
      ...options,
    });
  }

  /** Invites a user by id or email address, accepts an invitation, or changes the role of a member. */
  putMember(
    project: string,
    user: string,
    json: Schemas["MemberChange"],
    options: CallOptions = {},
  ): Promise<Schemas["MemberState"]> {
    const path = ["projects", project, "members", user];
    return this.#transport.send({ method: "PUT", path, json, repeatable: true, ...options });
  }

  deleteMember(project: string, user: string, options: CallOptions = {}): Promise<void> {
    const path = ["projects", project, "members", user];
    return this.#transport.send({ method: "DELETE", path, repeatable: false, ...options });
  }

  /** The audit log, newest first, from a time on and before another one. */
  listAuditEntries(
    project: string,
    { from, to, ...page }: AuditOptions = {},
  ): Promise<Schemas["AuditPage"]> {
    return this.#page(["projects", project, "audit"], page, { from, to });
  }

  allAuditEntries(
    project: string,
    options: AuditOptions = {},
  ): AsyncGenerator<Schemas["AuditEntry"], void, undefined> {
    return items((page) => this.listAuditEntries(project, page), options);
  }

  listEnvironments(
    project: string,
    options: PageOptions = {},
  ): Promise<Schemas["EnvironmentPage"]> {
    return this.#page(["projects", project, "environments"], options);
  }

  allEnvironments(
    project: string,
    options: PageOptions = {},
  ): AsyncGenerator<Schemas["EnvironmentItem"], void, undefined> {
    return items((page) => this.listEnvironments(project, page), options);
  }

  listReleases(project: string, options: PageOptions = {}): Promise<Schemas["ReleasePage"]> {
    return this.#page(["projects", project, "releases"], options);
  }

  allReleases(
    project: string,
    options: PageOptions = {},
  ): AsyncGenerator<Schemas["ReleaseItem"], void, undefined> {
    return items((page) => this.listReleases(project, page), options);
  }

  /** Freezes the working set of an environment as a release. */
  createRelease(
    project: string,
    json: Schemas["NewRelease"],
    options: CallOptions = {},
  ): Promise<Schemas["Release"]> {
    return this.#change(["projects", project, "releases"], json, options);
  }

  /** Deletes a release by name or id, unless an environment serves it. */
  deleteRelease(project: string, version: string, options: CallOptions = {}): Promise<void> {
    const path = ["projects", project, "releases", version];
    return this.#transport.send({ method: "DELETE", path, repeatable: false, ...options });
  }

  /** Creates an environment, empty or with the files of another one or of a release. */
  createEnvironment(
    project: string,
    json: Schemas["NewEnvironment"],
    options: CallOptions = {},
  ): Promise<Schemas["Environment"]> {
    return this.#change(["projects", project, "environments"], json, options);
  }

  deleteEnvironment(project: string, name: string, options: CallOptions = {}): Promise<void> {
    const path = ["projects", project, "environments", name];
    return this.#transport.send({ method: "DELETE", path, repeatable: false, ...options });
  }

  /** Lets an environment serve a release, or with null its working set. */
  updateEnvironment(
    project: string,
    environment: string,
    json: Schemas["EnvironmentChange"],
    options: CallOptions = {},
  ): Promise<Schemas["Environment"]> {
    const path = ["projects", project, "environments", environment];
    return this.#transport.send({ method: "PATCH", path, json, repeatable: true, ...options });
  }

  /** Imports NDJSON. A stream is sent as it is read, and cannot be retried. Nothing bounds its time by default. */
  importRecords(
    project: string,
    body: ImportBody,
    { strict, encoding, ...options }: ImportOptions = {},
  ): Promise<Schemas["ImportResult"]> {
    const headers = {
      "content-type": "application/x-ndjson",
      ...(encoding === undefined ? {} : { "content-encoding": encoding }),
    };
    const path = ["projects", project, "import"];
    const query = { strict };
    const content = isIterable(body) ? streamOf(body) : body;
    const call = { method: "POST", path, query, headers, repeatable: true } as const;
    return this.#transport.send({ ...call, body: content, timeoutMs: 0, ...options });
  }

  getBranchEligibility(
    project: string,
    branch: string,
    options: CallOptions = {},
  ): Promise<Schemas["Eligibility"]> {
    return this.#get(["projects", project, "branches", branch, "eligibility"], options);
  }

  createApiKey(
    json: Schemas["NewApiKey"],
    options: CallOptions = {},
  ): Promise<Schemas["CreatedApiKey"]> {
    return this.#change(["api-keys"], json, options);
  }

  listApiKeys(options: PageOptions = {}): Promise<Schemas["ApiKeyPage"]> {
    return this.#page(["api-keys"], options);
  }

  allApiKeys(options: PageOptions = {}): AsyncGenerator<Schemas["ApiKey"], void, undefined> {
    return items((page) => this.listApiKeys(page), options);
  }

  getApiKey(id: string, options: CallOptions = {}): Promise<Schemas["ApiKey"]> {
    return this.#get(["api-keys", id], options);
  }

  revokeApiKey(id: string, options: CallOptions = {}): Promise<void> {
    const path = ["api-keys", id];
    return this.#transport.send({ method: "DELETE", path, repeatable: true, ...options });
  }

  getConversation(id: string, options: CallOptions = {}): Promise<Schemas["Conversation"]> {
    return this.#get(["conversations", id], options);
  }

  getConversationTree(id: string, options: CallOptions = {}): Promise<Schemas["MessageTree"]> {
    return this.#get(["conversations", id, "tree"], options);
  }

  getMessage(
    conversation: string,
    id: string,
    options: CallOptions = {},
  ): Promise<Schemas["Message"]> {
    return this.#get(["conversations", conversation, "messages", id], options);
  }

  /** Answers an input request. The same values again are the same answer, so it can be retried. */
  answerInputRequest(
    conversation: string,
    id: string,
    values: Record<string, unknown>,
    options: CallOptions = {},
  ): Promise<Schemas["InputResponseResult"]> {
    const path = ["conversations", conversation, "input-requests", id, "responses"];
    const json = { values };
    return this.#transport.send({ method: "POST", path, json, repeatable: true, ...options });
  }

  deliverWebhook(
    id: string,
    payload: unknown,
    { secret, idempotencyKey = crypto.randomUUID(), ...options }: DeliveryOptions = {},
  ): Promise<Schemas["WebhookEventResult"]> {
    const headers = {
      "idempotency-key": idempotencyKey,
      ...(secret === undefined ? {} : { "x-service-webhook-secret": secret }),
    };
    const call = { method: "POST", path: ["webhooks", id], json: payload, headers } as const;
    return this.#transport.send({ ...call, repeatable: true, ...options });
  }

  listWebhooks(project: string, options: PageOptions = {}): Promise<Schemas["WebhookPage"]> {
    return this.#page(["projects", project, "webhooks"], options);
  }

  allWebhooks(
    project: string,
    options: PageOptions = {},
  ): AsyncGenerator<Schemas["Webhook"], void, undefined> {
    return items((page) => this.listWebhooks(project, page), options);
  }

  /** Creates a webhook. The answer has the secret that the service makes, unless one is given. */
  createWebhook(
    project: string,
    json: Schemas["NewWebhook"],
    options: CallOptions = {},
  ): Promise<Schemas["CreatedWebhook"]> {
    return this.#change(["projects", project, "webhooks"], json, options);
  }

  deleteWebhook(project: string, id: string, options: CallOptions = {}): Promise<void> {
    const path = ["projects", project, "webhooks", id];
    return this.#transport.send({ method: "DELETE", path, repeatable: false, ...options });
  }

  listWebhookEvents(
    project: string,
    options: PageOptions = {},
  ): Promise<Schemas["WebhookEventPage"]> {
    return this.#page(["projects", project, "webhook-events"], options);
  }

  getWebhookEvent(
    project: string,
    id: string,
    options: CallOptions = {},
  ): Promise<Schemas["WebhookEvent"]> {
    return this.#get(["projects", project, "webhook-events", id], options);
  }

  allWebhookEvents(
    project: string,
    options: PageOptions = {},
  ): AsyncGenerator<Schemas["ListedWebhookEvent"], void, undefined> {
    return items((page) => this.listWebhookEvents(project, page), options);
  }

  upgradeSubscription(
    json: Schemas["UpgradeRequest"],
    options: CallOptions = {},
  ): Promise<Schemas["UpgradeResult"]> {
    return this.#change(["account", "subscription", "upgrade"], json, options);
  }

  getErrorType(slug: string, options: CallOptions = {}): Promise<Schemas["ErrorType"]> {
    return this.#get(["errors", slug], options);
  }

  /** One message of the Model Context Protocol; undefined for a notification. */
  callMcp(
    json: Schemas["McpMessage"],
    options: CallOptions = {},
  ): Promise<Schemas["McpAnswer"] | undefined> {
    return this.#transport.send({
      method: "POST",
      path: ["mcp"],
      json,
      repeatable: true,
      ...options,
    });
  }

  #get<T>(path: readonly string[], options: CallOptions, query: Query = {}): Promise<T> {
    return this.#transport.send({ method: "GET", path, query, repeatable: true, ...options });
  }

  #change<T>(path: readonly string[], json: unknown, options: CallOptions): Promise<T> {
    return this.#transport.send({ method: "POST", path, json, repeatable: false, ...options });
  }

  #page<T>(
    path: readonly string[],
    { limit, cursor, ...options }: PageOptions,
    query: Query = {},
  ): Promise<T> {
    return this.#get(path, options, { ...query, limit, cursor });
  }

  #search(
    scope: readonly string[],
    vector: ArrayLike<number>,
    { limit, threshold, effort, ...options }: SearchOptions,
  ): Promise<Schemas["SearchResponse"]> {
    const json = { vector: encodeVector(vector), dimension: vector.length, limit, threshold };
    const path = [...scope, "search"];
    const call = { method: "POST", path, query: { effort }, json, repeatable: true } as const;
    return this.#transport.send({ ...call, ...options });
  }
}

/** The entity tag of a version, as a condition. */
function ifMatchOf(versionId: string | undefined): Record<string, string> {
  return versionId === undefined ? {} : { "if-match": `"${versionId}"` };
}

interface Page<T> {
  readonly data: readonly T[];
  readonly page_info: { readonly next: string | null };
}

/** More was found than was listed, but the service has no cursor for it at present. Ask again later. */
export class NextPageUnavailable extends Error {
  override name = "NextPageUnavailable";
}

/** The items of all pages of an answer whose cursors the service keeps for a while. */
async function* keptPages<T, Question extends object>(
  read: (asked: Question | { cursor: string }, options: CallOptions) => Promise<Page<T>>,
  question: Question,
  options: CallOptions,
): AsyncGenerator<T, void, undefined> {
  let lacksCursor = false;
  const seen = (headers: Headers) => {
    lacksCursor = headers.has("x-next-page");
  };
  const listening: CallOptions & Pick<Call, "seen"> = { ...options, seen };
  for (let asked: Question | { cursor: string } = question; ; ) {
    const page = await read(asked, listening);
    yield* page.data;
    if (lacksCursor) throw new NextPageUnavailable("the next page is unavailable at present");
    if (page.page_info.next === null) return;
    asked = { cursor: page.page_info.next };
  }
}

/** The items of all pages of a list. */
async function* items<T, O extends PageOptions>(
  read: (options: O) => Promise<Page<T>>,
  options: O,
): AsyncGenerator<T, void, undefined> {
  for (let page = await read(options); ; ) {
    yield* page.data;
    if (page.page_info.next === null) return;
    const next = new URLSearchParams(page.page_info.next.split("?")[1]);
    page = await read({ ...options, cursor: next.get("cursor") ?? "" });
  }
}
