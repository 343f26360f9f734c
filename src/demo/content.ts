/** The key and the file that a new user needs for a first request to the demo project. */
export interface Demo {
  /** An API key of the owner of the demo project. */
  readonly key: string;
  readonly expiresAt: Date;
  /** Path of a file with the body of a search. */
  readonly queryFile: string;
}

export const PROJECT = "demo";
export const RELEASE = "v1.0.0";
export const QUERY = "index snapshots";
