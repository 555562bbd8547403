-- kobo: serves 45
-- +goose Up

-- Each company's part of a queue, in order of time. A worker takes the companies in turns while one of them has a long queue.
CREATE INDEX IF NOT EXISTS job_turn ON job ((kind || '/' || provider), company_id, run_at);

-- +goose Down
DROP INDEX job_turn;
