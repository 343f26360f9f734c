import pTimeout from "p-timeout";
import type { Sql } from "../db/client.ts";
import { BILLING_DEADLINE_MS } from "../domain/limits.ts";
import { Problem } from "../domain/problem/problem.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { Config } from "../ops/config/schema.ts";
import { lazy } from "../ops/lazy.ts";
import type { Log } from "../ops/observability/log.ts";
import { decimalAmount, formattedAmount } from "../platform/billing/amounts.ts";
import { checkoutOf } from "../platform/billing/checkout-parameters.ts";
import { CheckoutSessions } from "../platform/billing/checkout-sessions.ts";
import { requireTrustedOrigin } from "../platform/billing/origins.ts";
import { ProviderError } from "../platform/billing/provider-error.ts";
import {
  type Upgrade,
  UpgradeBody,
  UpgradeHeaders,
  UpgradeResult,
} from "../platform/billing/schema.ts";
import type { Session } from "../platform/billing/session.ts";
import { BillingStore } from "../platform/billing/store.ts";

const NOTHING_DUE = { amount_decimal: null, currency: null, amount: null } as const;
const DONE: UpgradeResult = { status: "ok", checkout_url: null, ...NOTHING_DUE, error: null };

function pending({ url, due }: Session): UpgradeResult {
  const amounts = due && {
    amount_decimal: decimalAmount(due.minor, due.currency),
    currency: due.currency,
    amount: formattedAmount(due.minor, due.currency),
  };
  return { status: "pending", checkout_url: url, ...NOTHING_DUE, ...amounts, error: null };
}

function refused(error: string): UpgradeResult {
  return { status: "error", checkout_url: null, ...NOTHING_DUE, error };
}

function timedOut(): never {
  const detail = "The payment provider did not answer in time.";
  throw new Problem("billing-provider-error", { detail });
}

interface Billing {
  /**
   * Starts an upgrade of an account. A refusal by the provider is a result with status `error`.
   * Throws `billing-not-configured`, and `billing-provider-error` when the provider gives no usable
   * answer in time.
   */
  upgrade(accountId: string, upgrade: Upgrade): Promise<UpgradeResult>;
}

export function createBilling(config: Config["billing"], sql: Sql, log: Log): Billing {
  const { secretKey, apiBase, prices } = config;
  const open = async (secretKey: string): Promise<CheckoutSessions> => {
    // Loaded with the first upgrade, because the provider's SDK takes long to load.
    const { createProvider } = await import("../platform/billing/provider.ts");
    return new CheckoutSessions(createProvider({ secretKey, apiBase }), new BillingStore(sql));
  };
  const sessions = secretKey === undefined ? undefined : lazy(() => open(secretKey));
  /** The details of problems of the configuration that the log has. */
  const logged = new Set<string>();
  const configured = (accountId: string, upgrade: Upgrade) => {
    try {
      if (sessions === undefined) throw new Problem("billing-not-configured");
      return { sessions, checkout: checkoutOf(accountId, upgrade, prices) };
    } catch (error) {
      const { message } = error as Problem;
      if (!logged.has(message)) log.warn(`an upgrade is refused: ${message}`);
      logged.add(message);
      throw error;
    }
  };

  return {
    async upgrade(accountId, upgrade) {
      if (upgrade.type === "free") return DONE;
      const { sessions, checkout } = configured(accountId, upgrade);
      const deadline = performance.now() + BILLING_DEADLINE_MS;
      // After a timeout the work continues: the next request uses its outcome.
      const session = (await sessions()).findOrOpen(accountId, checkout, deadline);
      try {
        const options = { milliseconds: BILLING_DEADLINE_MS, fallback: timedOut };
        return pending(await pTimeout(session, options));
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        const { refusal, code, status } = error;
        if (refusal === null) throw new Problem("billing-provider-error", { cause: error });
        log.warn({ code, status }, error.message);
        return refused(refusal);
      }
    },
  };
}

interface BillingServices {
  readonly config: Config;
  readonly sql: Sql;
  readonly log: Log;
}

/** POST /account/subscription/upgrade. The account is the calling user. */
export function billingOperations({ config, sql, log }: BillingServices): Operation[] {
  const billing = createBilling(config.billing, sql, log);
  return [
    operation({
      id: "upgradeSubscription",
      method: "POST",
      path: "/account/subscription/upgrade",
      tag: "Billing",
      summary: "Start a subscription upgrade",
      description:
        "Opens a hosted checkout page at the payment provider. Repeating the same upgrade while its " +
        "page is open returns that page. If the provider refuses the upgrade, the result has the " +
        "status `error`. If it gives no usable answer, the request fails with " +
        "`billing-provider-error`.",
      permission: "account.billing.manage",
      headers: UpgradeHeaders,
      body: UpgradeBody,
      bodyExample: {
        type: "pro",
        cycle: "monthly",
        quantity: 5,
        server_quantity: 2,
        success_url: "https://app.example.com/billing/done",
        cancel_url: "https://app.example.com/billing",
      },
      response: UpgradeResult,
      responseExample: {
        status: "pending",
        checkout_url: "https://checkout.example.com/c/pay/cs_1234",
        amount_decimal: "145.00",
        currency: "usd",
        amount: "$145.00",
        error: null,
      },
      problems: ["untrusted-billing-origin", "billing-not-configured", "billing-provider-error"],
      async handle({ request, principal, body }) {
        const { success_url, cancel_url } = body;
        const header = request.headers.get("origin");
        requireTrustedOrigin(config.billing.origins, header, [success_url, cancel_url]);
        return await billing.upgrade(principal.userId, body);
      },
    }),
  ];
}
