/** The result of a check. `remedy` mends a warning or a failure. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failed";
  readonly found: string;
  readonly remedy?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, state: "ok", found });
export const warning = (check: string, found: string, remedy: string): Finding => ({
  ...{ check, state: "warning", found, remedy },
});
export const failed = (check: string, found: string, remedy: string): Finding => ({
  ...{ check, state: "failed", found, remedy },
});
