/** An entry was appended to the change log; no payload. */
export const CHANGES_CHANNEL = "tessera_changes";

/** File versions were stored that no scope may hold yet. Payload: a project, then the versions. */
export const NEW_VERSIONS_CHANNEL = "tessera_new_versions";

/** Asks servers to report the positions of their indexes. Payload: the time of the request in seconds since 1970. */
export const INDEX_REPORTS_CHANNEL = "tessera_index_reports";

/** Files wait for their embeddings; no payload. */
export const EMBEDDINGS_CHANNEL = "tessera_embeddings";

/** Rights of access have changed. Payload: `key:`, `user:` or `project:`, then the prefix or id. */
export const ACCESS_CHANNEL = "tessera_access";
