import type { Config } from "../config/schema.ts";
import type { Sql } from "../db/client.ts";
import type { Log } from "../observability/log.ts";
import { Problem } from "../problem/problem.ts";
import { BILLING_DEADLINE_MS } from "../shared/limits.ts";
import { decimalAmount, formattedAmount } from "./amounts.ts";
import { checkoutOf } from "./checkout.ts";
import { Checkouts } from "./checkouts.ts";
import { createProvider, ProviderFailure } from "./provider.ts";
import type { Upgrade, UpgradeResult } from "./schema.ts";
import type { Session } from "./session.ts";
import { createBillingStore } from "./store.ts";

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

/** Rejects when the time is up. The work goes on: what it ends in serves the next request. */
async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise: timeUp, reject } = Promise.withResolvers<never>();
  const detail = "The payment provider did not answer in time.";
  const timer = setTimeout(() => reject(new Problem("billing-provider-error", { detail })), ms);
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

export interface Billing {
  /**
   * Starts an upgrade for an account. A refusal of the provider is a result; throws
   * `billing-not-configured`, and `billing-provider-error` when no usable answer came in time.
   */
  upgrade(accountId: string, upgrade: Upgrade): Promise<UpgradeResult>;
}

export function createBilling(config: Config["billing"], sql: Sql, log: Log): Billing {
  const { secretKey, apiBase, prices } = config;
  const checkouts =
    secretKey === undefined
      ? null
      : new Checkouts(createProvider({ secretKey, apiBase }), createBillingStore(sql));

  return {
    async upgrade(accountId, upgrade) {
      if (upgrade.type === "free") return DONE;
      if (checkouts === null) throw new Problem("billing-not-configured");
      const checkout = checkoutOf(accountId, upgrade, prices);
      const deadline = performance.now() + BILLING_DEADLINE_MS;
      const work = checkouts.session(accountId, checkout, deadline);
      try {
        return pending(await within(work, BILLING_DEADLINE_MS));
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error;
        const { refusal, code, status } = error;
        if (refusal === null) throw new Problem("billing-provider-error", { cause: error });
        log.warn({ code, status }, error.message);
        return refused(refusal);
      }
    },
  };
}
