/**
 * Does work that ends with its signal: after some milliseconds, or with the signal of the caller. `AbortSignal.any` keeps
 * no signal of a timeout from being collected before its time.
 */
export async function within<T>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
  caller?: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const end = () => over.abort();
  const timer = setTimeout(end, milliseconds);
  caller?.addEventListener("abort", end);
  if (caller?.aborted) end();
  try {
    return await work(over.signal);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener("abort", end);
  }
}
