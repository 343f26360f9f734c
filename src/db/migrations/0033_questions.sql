-- What projects are asked in words, by day in UTC.
CREATE TABLE question_days (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  day date NOT NULL,
  asked bigint NOT NULL,
  without_hits bigint NOT NULL,
  -- How many answers took how long. The service knows the bounds.
  durations bigint[] NOT NULL,
  PRIMARY KEY (project_id, day)
);
CREATE INDEX question_days_day ON question_days (day);

-- The most frequent questions of a day.
CREATE TABLE questions (
  project_id uuid NOT NULL,
  day date NOT NULL,
  question text NOT NULL,
  asked bigint NOT NULL,
  without_hits bigint NOT NULL,
  PRIMARY KEY (project_id, day, question),
  FOREIGN KEY (project_id, day) REFERENCES question_days ON DELETE CASCADE
);
