-- True when the report describes an index at rest: the project is loaded, nothing is being added, and
-- its graphs are built and calibrated. A reader compares seq with the change log in addition.
ALTER TABLE index_state ADD COLUMN settled boolean NOT NULL DEFAULT false;
