-- kobo: serves 45
-- +goose Up

-- The jobs whose last run has failed, for operators.
CREATE INDEX job_failing ON job (id) WHERE last_error <> '';

-- +goose Down
DROP INDEX job_failing;
