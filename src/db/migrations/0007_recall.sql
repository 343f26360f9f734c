-- The recall that each running server measured in live searches; null before the first sample.
ALTER TABLE index_state
  ADD COLUMN recall real CHECK (recall BETWEEN 0 AND 1),
  ADD COLUMN recall_samples integer CHECK (recall_samples > 0);
