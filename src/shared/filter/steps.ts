/** Work that yields after every short step, so that others can have their turn. */
export type Steps<T> = Generator<void, T>;
