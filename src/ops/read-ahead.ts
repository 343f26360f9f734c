import { setImmediate } from "node:timers/promises";

/** The same items. Each is requested while the consumer uses the previous one. */
export async function* readAhead<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      next = iterator.next();
      // The next step reports a rejection. Until then it must not count as unhandled.
      next.catch(() => {});
      // The driver sends requests in a later turn of the event loop.
      await setImmediate();
      yield value;
    }
  } finally {
    // A cursor of the database that is closed while it reads would keep its connection.
    await next.catch(() => {});
    await iterator.return?.();
  }
}
