import type { AuditLog } from "../auth/audit/audit-log.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import type { Validator } from "../domain/problem/validate.ts";
import type { AskedQuestion } from "../ops/observability/question-counts.ts";
import type { Release } from "../ops/tenants/fair-semaphore.ts";
import type { BodyReader } from "./load/body.ts";
import type { Gates } from "./load/gates.ts";
import type { RateLimits } from "./load/rate-limit.ts";
import type { Changes } from "./min-change.ts";
import type { Operation } from "./operation.ts";
import type { RejectionThrottle } from "./rejection-throttle.ts";
import type { RecordContext, RequestDetail } from "./request-record.ts";

/** The services that requests to all operations share. */
export interface HttpContext extends RecordContext {
  /** {base_url}, without a trailing slash. */
  readonly baseUrl: string;
  readonly maxBodyBytes: number;
  readonly gates: Gates;
  /** Reads the bodies of all requests but imports. */
  readonly bodies: BodyReader;
  readonly refusals: RejectionThrottle;
  /** Absent without a limit. */
  readonly rateLimits: RateLimits | undefined;
  readonly authenticator: Authenticator;
  /** Clears every cache of access rights, after a change by this process. */
  forgetAccess(): void;
  readonly audit: AuditLog;
  readonly changes: Changes;
}

export interface Validators {
  readonly params: Validator<never> | undefined;
  readonly query: Validator<never> | undefined;
  readonly body: Validator<never> | undefined;
  readonly isWrite: boolean;
}

/** The argument of an operation's functions, before its target is found and its body is read. */
export type Common = Parameters<NonNullable<Operation["find"]>>[0];

/** A request to an operation. */
export interface Incoming {
  readonly operation: Operation;
  readonly validators: Validators;
  readonly context: HttpContext;
  readonly request: Request;
  readonly requestId: string;
  readonly basePath: string;
  readonly pathParams: Record<string, string>;
  /** The caller, once authenticated. */
  principal?: Principal;
  detail?: () => RequestDetail;
  asked?: AskedQuestion | undefined;
  /** The tenant whose place on the database it holds. */
  holder?: string;
  /** Releases the permits that the operation has acquired for the request. The handler may call it first. */
  release: Release;
  hasFailed?: boolean;
  refused?: boolean;
}
