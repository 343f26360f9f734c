/** Preloaded for tests under AddressSanitizer: selects the instrumented addon in every thread. */
Reflect.set(globalThis, Symbol.for("tessera.native.asan"), true);

const PlainWorker = globalThis.Worker;
globalThis.Worker = class extends PlainWorker {
  constructor(url: string | URL, options?: WorkerOptions) {
    super(url, { ...options, preload: [import.meta.path] });
  }
};
