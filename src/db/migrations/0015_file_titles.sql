-- The title of a file version, which lists show: it is read from the content when the version is stored.
-- Null for versions that were stored before; their content tells it.
ALTER TABLE file_versions ADD COLUMN title text;
