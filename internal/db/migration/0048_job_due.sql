-- kobo: serves 32
-- +goose Up

-- Workers read the jobs of each queue by job_lane. Each intent and each outcome would write this
-- index for nothing.
DROP INDEX job_due;

-- +goose Down
CREATE INDEX job_due ON job (run_at);
