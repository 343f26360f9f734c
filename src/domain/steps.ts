/** Cooperative work, which yields after every short step. The event loop can then run other work. */
export type Steps<T> = Generator<void, T>;
