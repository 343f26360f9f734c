/**
 * The reader of PDFs replaces the global `navigator` unless that has a language, and with it the number of cores
 * that `node:os` takes from there. So it gets one, before the reader is loaded.
 */
Object.defineProperty(navigator, "language", { value: "en-US", configurable: true });
