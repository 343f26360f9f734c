-- The text index of a project has a row of its own, with dimension 0 and its number of documents.
-- Imports pause while versions that they announced have been waiting to be indexed for too long.
ALTER TABLE index_state
  ADD COLUMN documents bigint NOT NULL DEFAULT 0,
  ADD COLUMN waiting_ms bigint NOT NULL DEFAULT 0;
