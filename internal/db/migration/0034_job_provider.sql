-- kobo: serves 32
-- +goose Up

-- The provider that a job's work asks, '' if it asks none: a worker keeps one slow
-- provider from taking all its hands.
ALTER TABLE job ADD COLUMN provider TEXT NOT NULL DEFAULT '';

UPDATE job SET provider = (
    SELECT o.provider FROM operation AS o WHERE o.company_id = job.company_id AND o.id = job.subject
) WHERE kind = 'operation.resolve' AND EXISTS (
    SELECT 1 FROM operation AS o WHERE o.company_id = job.company_id AND o.id = job.subject
);

-- Each provider's queue for each kind, in order of time. Looking at the head of one
-- costs the same however long another is.
CREATE INDEX job_lane ON job ((kind || '/' || provider), run_at);

-- +goose Down
DROP INDEX job_lane;
ALTER TABLE job DROP COLUMN provider;
