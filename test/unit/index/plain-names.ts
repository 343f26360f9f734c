/** Projects have their ids as names in the native registry, for tests and benchmarks of one index. */
export const PLAIN_NAMES = { of: (projectId: string) => projectId, drop() {} };
