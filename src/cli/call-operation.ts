import { projectOperations } from "../api/projects/routes.ts";
import { OPERATOR } from "../auth/principal.ts";
import type { Sql } from "../db/client.ts";
import { openCursorSigner } from "../http/cursor.ts";
import type { Operation } from "../http/operation.ts";
import { validatorsOf } from "../http/pipeline.ts";
import type { ProjectEmbedders } from "../import/embedders/project-embedders.ts";

/** The parameters of a call, and its body as a client sends it. */
interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Operations use only path and query of their URL. */
const ORIGIN = "http://localhost";

/** The operations on projects, which commands call in this process. */
export class Operations {
  private constructor(private readonly operations: readonly Operation[]) {}

  /** @param embedders which projects may have */
  static async open(sql: Sql, embedders: ProjectEmbedders = new Map()): Promise<Operations> {
    const cursors = await openCursorSigner(sql);
    return new Operations(projectOperations({ sql, cursors, embedders }));
  }

  /** Calls an operation as the operator, with the checks of a request. Returns its answer. Throws problems. */
  async call(id: string, { params, query = {}, body }: Call): Promise<unknown> {
    const operation = this.operations.find((each) => each.id === id) as Operation;
    const validate = validatorsOf(operation);
    const common = {
      request: new Request(`${ORIGIN}${operation.path}?${new URLSearchParams(query)}`),
      params: validate.params?.(params),
      query: validate.query?.(query) ?? {},
      ...{ principal: OPERATOR, requestId: "", basePath: "", readYourWrites: true },
      note() {},
    };
    const found = await operation.find?.(common);
    const given = { body: validate.body?.(body), found, release() {} };
    const result = await operation.handle({ ...common, ...given });
    return result instanceof Response ? await result.json() : result;
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
