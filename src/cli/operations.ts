import type { Command } from "commander";
import { apiKeyOperations } from "../api/api-keys.ts";
import { deleteFileOperation } from "../api/files.ts";
import { memberOperations } from "../api/members.ts";
import { projectOperations } from "../api/projects.ts";
import { OPERATOR } from "../auth/principal.ts";
import type { Sql } from "../db/client.ts";
import type { Slug } from "../domain/problem/catalogue.ts";
import { Problem } from "../domain/problem/problem.ts";
import type { ProjectEmbedders } from "../embed/embedders/project-embedders.ts";
import { openCursorSigner } from "../http/cursor.ts";
import type { Operation } from "../http/operation.ts";
import { validatorsOf } from "../http/pipeline.ts";
import { type Flags, newCommand } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { findProject, type Project, withDatabase } from "./database.ts";
import type { Io } from "./io.ts";
import { type Column, printList } from "./output.ts";

/** The parameters of a call, and its body as a client sends it. */
interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Messages in place of those of problems, by their slugs, because a command knows the names that it was given. */
export type Words = Partial<Record<Slug, string>>;

/** Operations use only path and query of their URL. */
const ORIGIN = "http://localhost";

/** The operations of the API that commands call in this process. */
export class Operations {
  private constructor(private readonly operations: readonly Operation[]) {}

  /** @param embedders which projects may have */
  static async open(sql: Sql, embedders: ProjectEmbedders = new Map()): Promise<Operations> {
    const services = { sql, cursors: await openCursorSigner(sql), embedders };
    return new Operations([
      ...projectOperations(services),
      ...memberOperations(services),
      ...apiKeyOperations(services),
      deleteFileOperation(sql),
    ]);
  }

  /** Calls an operation as the operator, with the checks of a request. Returns its answer. Throws problems. */
  async call(id: string, { params, query = {}, body }: Call): Promise<unknown> {
    const operation = this.operations.find((each) => each.id === id) as Operation;
    const validate = validatorsOf(operation);
    const common = {
      request: new Request(`${ORIGIN}${operation.path}?${new URLSearchParams(query)}`),
      params: validate.params?.(params),
      query: validate.query?.(query) ?? {},
      principal: OPERATOR,
      requestId: "",
      basePath: "",
      readYourWrites: true,
      note() {},
    };
    const found = await operation.find?.(common);
    const given = { body: validate.body?.(body), found, release() {} };
    const result = await operation.handle({ ...common, ...given });
    if (!(result instanceof Response)) return result;
    return result.status === 204 ? undefined : await result.json();
  }

  /** The rows of all pages of a list. */
  async list<Row>(id: string, params: Call["params"] & object): Promise<Row[]> {
    const rows: Row[] = [];
    let query: Record<string, string> = { limit: "100" };
    for (;;) {
      const page = (await this.call(id, { params, query })) as {
        readonly data: Row[];
        readonly page_info: { readonly next: string | null };
      };
      rows.push(...page.data);
      const { next } = page.page_info;
      if (next === null) return rows;
      query = Object.fromEntries(new URL(next, ORIGIN).searchParams);
    }
  }
}

/** A project of the database, and the operations on it. */
export interface OpenProject extends Project {
  readonly sql: Sql;
  /** Throws a CommandError for a problem that `words` name, and other problems. */
  call(operation: string, call?: Call, words?: Words): Promise<unknown>;
  list<Row>(operation: string): Promise<Row[]>;
}

/** Runs `work` on the project that a reference names, as `withDatabase` does. */
export async function withProject<T>(
  io: Io,
  reference: string,
  work: (project: OpenProject) => Promise<T>,
  { writes = false }: { readonly writes?: boolean } = {},
): Promise<T> {
  const open = async (sql: Sql) => {
    const project = await findProject(sql, reference);
    const params = { project_reference: project.id };
    const operations = await Operations.open(sql);
    return await work({
      ...project,
      sql,
      call: (operation, call = {}, words = {}) =>
        inWords(
          operations.call(operation, { ...call, params: { ...params, ...call.params } }),
          words,
        ),
      list: (operation) => operations.list(operation, params),
    });
  };
  return await withDatabase(io, open, { writes });
}

/** The same for a command that changes the project. */
export function changeProject<T>(
  io: Io,
  reference: string,
  work: (project: OpenProject) => Promise<T>,
): Promise<T> {
  return withProject(io, reference, work, { writes: true });
}

/** Replaces the messages of problems. */
export async function inWords<T>(call: Promise<T>, words: Words): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const message = error instanceof Problem ? words[error.slug] : undefined;
    throw message === undefined ? error : new CommandError(message);
  }
}

interface ProjectList<Row> {
  readonly operation: string;
  readonly columns: readonly Column<Row>[];
  readonly empty: string;
  /** True to reverse the order of the operation. */
  readonly reversed?: boolean;
}

/** A command that prints all rows of a list of a project. */
export function listCommand<Row extends object>(
  io: Io,
  name: string,
  { operation, columns, empty, reversed = false }: ProjectList<Row>,
): Command {
  return newCommand(name, "project", "json").action(async ({ project, json }: Flags) => {
    const rows = await withProject(io, project, ({ list }) => list<Row>(operation));
    printList(io, reversed ? rows.toReversed() : rows, columns, { json, empty });
  });
}
