-- A hash of the embeddings with which an import into one project has stored the version; null where the service or
-- the operator has computed them. Nobody can tell that they are those of the text, so such a version is not taken
-- for one with other embeddings.
ALTER TABLE file_versions ADD COLUMN given_embeddings text;
